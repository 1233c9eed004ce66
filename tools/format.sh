#!/usr/bin/env bash
# Formats the tracked C++ files, or with --check says which ones are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
[[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
git ls-files -z --cached --others --exclude-standard -- '*.cc' '*.h' |
  xargs -0 --no-run-if-empty -n 16 -P "$(nproc)" clang-format-19 "${mode[@]}"
