#!/bin/sh
# Register file study on a GeForce-class Ampere GPU. usage: run.sh [path to noteg]
set -eu
noteg=${1:-build/release/bin/noteg}
[ -x "$noteg" ] || { echo "$0: $noteg: no program there (./dev build makes it)" >&2; exit 1; }
here=$(dirname "$0")
gpu=rtx-a6000 # at 1.8 GHz, as published: power shall not mix in

sgemm() { # KERNEL [--set ...]: microseconds
  name=$1
  shift
  "$noteg" simulate --arch $gpu --kernel-name "$name" --shape 4096x4096x4096 --clock 1.8GHz "$@" --format json |
    sed -n 's/^  "time_us": \(.*\),$/\1/p'
}

chain() { # [--set ...]: cycles per iteration
  "$noteg" simulate --arch $gpu --asm "$here/ffma_chain.nsass" "$@" --format json |
    sed -n 's/^  "cycles_per_iteration": \(.*\),$/\1/p'
}

row() { # LABEL PUBLISHED COMMAND...: speed relative to one port with the cache
  label=$1
  published=$2
  shift 2
  one=$("$@")
  none=$("$@" --set core.rfc=off)
  two=$("$@" --set core.rfc=off --set core.rf_read_ports=2)
  ideal=$("$@" --set core.rf=ideal)
  echo "$label;$published;$one;$none;$two;$ideal" |
    awk -F';' '{ printf "%-26s %7.2f %9.2f %8.2f   %s\n", $1, $3 / $4, $3 / $5, $3 / $6, $2 }'
}

echo "speed relative to one read port per bank with the register file cache"
echo "                           1 port,   2 ports,"
echo "                         no cache  no cache    ideal   published"
row "SGEMM 128x128_8x3" "0.69..0.78  1.02..1.10  1.02..1.10" sgemm cutlass_simt_sgemm_128x128_8x3_nn_align1
row "SGEMM 128x128_8x4" "0.69..0.78  1.02..1.10  1.02..1.10" sgemm cutlass_simt_sgemm_128x128_8x4_nn_align1
row "SGEMM 128x128_8x5" "0.69..0.78  1.02..1.10  1.02..1.10" sgemm cutlass_simt_sgemm_128x128_8x5_tn_align1
row "FFMA chain" "1.00        1.45        1.45" chain
