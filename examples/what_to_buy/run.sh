#!/bin/sh
# Every board for one model with at most 300 W: prefill and decode of Llama 3 8B. $1: the program noteg.
set -eu
noteg=${1:-noteg}
cap=300

# Boards that may draw more are capped.
archs=
for gpu in $("$noteg" arch list --format csv | cut -d, -f1 | sed 1d); do
  [ "$gpu" = tiny ] && continue
  above=$("$noteg" arch show "$gpu" --format csv | awk -F, -v cap=$cap '$1 == "power.limit" { print ($2 > cap) }')
  if [ "$above" = 1 ]; then gpu=$gpu:power.limit=${cap}W; fi
  archs="$archs --arch $gpu"
done

costs() {
  # shellcheck disable=SC2086
  "$noteg" workload $archs --format json --quiet llama-3-8b "$@"
}

table() {
  python3 -c '
import json, sys
cases = sorted(json.load(sys.stdin)["cases"], key=lambda c: c["time_us"])
for c in cases:
    fits = "" if c["fits_memory"] else "  does not fit"
    print("  %-20s %9.0f tokens/s %8.4f J/token %5.0f W%s"
          % (c["arch"], c["tokens_per_s"], c["j_per_token"], c["power_w"], fits))'
}

echo "== decode, 16 sequences of 1024 tokens"
costs --phase decode --tokens 16 --context 1024 | table
echo "== prefill, 1024 tokens"
costs --tokens 1024 | table
