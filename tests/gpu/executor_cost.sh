#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# executor_cost.sh NVCC - an executor leaves room beside it: two blocks of eight warps fit on a multiprocessor.
#
# So much a kernel of the library may take for a task of few registers. Were it more, an executor of eight warps would be
# refused: services take seven eighths of a device at most. Needs no GPU: ptxas says what a kernel takes.
set -euo pipefail
(($# == 1)) || { echo "usage: executor_cost.sh NVCC" >&2; exit 2; }
nvcc=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

failures=0
at_most() { # WHAT BOUND PATTERN
    local got
    got=$(sed -n "s/.*[^0-9]\([0-9]\+\) $3.*/\1/p" <<<"$said" | head -n 1)
    echo "  $1: ${got:-not told} (at most $2)"
    [[ $got ]] && ((got <= $2)) || failures=$((failures + 1))
}

costs() { # KERNEL FILE
    echo "$1:"
    said=$("$nvcc" -x cu -std=c++17 -O3 -arch=sm_90 -cubin -D_GNU_SOURCE -Xptxas -v "-I$root/runtime/include" \
        "$root/$2" -o /dev/null 2>&1)
    said=$(sed -n "/entry function '$1'/,/Used/p" <<<"$said")
    at_most registers 128 registers
    at_most 'bytes spilled' 0 'bytes spill stores'
    at_most 'bytes of shared memory' 16384 'bytes smem'
}
costs bench_executor_tasks tests/bench/bench_executor_kernels.c
costs mandel_tasks examples/mandel_kernels.c # tasks of lanes and of a block, too

# Relocatable code knows no bound, and must compile all the same.
"$nvcc" -x cu -std=c++17 -arch=sm_90 -rdc=true -c -D_GNU_SOURCE "-I$root/runtime/include" "$root/examples/mandel_kernels.c" \
    -o /dev/null
((failures == 0))
