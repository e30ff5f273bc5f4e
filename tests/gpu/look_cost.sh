#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# look_cost.sh NVCC ARCH... - a safe point of a block that was not cancelled costs three instructions.
#
# Compiles look_cost.cu to machine code twice, with looks and without, and takes what stands before the first branch of
# each kernel, but for what prepares addresses: a load from shared memory (LDS), a comparison (ISETP), the branch (BRA),
# and without looks nothing of the kind. Needs no GPU and no disassembler: the low 12 bits of each 16-byte instruction
# are its operation.
# And a kernel with a barrier, a log call and a panic keeps no more of a block's shared memory than block.h says.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

(($# >= 2)) || {
    echo "usage: look_cost.sh NVCC ARCH..." >&2
    exit 2
}
nvcc=$1
shift
command -v readelf >/dev/null || {
    echo 'no readelf: skipped' >&2
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Loads from shared memory, comparisons and branches of a kernel, in order, up to the first branch.
operations() { # CUBIN KERNEL
    readelf -x ".text.$2" "$1" 2>/dev/null | awk '
        /^ +0x/ && !done {
            operation = substr($2, 4, 1) substr($2, 1, 2)
            name = operation == "984" ? "LDS" : operation ~ /^[28]0c$/ ? "ISETP" : operation == "947" ? "BRA" : ""
            if (name) printf "%s ", name
            done = name == "BRA"
            count++
        }
        END { if (!count) print "no code" }'
}

promised=$(sed -n 's/^ *GPURT_BLOCK_SHARED_BYTES = \([0-9]*\).*/\1/p' "$here/../../runtime/include/gpurt/block.h")

# What a kernel keeps of shared memory, where an array of 16-byte words follows.
shared() { # PTXAS_OUTPUT KERNEL
    awk -v kernel="$2" '
        /Compiling entry function/ { mine = index($0, "\047" kernel "\047") }
        mine && match($0, /[0-9]+ bytes smem/) { print int((substr($0, RSTART) + 15) / 16) * 16 }' "$1"
}

failures=0
expect() { # WHAT GOT WANT
    echo "$1: ${2:-none}"
    [[ $2 == "$3" ]] || {
        echo "  not ${3:-none}"
        failures=$((failures + 1))
    }
}
for arch; do
    for looks in 1 0; do
        "$nvcc" -std=c++17 -I"$here/../../runtime/include" -DGPURT_CANCEL=$looks -arch="sm_$arch" -cubin \
            -Xptxas -v "$here/look_cost.cu" -o "$work/$arch.$looks.cubin" 2>"$work/$arch.$looks.said"
    done
    expect "sm_$arch gpurt_block_barrier" "$(operations "$work/$arch.1.cubin" look_block_barrier)" 'LDS ISETP BRA '
    expect "sm_$arch gpurt_cancel_point" "$(operations "$work/$arch.1.cubin" look_point)" 'LDS ISETP BRA '
    # what is left is the loop at a kernel's end
    expect "sm_$arch gpurt_block_barrier, GPURT_CANCEL 0" \
        "$(operations "$work/$arch.0.cubin" look_block_barrier)" 'BRA '
    expect "sm_$arch shared memory of a kernel with all of it" \
        "$(shared "$work/$arch.1.said" look_shared)" "$promised"
done
((failures == 0))
