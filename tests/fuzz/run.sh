#!/usr/bin/env bash
# tests/fuzz/run.sh BUILD SECONDS [TARGET ...]: runs each fuzz target in turn, from the seeds of the repository and
# tests/fuzz/corpus. One input may take a minute: the limit is on the clock on the wall, and a machine may be busy.
# Inputs that crash, hang or leak are left in BUILD/fuzz; exit status 1 if there are any.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
build=$1 seconds=$2
shift 2
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(arch_yaml kernel_yaml kernel_name csv model_json assembly sass cubin)

# Files of the repository that a target begins with.
seeds() {
  case $1 in
    arch_yaml) find arch/gpus/ada/{l4,tiny}.yaml arch/generations/sm_89.yaml tests/arch/bad -name '*.yaml' ;;
    kernel_yaml) find kernels/library tests/kernels/bad -name '*.yaml' ;;
    assembly) find examples tests/kernels/bad -name '*.nsass' ;;
    csv) echo tests/data/h200_single_cta.csv ;;
  esac
  if [[ -d tests/fuzz/corpus/$1 ]]; then find "tests/fuzz/corpus/$1" -type f; fi
}

failed=0
for target in "${targets[@]}"; do
  work=$build/fuzz/$target
  mkdir -p "$work/corpus" "$work/found"
  seeds "$target" | while read -r file; do head -c 4096 "$file" >"$work/corpus/seed_$(basename "$file")"; done
  echo "fuzz_$target: $seconds s" >&2
  if ! "$build/bin/fuzz_$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=4096 \
    -artifact_prefix="$work/found/" -print_final_stats=1 "$work/corpus" >"$work/log" 2>&1; then
    echo "fuzz_$target: found something, see $work/log and $work/found" >&2
    failed=1
  fi
  grep -E 'stat::number_of_executed_units|stat::average_exec_per_sec' "$work/log" >&2 || true
done
exit $failed
