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
  # Most of it was built for the unit tests; `make soak` takes clang's sanitizers, TSan among them.
  phase "the program, g++ 12 with the address sanitizer, for the soak tests"
  tools/build.sh gcc leat
fi
phase "all other ctests (dev)"
ctest --preset dev --label-exclude unit --parallel "$(nproc)"

# The two suites of pytest wait more than they compute, so they run side by side.
python_tests=""
if [[ -d python ]]; then
  phase "the Python package beside torch, fsspec, webdataset and others, in the background"
  tools/build.sh dev leat leat_shared
  # Some tests look at what is left in the folder of temporary files: it is theirs alone.
  own=$(mktemp -d)
  trap 'rm -rf "$own"' EXIT
  TMPDIR=$own "${LEAT_CLIENTS:-build/clients}/python/bin/python" -m pytest -q \
    -p no:cacheprovider python/tests >build/python-tests.log 2>&1 &
  python_tests=$!
fi

suites=()
for folder in tests/integration tests/soak tests/fault; do
  [[ ! -d $folder ]] || suites+=("$folder")
done
failed=0
if [[ ${#suites[@]} -gt 0 ]]; then
  phase "real processes: ${suites[*]}"
  # Built above, so a program with sanitizers that is not there is a failure.
  export LEAT_SOAK_PRESETS=gcc LEAT_SOAK_REQUIRE=1
  /usr/bin/python3 -m pytest -p no:cacheprovider "${suites[@]}" || failed=$?
fi
if [[ -n $python_tests ]]; then
  wait "$python_tests" || failed=$?
  phase "what the tests of the Python package said"
  cat build/python-tests.log
fi
exit "$failed"
