#!/bin/sh
# One SGEMM on an RTX 4070, then the same with one thing changed at a time. Needs a build: ./dev build
set -eu
cd "$(dirname "$0")/../.."
noteg=${NOTEG:-build/release/bin/noteg}
kernel="--kernel kernels/library/sgemm_128x128x8.yaml --shape 4096x4096x4096"

echo "== the main job"
# shellcheck disable=SC2086  # the words of $kernel are arguments of their own
$noteg simulate --arch rtx4070 $kernel

echo "== half the L2"
# shellcheck disable=SC2086
$noteg simulate --arch rtx4070 $kernel --set "arch.l2.size=18 MiB"

echo "== another GPU"
# shellcheck disable=SC2086
$noteg simulate --arch a100-pcie-40gb $kernel
