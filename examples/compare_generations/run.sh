#!/bin/sh
# Ampere, Ada and Hopper on one SGEMM, one f16 GEMM and one layer of a language model. usage: run.sh [path to noteg]
set -eu
noteg=${1:-build/release/bin/noteg}
[ -x "$noteg" ] || { echo "$0: $noteg: no program there (./dev build makes it)" >&2; exit 1; }
here=$(dirname "$0")
gpus="a100-pcie-40gb l40s h100-sxm5-80gb"

# What came out; what differs in the files is left to docs/compare.md.
side_by_side() {
  "$noteg" compare --quiet --no-waterfall --arch a100-pcie-40gb --arch l40s --arch h100-sxm5-80gb --kernel auto "$@" |
    sed '/^what differs in the files/,$d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

echo "== one SGEMM: 4096 x 4096 x 4096 in single precision"
side_by_side --shape 4096x4096x4096

echo
echo "== one GEMM on tensor cores: 8192 x 8192 x 8192, f16"
side_by_side --shape 8192x8192x8192 --dtype f16

echo
echo "== one layer of a language model: examples/compare_generations/layer.txt, f16, weights along K"
for gpu in $gpus; do
  printf '%-16s' "$gpu"
  "$noteg" tune --quiet --arch "$gpu" --shapes "$here/layer.txt" --dtype f16 --layout nt --top 1 \
    --max-configs 200 | tail -n 1
done
