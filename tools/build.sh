#!/usr/bin/env bash
# Configures a preset and builds it, or only the named targets: tools/build.sh PRESET [TARGET…]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:?usage: tools/build.sh PRESET [TARGET…]}
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
if [[ $# -gt 0 ]]; then
  cmake --build --preset "$preset" --target "$@"
else
  cmake --build --preset "$preset"
fi
