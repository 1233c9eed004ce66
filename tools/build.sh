#!/usr/bin/env bash
# Configures a preset and builds it, or only some targets:
#   tools/build.sh PRESET [-DNAME=VALUE…] [TARGET…]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:?usage: tools/build.sh PRESET [-DNAME=VALUE…] [TARGET…]}
shift
definitions=()
targets=()
for argument in "$@"; do
  case $argument in
    -D*) definitions+=("$argument") ;;
    *) targets+=("$argument") ;;
  esac
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" "${definitions[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
if [[ ${#targets[@]} -gt 0 ]]; then
  cmake --build --preset "$preset" --target "${targets[@]}"
else
  cmake --build --preset "$preset"
fi
