#!/bin/sh
# Tiles of a naive kernel on an RTX 4070, ours beside the published ones. usage: run.sh [path to noteg]
set -eu
noteg=${1:-build/release/bin/noteg}
[ -x "$noteg" ] || { echo "$0: $noteg: no program there (./dev build makes it)" >&2; exit 1; }

ours() { # TILE SHAPE: milliseconds and watts
  "$noteg" simulate --arch rtx4070 --launches 1 --family naive --tile "$1x$1x$1" --shape "$2" --l2 cold --set raster=along_n \
    --format json |
    awk -F': ' '/^  "time_us"/ { t = $2 / 1000 } /^  "power_w"/ { p = $2 + 0 } END { print t, p }'
}

study() { # SHAPE MS WATTS for tiles 4, 8, 16, 32, published
  shape=$1
  shift
  echo "$shape        ours                      GPPerf"
  echo "tile       ms  speed-up    W        ms  speed-up    W"
  for tile in 4 8 16 32; do
    set -- "$@" "$tile $(ours $tile "$shape") $1 $2"
    shift 2
  done
  for line in "$@"; do echo "$line"; done | awk '
    NR == 1 { our = $2; their = $4 }
    { printf "%4d %8.1f %8.2fx %5.0f %9.1f %8.2fx %5.0f\n", $1, $2, our / $2, $3, $4, their / $4, $5
      time[$1] = $2; power[$1] = $3; ptime[$1] = $4; ppower[$1] = $5 }
    END { printf "16 against 8: %.2fx as fast, %+.0f %% power (GPPerf %.2fx, %+.0f %%)\n", time[8] / time[16],
            100 * (power[16] / power[8] - 1), ptime[8] / ptime[16], 100 * (ppower[16] / ppower[8] - 1)
          printf "32 against 8: %.2fx as fast, %+.0f %% power (GPPerf %.2fx, %+.0f %%)\n", time[8] / time[32],
            100 * (power[32] / power[8] - 1), ptime[8] / ptime[32], 100 * (ppower[32] / ppower[8] - 1) }'
}

study 8192x8192x16384 7800.46 131.7 2568.62 108.4 1289.16 95.6 1459.86 81.6
echo
study 16384x8192x1024 554.1 77.0 190.9 55.1 162.2 54.6 175.5 51.5
