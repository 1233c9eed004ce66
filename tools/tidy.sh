#!/usr/bin/env bash
# clang-tidy on changed C++ files, or with --all on all of them.
#
# Changed means: not committed, or different from the point where this branch left main (on main
# itself: from the last commit but one). A changed header is seen through the source or test of the
# same name. A file that was clean is not looked at again until it, a header or .clang-tidy changes.
# --all also prints what only advises.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/dev

changed_files() {
  local base=""
  for branch in origin/main main; do
    base=$(git merge-base HEAD "$branch" 2>/dev/null) && break
  done
  if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then
    base=$(git rev-parse --verify --quiet HEAD~1) || base=HEAD
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h'
  git ls-files --others --exclude-standard -- '*.cc' '*.h'
}

sources() {
  while read -r file; do
    case $file in
      *.cc) echo "$file" ;;
      *.h) for sibling in "${file%.h}.cc" "${file%.h}_test.cc"; do
        if [[ -e $sibling ]]; then echo "$sibling" && break; fi
      done ;;
    esac
  done | sort -u
}

# Only what the dev build compiles can be judged; fuzzers are built by their own preset.
compiled() {
  while read -r file; do
    if grep -qF "/$file\"" "$build/compile_commands.json"; then echo "$file"; fi
  done
}

tidy_one() {
  local file=$1 stamp
  stamp=$build/tidy/$(cat "$file" "$build/tidy/context" | sha256sum | cut -c1-32)
  if [[ -e $stamp && -z ${advice:-} ]]; then return 0; fi
  if clang-tidy-19 -p "$build" --quiet "$file" >"$stamp.log" 2>/dev/null; then
    if [[ -n ${advice:-} ]]; then cat "$stamp.log"; fi
    mv "$stamp.log" "$stamp"
  else
    cat "$stamp.log" >&2
    rm -f "$stamp.log"
    echo "tidy: $file" >&2
    return 1
  fi
}

if [[ ${1:-} == --one ]]; then
  tidy_one "$2"
  exit
fi
[[ -e $build/compile_commands.json ]] || cmake --preset dev >/dev/null
if [[ ${1:-} == --all ]]; then
  export advice=yes
  mapfile -t files < <(git ls-files -- '*.cc' | compiled)
else
  mapfile -t files < <(changed_files | sources | compiled)
fi
if [[ ${#files[@]} -eq 0 ]]; then
  echo "tidy: no changed C++ files"
  exit 0
fi
mkdir -p "$build/tidy"
git ls-files -z --cached --others --exclude-standard -- '*.h' .clang-tidy |
  xargs -0 sha256sum | sha256sum >"$build/tidy/context"
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$0" --one
echo "tidy: ${#files[@]} file(s) clean"
