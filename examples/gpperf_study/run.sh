#!/bin/sh
# The reference study's grid simulated, a forest trained on it and judged on a fifth of the rows, held out in three ways.
# usage: run.sh [path to noteg] [folder for the data]
set -eu
noteg=${1:-build/release/bin/noteg}
here=$(cd "$(dirname "$0")" && pwd)
folder=${2:-$(mktemp -d)}
mkdir -p "$folder"
echo "data and models go to $folder" >&2

[ -f "$folder/all.csv" ] || {
  "$noteg" generate --sweep "$here/sweep.yaml" --out "$folder/gpperf.db" --quiet
  "$noteg" dataset export "$folder/gpperf.db" --out "$folder/all.csv"
}

# Rows that share the columns named go to one side, together.
split() { # NAME COLUMNS
  awk -F, -v keys="$2" -v train="$folder/$1_train.csv" -v test="$folder/$1_test.csv" '
    BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(keys, key, " "); print > train; print > test; next }
    { text = ""
      for (i = 1; i <= n; i++) text = text "/" $at[key[i]]
      hash = 7
      for (i = 1; i <= length(text); i++) hash = (hash * 131 + code[substr(text, i, 1)]) % 1000003
      hash = (hash * 7919) % 1000003
      print > (hash % 5 == 0 ? test : train) }' "$folder/all.csv"
}

# A line for each target: name, R2, MAE, mean and median of the error in %.
judge() { # NAME
  for target in time_us:runtime_ms:0.001 power_w:power_w:1 energy_mj:energy_j:0.001 tflops:gflops:1000; do
    column=${target%%:*} rest=${target#*:}
    awk -F, -v column="$column" -v factor="${rest#*:}" '
      FNR == 1 { file++; for (i = 1; i <= NF; i++) if ($i == (file == 1 ? column : "predicted_" column)) at = i; next }
      file == 1 { truth[FNR] = $at * factor; next }
      { print truth[FNR], $at * factor }' "$folder/$1_test.csv" "$folder/$1_predicted.csv" |
      awk '{ e = $2 - $1; if (e < 0) e = -e; print 100 * e / $1, $1, e }' | sort -g |
      awk -v name="${rest%%:*}" '
        { ape[NR] = $1; sum += $1; y += $2; yy += $2 * $2; mae += $3; sse += $3 * $3 }
        END { var = yy - y * y / NR; r2 = var > 0 ? 1 - sse / var : 1
              print name, r2, mae / NR, sum / NR, ape[int((NR + 1) / 2)] }'
  done
}

study() { # NAME COLUMNS
  split "$1" "$2"
  "$noteg" train --data "$folder/$1_train.csv" --out "$folder/$1.json" --validate none --quiet > /dev/null
  "$noteg" predict --model "$folder/$1.json" --data "$folder/$1_test.csv" --no-intervals --quiet > "$folder/$1_predicted.csv"
  judge "$1" > "$folder/$1_metrics.txt"
}

study row row_id
study configuration "kernel.m kernel.n kernel.k kernel.layout kernel.reads_c"
study shape "kernel.m kernel.n kernel.k"

# The study: read off its figure, by row; its R2 and errors of power come from readings taken after the run.
published='runtime_ms 0.981 2.87 15.7 -
power_w 0.778 16.8 22.2 5.42
energy_j 0.857 1.37 42.9 -
gflops 0.864 1056 10.9 -'
echo "                        study   --------------- ours, held out by ---------------"
echo "target      metric     by row           row    configuration            shape"
echo "$published" | while read -r name r2 mae mean median; do
  line() { # METRIC FIELD PUBLISHED
    printf '%-11s %-9s %7s' "$name" "$1" "$3"
    for split in row configuration shape; do
      awk -v name="$name" -v field="$2" '$1 == name { printf " %15.4g", $field }' "$folder/${split}_metrics.txt"
    done
    echo
  }
  line R2 2 "$r2"
  line MAE 3 "$mae"
  line 'mean %' 4 "$mean"
  line 'median %' 5 "$median"
done
