#!/usr/bin/env bash
# variants.sh FOLDER: compiles variants of gemm.cu for sm_90 and writes their listings and launch files (2048 cubed).
set -euo pipefail
folder=${1:?usage: variants.sh FOLDER}
source=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/gemm.cu
mkdir -p "$folder"
n=2048
for tile in "64 64" "64 128" "128 64" "128 128" "32 128"; do
  read -r bm bn <<<"$tile"
  for bk in 4 8 16; do
    for each in "4 4" "8 4" "4 8" "8 8"; do
      read -r tm tn <<<"$each"
      threads=$((bm / tm * (bn / tn)))
      ((threads >= 64 && threads <= 1024)) || continue
      name=gemm_${bm}x${bn}x${bk}_${tm}x${tn}
      nvcc -O3 -arch=sm_90 -cubin -DBM="$bm" -DBN="$bn" -DBK="$bk" -DTM="$tm" -DTN="$tn" -o "$folder/$name.cubin" "$source"
      nvdisasm -hex -c "$folder/$name.cubin" >"$folder/$name.sass"
      cat >"$folder/$name.yaml" <<YAML
kernel: gemm
grid: [$((n / bn)), $((n / bm))]
block: [$threads]
args: [{i32: $n}, {i32: $n}, {i32: $n}, {buffer: A, bytes: 16 MiB}, {buffer: B, bytes: 16 MiB}, {buffer: C, bytes: 16 MiB}]
YAML
    done
  done
done
