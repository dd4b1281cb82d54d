#!/bin/sh
# Slow-down and energy of prefill and decode under power caps and under clock caps. $1: the program noteg.
set -eu
noteg=${1:-noteg}
model=llama-3-8b

# Cases of one GPU and phase as a table, all relative to the first of them.
table() {
  "$noteg" workload --format csv --quiet --clocks shared "$@" | awk -F, '
    $5 == "all" {
      if (!time) { time = $9; energy = $10 }
      slower = 100 * ($9 / time - 1)
      if (slower > -0.05 && slower < 0) slower = 0
      printf "  %-12s %8.2f ms  %6.1f %% slower  %6.0f W  %6.2f x energy\n", $2, $9 / 1000, slower, 1000 * $10 / $9,
             $10 / energy
    }'
}

study() { # gpu, caps, clocks
  echo "== $1, prefill of 2048 tokens: power caps, then clock caps"
  table --arch "$1" $model --tokens 2048 --power-limit "$2"
  table --arch "$1" $model --tokens 2048 --clock-cap "$3"
  echo "== $1, decode of 32 sequences with 1024 tokens each: power caps, then clock caps"
  table --arch "$1" $model --phase decode --tokens 32 --context 1024 --power-limit "$2"
  table --arch "$1" $model --phase decode --tokens 32 --context 1024 --clock-cap "$3"
}

study a100-sxm4-80gb 400W,350W,300W,250W,200W 1.41GHz,1.275GHz,1.11GHz,0.96GHz
study h100-sxm5-80gb 700W,600W,500W,400W,300W 1.98GHz,1.59GHz,1.35GHz,1.11GHz
study h200-sxm-141gb 700W,500W,300W 1.98GHz,1.35GHz,1.11GHz
