#!/usr/bin/env bash
# Runs each fuzzer for a time, two at once: tools/fuzz.sh [SECONDS] [NAME…]
#
# A fuzzer NAME starts from tests/fuzz/corpus/NAME, which it never changes; what it finds new stays
# in build/fuzz/found/NAME. A crash is kept in build/fuzz/crashes and fails the run.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true

fuzz_one() {
  local program=$1 name
  name=$(basename "$program" _fuzz)
  local corpus=tests/fuzz/corpus/$name found=build/fuzz/found/$name log=build/fuzz/$name.log
  mkdir -p "$found" build/fuzz/crashes
  local folders=("$found")
  [[ ! -d $corpus ]] || folders+=("$corpus")
  if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/crashes/$name-" "${folders[@]}" >"$log" 2>&1; then
    printf 'fuzz: %-24s ok, %s runs\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  else
    tail -n 60 "$log" >&2
    echo "fuzz: $name FAILED; input in build/fuzz/crashes, log in $log" >&2
    return 1
  fi
}

if [[ ${1:-} == --program ]]; then
  fuzz_one "$2"
  exit
fi
if [[ ! -d tests/fuzz ]]; then
  echo "fuzz: there is no tests/fuzz"
  exit 0
fi
tools/build.sh fuzz
programs=()
while IFS= read -r program; do
  name=$(basename "$program" _fuzz)
  if [[ $# -eq 0 || " $* " == *" $name "* ]]; then programs+=("$program"); fi
done < <(find build/fuzz -type f -name '*_fuzz' -perm -u+x | sort)
if [[ ${#programs[@]} -eq 0 ]]; then
  echo "fuzz: no such fuzzer in tests/fuzz: ${*:-none built}" >&2
  exit 1
fi
printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P 2 "$0" "$seconds" --program
