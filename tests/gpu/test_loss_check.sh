#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_loss_check.sh LOSS_CHECK: logs of two warps that are right and wrong in each way, and what is said of them.
set -euo pipefail
check=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rows() { # WARP:NUMBER@TIME...
    local row number
    for row in "$@"; do
        number=${row#*:}
        printf '{"ts_ns":%s,"level":"INFO","msg":"%s %s"}\n' "${row#*@}" "${row%:*}" "${number%@*}"
    done
}

# Warp 0 says that it came to 2, warp 1 that it came to 3; and what they went back from.
says_back() {
    printf '\x02\0\0\0\x03\0\0\0\0\0\0\0%b\0\0\0' "$1" >"$work/said"
}
says_back '\0'

says() { # STATUS TEXT ROW...
    local want=$1 text=$2 status=0
    shift 2
    rows "$@" | "$check" "$work/said" >"$work/out" || status=$?
    if ((status != want)) || ! grep -qF -- "$text" "$work/out"; then
        echo "FAIL: status $status of $want for $*; no '$text' in:"
        cat "$work/out"
        exit 1
    fi
}

good=(0:0@10 1:0@11 1:1@12 0:1@13 1:2@14)
says 0 '5 records, 5 of them promised' "${good[@]}"
says 0 '6 records, 5 of them promised' "${good[@]}" 0:2@15
says 1 '0 records: 0 twice, of 0 warps, in 0 runs, 0 with the time of the first; 0 warps went back; 0 late; 5 missing, of 2 warps' # no log

# A row that came again: one that was kept has its time.
says 1 'warp 1: 1 comes where 3 should, in line 6, again: first in line 3, 0 ns before; it said 3: {"ts_ns":12,' \
    "${good[@]}" 1:1@12
says 1 '6 records: 1 twice, of 1 warps, in 1 runs, 1 with the time of the first; 0 warps went back; 0 late; 0 missing, of 0 warps; 0 strange' \
    "${good[@]}" 1:1@12

# A warp that went back has a new one, and goes on; here it does so twice, with the other beside it.
says 1 'warp 1: 0 comes where 3 should, in line 6, again: first in line 2, 9 ns before' \
    "${good[@]}" 1:0@20 0:0@21 1:1@22 1:2@23 1:3@24 1:1@25
says 1 '11 records: 5 twice, of 2 warps, in 3 runs, 0 with the time of the first; 0 warps went back; 0 late; 0 missing' \
    "${good[@]}" 1:0@20 0:0@21 1:1@22 1:2@23 1:3@24 1:1@25

says_back '\x07'
says 1 'warp 1: 1 comes where 3 should, in line 6, again: first in line 3, 8 ns before; it said 3 and went back from 7: {"ts_ns":20,' \
    "${good[@]}" 1:1@20
says 1 '1 twice, of 1 warps, in 1 runs, 0 with the time of the first; 1 warps went back; 0 late' "${good[@]}" 1:1@20
says 0 '5 records, 5 of them promised' "${good[@]}"
says_back '\0'

# Another's contents: its own number is missing.
says 1 'warp 1: 1 of 4 records are missing, the first is 2; it said 3' 0:0@10 1:0@11 1:1@12 0:1@13 1:1@14 1:3@15
says 1 '1 twice, of 1 warps, in 1 runs, 0 with the time of the first; 0 warps went back; 0 late; 1 missing, of 1 warps' \
    0:0@10 1:0@11 1:1@12 0:1@13 1:1@14 1:3@15

# Promised and not there; in another order; of nobody.
says 1 'warp 1: 1 of 3 records are missing, the first is 2; it said 3' 0:0@10 1:0@11 1:1@12 0:1@13
says 1 'warp 1: 2 comes where 1 should, in line 4; it said 3' 0:0@10 0:1@11 1:0@12 1:2@13 1:1@14
says 1 '0 twice, of 0 warps, in 0 runs, 0 with the time of the first; 0 warps went back; 1 late; 0 missing' \
    0:0@10 0:1@11 1:0@12 1:2@13 1:1@14
says 1 'of no warp: {"ts_ns":15,' "${good[@]}" 2:0@15
says 1 '0 missing, of 0 warps; 2 strange' "${good[@]}" 2:0@15 1:4000000000@16
