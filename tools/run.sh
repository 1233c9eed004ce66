#!/usr/bin/env bash
# The main job, from nothing: builds the release, serves build/run-data, makes a small image set,
# ingests it and streams an epoch of it. On a terminal the store then stays until ^C; without one
# this ends by itself: tools/run.sh [OPTION of leat serve…]
#   RUN_PRESET   another build, for instance dev
#   RUN_FOLDER   where the store and the images are, instead of build/
#   RUN_IMAGES   how many images
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${RUN_PRESET:-release}
data=${RUN_FOLDER:-build}/run-data
images=${RUN_FOLDER:-build}/run-images
dataset=demo/shapes
count=${RUN_IMAGES:-5000}

step() { printf '\n== %s\n' "$*"; }

tools/build.sh "$preset" leat leat_shared
program=$(find "build/$preset/src/programs" -type f -name leat -perm -u+x -print -quit)
library=$PWD/$(find "build/$preset/src" -name libleat.so -print -quit)

# Debian's Python, with the package as it stands in the tree. The program itself takes variables
# that begin with LEAT_ for settings, so it is not shown this one.
package() {
  LEAT_LIBRARY=$library PYTHONPATH=python:examples /usr/bin/python3 tools/first_epoch.py "$@"
}

step "a store in $data"
mkdir -p "$data"
said=$data/../run-store.txt
: >"$said" # now, and not when the server comes to it: what the last one said is not for us
"$program" serve "$data" "$@" >"$said" &
server=$!
stop() {
  kill "$server" 2>/dev/null || return 0
  wait "$server" || true
}
trap stop EXIT
until grep -q '://' "$said"; do
  kill -0 "$server" 2>/dev/null || { cat "$said"; wait "$server"; exit 1; }
  sleep 0.05
done
cat "$said"
environment=$("$program" env "$data")
eval "$environment"

step "$count images of ten classes in $images"
package images "$images" "$count"

step "leat put $images $dataset"
"$program" ls demo >/dev/null 2>&1 || "$program" mb demo
"$program" put "$images" "$dataset"

step "an epoch: leat.DataLoader(\"$dataset\", batch_size=256, decode={\"png\": leat.Image(32)})"
package epoch "$dataset"

cat <<END

== what next, in another shell
  cd $PWD
  eval "\$($program env $data)"
  $program dataset info $dataset                 # versions, shards, fields
  $program ls demo/                              # the same store speaks S3: aws, boto3, rclone
  pip install ./python torch && python examples/train.py   # train a CNN from it
  docs/guide/training.md                         # folder, store, epoch, resume
END
if [[ -t 1 ]]; then
  printf '\nThe store stays until ^C.\n'
  trap 'exit 0' INT TERM
  wait "$server"
fi
