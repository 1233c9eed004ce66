#!/usr/bin/env bash
# What every commit must pass, in under two minutes: layout, the four checks, shell scripts,
# clang-tidy on changed files, unit tests.
set -euo pipefail
cd "$(dirname "$0")/.."

phase() { printf '\n== check: %s\n' "$*"; }

phase "clang-format"
tools/format.sh --check
phase "shellcheck"
git ls-files -z --cached --others --exclude-standard -- '*.sh' .ci/run |
  xargs -0 --no-run-if-empty shellcheck
phase "build (dev)"
tools/build.sh dev
phase "clang-tidy on changed files"
tools/tidy.sh
phase "layers, style, coroutines, seams, and the tests of these checks"
tools/check_layers.py --record build/dev/module_deps.txt
tools/check_style.py
tools/check_coro.py
tools/check_seams.py
/usr/bin/python3 -m pytest -q -p no:cacheprovider tools/tests
phase "unit tests (dev)"
ctest --preset dev --label-regex unit --parallel "$(nproc)"
