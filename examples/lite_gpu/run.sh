#!/bin/sh
# A large GPU cut into four: two H100 against eight quarters of one over the operations of Llama 3 70B. $1: noteg.
set -eu
noteg=${1:-noteg}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$noteg" arch scale h100-sxm5-80gb --by 1/4 --out "$folder/lite.yaml"
"$noteg" arch scale h100-sxm5-80gb --by 1/4 --set arch.dram.bandwidth=6704GB/s --out "$folder/lite_memory.yaml"
"$noteg" arch scale h100-sxm5-80gb --by 1/4 --set arch.clock.boost=2.178GHz --set arch.clock.sustained=2.178GHz \
  --set arch.power.limit=770W --out "$folder/lite_clock.yaml"

# Time of a step, its parts, and what all GPUs draw together.
row() { # name, gpus, arch, options
  name=$1 gpus=$2 arch=$3
  shift 3
  "$noteg" workload --format csv --quiet --arch "$arch" llama-3-70b --tensor-parallel "$gpus" "$@" |
    awk -F, -v name="$name" -v gpus="$gpus" '
      $6 == "all_reduce" { reduce += $9 }
      $6 ~ /^attention/ { attention += $9 }
      $6 == "linear" { linear += $9 }
      $5 == "all" {
        printf "  %-30s %9.2f ms  %8.2f %8.2f %8.2f  %7.0f W  %7.1f J\n", name, $9 / 1000, linear / 1000,
               attention / 1000, reduce / 1000, gpus * 1000 * $10 / $9, gpus * $10 / 1000
      }'
}

step() { # title, options
  echo "== $1"
  shift
  printf '  %-30s %12s  %8s %8s %8s  %9s  %9s\n' '' time linear attn reduce 'all draw' energy
  row '2 x H100' 2 h100-sxm5-80gb "$@"
  row '8 x 1/4 H100' 8 "$folder/lite.yaml" "$@"
  row '8 x 1/4, twice the bandwidth' 8 "$folder/lite_memory.yaml" "$@"
  row '8 x 1/4, 10 % more clock' 8 "$folder/lite_clock.yaml" "$@"
  row '8 x 1/4, links of half the rate' 8 "$folder/lite.yaml" --link-bandwidth 183GB/s "$@"
}

step 'decode, 32 sequences of 1024 tokens' --phase decode --tokens 32 --context 1024
step 'prefill, 2048 tokens' --tokens 2048
