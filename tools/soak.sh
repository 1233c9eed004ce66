#!/usr/bin/env bash
# The long run: the soak tests for LEAT_SOAK_SECONDS each (default ten minutes) against the program
# built with the address and the thread sanitizer, then every fault of tests/fault.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! -d tests/soak ]]; then
  echo "soak: there is no tests/soak" >&2
  exit 1
fi
tools/build.sh asan leat
tools/build.sh tsan leat
LEAT_SOAK_SECONDS=${LEAT_SOAK_SECONDS:-600} LEAT_SOAK_REQUIRE=1 \
  /usr/bin/python3 -m pytest -p no:cacheprovider tests/soak
if [[ -d tests/fault ]]; then
  tools/build.sh dev leat
  LEAT_FAULT_FULL=1 /usr/bin/python3 -m pytest -p no:cacheprovider tests/fault
fi
