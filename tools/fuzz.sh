#!/usr/bin/env bash
# Runs each fuzzer for a time, two at once: tools/fuzz.sh [SECONDS] [NAME…]
#
# tests/fuzz/NAME_fuzz.cc is the target NAME_fuzz and the test fuzz.NAME, which starts from
# tests/fuzz/corpus/NAME. What a search finds new, and an input that crashes, stay in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true

names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
  for source in tests/fuzz/*_fuzz.cc; do
    if [[ -e $source ]]; then names+=("$(basename "$source" _fuzz.cc)"); fi
  done
fi
if [[ ${#names[@]} -eq 0 ]]; then
  echo "fuzz: there is no tests/fuzz/*_fuzz.cc" >&2
  exit 1
fi
tools/build.sh fuzz "-DLEAT_FUZZ_SECONDS=$seconds" "${names[@]/%/_fuzz}"
pattern=$(IFS='|' && echo "${names[*]}")
ctest --test-dir build/fuzz --tests-regex "^fuzz\.($pattern)\$" --parallel 2 --output-on-failure \
  --no-tests=error
