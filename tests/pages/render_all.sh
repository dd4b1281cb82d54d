#!/usr/bin/env bash
# usage: render_all.sh NOTEG NODE [FOLDER]: writes a small report of every command and opens each in headless Chromium
# (render.mjs). With FOLDER pages and pictures stay there.
set -euo pipefail

noteg=$1
node=$2
here="$(dirname "${BASH_SOURCE[0]}")"
folder=${3:-$(mktemp -d)}
[[ -n ${3:-} ]] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"

# Said before the work, not after it.
"$node" "$here/render.mjs" > /dev/null || { "$node" "$here/render.mjs"; exit $?; }

kernel=(--kernel kernels/library/sgemm_128x128x8.yaml --shape 1024x1024x1024)
"$noteg" simulate --arch rtx4070 "${kernel[@]}" --explain --report "$folder/simulate.html" > /dev/null
"$noteg" compare --arch rtx4070 --arch l4 "${kernel[@]}" --report "$folder/compare.html" > /dev/null
"$noteg" tune --arch a100-pcie-40gb --shape 1024x1024x1024 --dtype f16 --max-configs 24 --top 5 --quiet \
  --report "$folder/tune.html" > /dev/null
{
  echo gpu,family,dtype_in,M,N,K,tile_m,tile_n,tile_k,time_ms,power_w
  for gpu in RTX4070 A40; do
    for m in 128 256 384 512 768 1024; do
      for k in 64 128 256 512; do echo "$gpu,simt,f32,$m,512,$k,128,128,8,0.0$((m / 64 + k / 32)),100"; done
    done
  done
} > "$folder/measured.csv"
"$noteg" validate --data "$folder/measured.csv" --table "$folder/runs.csv" --quiet --report "$folder/validate.html" \
  > /dev/null
"$noteg" train --data "$folder/runs.csv" --out "$folder/model.json" --trees 10 --folds 3 --quiet \
  --report "$folder/train.html" > /dev/null
pictures=()
[[ -z ${3:-} ]] || pictures=(--pictures "$folder")
"$node" "$here/render.mjs" "${pictures[@]}" "$folder"/{simulate,compare,tune,validate,train}.html
