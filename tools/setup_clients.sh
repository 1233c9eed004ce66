#!/usr/bin/env bash
# Installs what tests meet and Debian does not have, at the versions of tools/clients: S3 clients
# and packages that train, from PyPI into build/clients/python; other S3 clients, from npm, into
# build/clients/node_modules.
# Says nothing and takes a few milliseconds when they are there. LEAT_CLIENTS names another folder
# than build/clients, which several work trees can share.
set -euo pipefail
cd "$(dirname "$0")/.."
into=${LEAT_CLIENTS:-build/clients}
mkdir -p "$into"

# Each list is copied beside what it gave, last: the copy differs from the list until all is there.
wanted=tools/clients/requirements.txt
if ! cmp --silent "$wanted" "$into/python/installed.txt"; then
  echo "setup: installing S3 clients from PyPI into $into/python"
  rm -rf "$into/python"
  /usr/bin/python3 -m venv "$into/python"
  "$into/python/bin/pip" --quiet --disable-pip-version-check install --no-compile -r "$wanted"
  cp "$wanted" "$into/python/installed.txt"
fi

wanted=tools/clients/training.txt
if ! cmp --silent "$wanted" "$into/python/installed-training.txt"; then
  echo "setup: installing packages of the Python tests from PyPI into $into/python"
  "$into/python/bin/pip" --quiet --disable-pip-version-check install --no-compile \
    -c tools/clients/requirements.txt -r "$wanted"
  cp "$wanted" "$into/python/installed-training.txt"
fi

wanted=tools/clients/package-lock.json
if ! cmp --silent "$wanted" "$into/node_modules/installed.json"; then
  echo "setup: installing S3 clients from npm into $into/node_modules"
  cp tools/clients/package.json "$wanted" "$into"
  npm ci --prefix "$into" --silent --ignore-scripts --no-audit --no-fund --no-update-notifier
  cp "$wanted" "$into/node_modules/installed.json"
fi
