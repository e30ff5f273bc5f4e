#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# log_cost.sh NVCC - what a log call of two arguments adds to a kernel for sm_90, held to bounds.
#
# Compiles log_cost.cu and counts, up to each kernel's end, the instructions, shuffles and branches of the machine code:
# what is out of line stands behind. And what ptxas says of registers. Needs no GPU and no disassembler: the low 12
# bits of each 16-byte instruction are its operation. The bounds leave room for another release of nvcc.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

(($# == 1)) || {
    echo "usage: log_cost.sh NVCC" >&2
    exit 2
}
command -v readelf >/dev/null || {
    echo 'no readelf: skipped' >&2
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc=$1
compile() { # NAME OPTION...: NAME.cubin, and NAME.said with what ptxas says
    "$nvcc" -std=c++17 -I"$here/../../runtime/include" -arch=sm_90 -cubin -Xptxas -v "${@:2}" "$here/log_cost.cu" \
        -o "$work/$1.cubin" >"$work/$1.said" 2>&1 || {
        cat "$work/$1.said" >&2
        exit 1
    }
}
compile free

# Of a kernel up to its EXIT: "INSTRUCTIONS SHUFFLES".
count() { # KERNEL
    readelf -x ".text.$1" "$work/free.cubin" 2>/dev/null | awk '
        /^ +0x/ && !done {
            operation = substr($2, 4, 1) substr($2, 1, 2)
            count++
            shuffles += operation ~ /^[f59]89$/
            done = operation == "94d"
        }
        END { print count + 0, shuffles + 0 }'
}

registers() { # KERNEL
    sed -n "/entry function '$1'/,/Used/s/.*Used \([0-9]*\) registers.*/\1/p" "$work/free.said"
}

# What the kernel puts into memory when it is held to so many registers. The functions that it calls keep what they
# need in memory then, out of the common way: that is no spill of the kernel.
spilled() { # KERNEL REGISTERS
    compile held "-maxrregcount=$2"
    sed -n "/properties for $1\$/,/spill/s/.* \([0-9]*\) bytes spill stores.*/\1/p" "$work/held.said"
}

failures=0
at_most() { # WHAT GOT BOUND
    echo "$1: $2 (at most $3)"
    [[ $2 ]] && (($2 > 0 || $3 == 0)) && (($2 <= $3)) || failures=$((failures + 1))
}
read -r bare _ <<<"$(count log_none)"
read -r logged shuffles <<<"$(count log_two)"
none=$(registers work_none) two=$(registers work_two)
# Half of them are for a part of a warp, behind the common way: a call to them would cost it 175 cycles.
at_most 'instructions that a warp-log adds, out-of-line calls included' $((logged - bare)) 175
at_most 'shuffles among them' "$shuffles" 0
at_most "registers that it adds to a kernel of $none that nothing limits" $((two - none)) 34
# The hardware deals registers out by eights.
for more in 12 16; do
    at_most "bytes spilled by that kernel with $more registers more" "$(spilled work_two $((none + more)))" $((more == 12 ? 28 : 0))
done
((failures == 0))
