#!/usr/bin/env bash
# Builds the release program and serves build/run-data with it, in the foreground, until a signal
# ends it: tools/run.sh [OPTION of leat serve…]
set -euo pipefail
cd "$(dirname "$0")/.."

tools/build.sh release leat
program=$(find build/release/src/programs -type f -name leat -perm -u+x -print -quit)
mkdir -p build/run-data
exec "$program" serve build/run-data "$@"
