#!/bin/sh
# A forest trained on simulated runs only, judged on measured ones beside the simulator that taught it.
# usage: run.sh [path to noteg] [folder for the data] [measured rows]
set -eu
noteg=${1:-build/release/bin/noteg}
here=$(cd "$(dirname "$0")" && pwd)
folder=${2:-$(mktemp -d)}
mkdir -p "$folder"
echo "data and models go to $folder" >&2
measured=${3:-}
[ -n "$measured" ] || {
  measured=$folder/measured.csv
  awk -F, 'NR == 1 || $1 == "neusight"' "$here/../../tests/data/measured_subset.csv" > "$measured"
}
for sweep in linear batched; do
  "$noteg" generate --sweep "$here/$sweep.yaml" --out "$folder/$sweep.db" --quiet
done
"$noteg" train --data "$folder/linear.db" --data "$folder/batched.db" --out "$folder/model.json" --report "$folder/report.html" \
  --validate shape --test "$measured" --quiet
