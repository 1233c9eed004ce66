#!/usr/bin/env bash
# Everything that must hold before a change is shared; .ci/run calls this through `make test`.
# A phase whose folder does not exist is left out; a phase that fails ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS

phase() {
  local now=$((SECONDS - started))
  printf '\n=== test [%d:%02d] %s\n' $((now / 60)) $((now % 60)) "$*"
}

# unit PRESET [MODULE…]: builds the unit tests of a preset, of all modules or some, and runs them.
unit() {
  local preset=$1 pattern='unit\.' targets=(unit_tests)
  shift
  if [[ $# -gt 0 ]]; then
    targets=("${@/#/leat_}")
    targets=("${targets[@]/%/_test}")
    pattern="unit\.($(IFS='|' && echo "$*"))\$"
  fi
  tools/build.sh "$preset" "${targets[@]}"
  ctest --preset "$preset" --tests-regex "$pattern" --parallel "$(nproc)"
}

phase "check: format, layers, style, coroutines, seams, clang-tidy, unit tests (clang 19)"
tools/check.sh
phase "unit tests, g++ 12 with the address sanitizer"
unit gcc
phase "unit tests of what threads share, clang 19 with the thread sanitizer"
unit tsan rt io log metrics
if [[ -d tests/fuzz ]]; then
  phase "fuzzers, ${LEAT_FUZZ_SECONDS:=60} s each"
  tools/fuzz.sh "$LEAT_FUZZ_SECONDS"
fi
if [[ -d tests/soak ]]; then
  phase "the program with sanitizers, for the soak tests"
  tools/build.sh asan leat
  tools/build.sh tsan leat
fi
phase "all ctests (dev)"
ctest --preset dev --parallel "$(nproc)"

suites=()
for folder in tests/integration tests/soak tests/fault; do
  [[ ! -d $folder ]] || suites+=("$folder")
done
if [[ ${#suites[@]} -gt 0 ]]; then
  phase "real processes: ${suites[*]}"
  # Built above, so a program with sanitizers that is not there is a failure.
  LEAT_SOAK_REQUIRE=1 /usr/bin/python3 -m pytest -p no:cacheprovider "${suites[@]}"
fi
