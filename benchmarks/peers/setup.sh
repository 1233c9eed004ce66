#!/usr/bin/env bash
# Installs the peers of the loader benchmarks into build/peers/python, at the versions of the lists
# beside this script. Says nothing and takes a few milliseconds when they are there.
set -euo pipefail
cd "$(dirname "$0")/../.."
into=build/peers/python

# The lists are copied beside what they gave, last: the copy differs from them until all is there.
wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
cat benchmarks/peers/requirements.txt benchmarks/peers/without_dependencies.txt >"$wanted"
if cmp --silent "$wanted" "$into/installed.txt"; then exit 0; fi
echo "setup: installing the peers of the loader benchmarks from PyPI into $into" >&2
rm -rf "$into"
/usr/bin/python3 -m venv "$into"
pip=("$into/bin/pip" --quiet --disable-pip-version-check install)
"${pip[@]}" -r benchmarks/peers/requirements.txt
"${pip[@]}" --no-deps -r benchmarks/peers/without_dependencies.txt
cp "$wanted" "$into/installed.txt"
