#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sass_equal.sh NVCC ARCH... - the wrappers of dialect_cuda.h and atomic.h cost no instruction.
#
# Compiles sass_equal.cu to machine code for each architecture and compares every pair of kernels NAME__ours and
# NAME__bare byte by byte. Needs no GPU and no disassembler: a cubin is an ELF file with one section a kernel, and
# readelf prints its bytes. A pair named differ_* is planted and must differ. For a pair that fails, the normalised PTX
# of both sides is compared too, and their SASS where cuobjdump exists. Environment: KEEP=DIR leaves the cubins there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_file=$here/sass_equal.cu
include=$here/../../runtime/include

(($# >= 2)) || {
    echo "usage: sass_equal.sh NVCC ARCH..." >&2
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

# One line a kernel: its name, then its machine code in hex. The code of a kernel lies in section .text.NAME. readelf
# does not know what NVIDIA keeps in the section headers and warns; missing code shows in the count of pairs.
code_of() { # CUBIN
    local sections=() name
    while read -r name; do
        sections+=(-x "$name")
    done < <(readelf -SW "$1" 2>/dev/null | grep -o '\.text\.[A-Za-z0-9_]*' | sort -u)
    # Sections are whole instructions of 16 bytes, so each line of the dump has four words.
    readelf "${sections[@]}" "$1" 2>/dev/null | awk '
        /^Hex dump of section/ {
            name = $0
            sub(/.*\.text\./, "", name)
            sub(/.:$/, "", name)
            printf "\n%s ", name
        }
        /^ +0x/ { printf "%s%s%s%s", $2, $3, $4, $5 }
        END { print "" }' | sed '/^$/d'
}

# The PTX of one kernel with registers, labels and names made alike.
# shellcheck disable=SC2016 # the dollars are PTX's
ptx_of() { # PTX KERNEL
    awk -v kernel="$2" '
        $0 ~ "\\.entry " kernel "\\(" { inside = 1 }
        inside { print }
        inside && /^}/ { exit }' "$1" |
        sed -e "s/$2/KERNEL/g" -e 's/\$L__BB[0-9]*_/$L_/g' \
            -e '/^[[:space:]]*\/\//d' -e '/^[[:space:]]*$/d' -e '/\.reg /d' |
        awk '{
            line = ""
            while (match($0, /%(p|rs|r|rd|f|fd|rq)[0-9]+/)) {
                reg = substr($0, RSTART, RLENGTH)
                if (!(reg in seen)) seen[reg] = ++count
                line = line substr($0, 1, RSTART - 1) "%" seen[reg]
                $0 = substr($0, RSTART + RLENGTH)
            }
            print line $0 }'
}

explain() { # ARCH PAIR
    local ptx=$work/$1.ptx
    [[ -e $ptx ]] || "$nvcc" -std=c++17 -I"$include" -arch="sm_$1" -ptx "$source_file" -o "$ptx"
    echo "  PTX, < gpurt  > bare:"
    diff <(ptx_of "$ptx" "$2__ours") <(ptx_of "$ptx" "$2__bare") | sed 's/^/    /' || true
    if command -v cuobjdump >/dev/null; then
        echo "  SASS, < gpurt  > bare:"
        diff <(cuobjdump -sass -fun "$2__ours" "$work/$1.cubin" | grep -o '/\*[0-9a-f]\{4\}\*/ .*;') \
            <(cuobjdump -sass -fun "$2__bare" "$work/$1.cubin" | grep -o '/\*[0-9a-f]\{4\}\*/ .*;') |
            sed 's/^/    /' || true
    fi
}

failures=0
for arch; do
    "$nvcc" -std=c++17 -I"$include" -arch="sm_$arch" -cubin "$source_file" -o "$work/$arch.cubin"
    [[ ! ${KEEP:-} ]] || cp "$work/$arch.cubin" "$KEEP/"
    code_of "$work/$arch.cubin" >"$work/$arch.code"
    mapfile -t pairs < <(sed -n 's/^\(.*\)__ours .*/\1/p' "$work/$arch.code")
    ((${#pairs[@]} > 100)) || {
        echo "sm_$arch: only ${#pairs[@]} pairs found"
        exit 1
    }
    # "1" for each pair whose two sides have the same bytes, and at least one instruction.
    mapfile -t same < <(awk '
        { kernel[$1] = $2 }
        $1 ~ /__ours$/ { order[++n] = substr($1, 1, length($1) - 6) }
        END {
            for (i = 1; i <= n; i++) {
                code = kernel[order[i] "__ours"]
                print (length(code) >= 32 && code == kernel[order[i] "__bare"])
            }
        }' "$work/$arch.code")
    equal=0 planted=0
    for i in "${!pairs[@]}"; do
        pair=${pairs[i]}
        if [[ $pair == differ_* ]]; then
            planted=$((planted + 1))
            ((same[i] == 0)) || {
                echo "sm_$arch: $pair: planted difference not found"
                failures=$((failures + 1))
            }
        elif ((same[i])); then
            equal=$((equal + 1))
        else
            echo "sm_$arch: $pair: machine code differs"
            explain "$arch" "$pair"
            failures=$((failures + 1))
        fi
    done
    printf 'sm_%s: %d pairs equal, %d planted differences found, of %d\n' "$arch" "$equal" "$planted" "${#pairs[@]}"
done
((failures == 0))
