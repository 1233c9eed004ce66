#!/usr/bin/env bash
# The long run: the soak tests for LEAT_SOAK_SECONDS each (default ten minutes) against the program
# built with the address and the thread sanitizer, then every fault of tests/fault, then an object
# of 5 GiB through every S3 client, then LEAT_MODEL_SEQUENCES (default 200 000) sequences of the
# model test from a seed of today.
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
tools/build.sh dev leat
LEAT_S3_FULL=1 /usr/bin/python3 -m pytest -p no:cacheprovider \
  tests/integration/test_s3_clients.py -k test_sizes
tools/build.sh dev leat_model_test
seed=${LEAT_MODEL_SEED:-$(date +%Y%m%d)000000}
echo "soak: model test from seed $seed"
LEAT_MODEL_SEQUENCES=${LEAT_MODEL_SEQUENCES:-200000} LEAT_MODEL_SEED=$seed \
  build/dev/tests/engine/leat_model_test
