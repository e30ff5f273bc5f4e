#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The plain CUDA example on a GPU: alone, and what its kernel said under a recorder.
# Argument: folder of the programs.
set -euo pipefail
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF
export GPURT_CUPTI=off # its records are not counted here

want='block 0 of 4 scales by 42
block 1 of 4 scales by 42
block 2 of 4 scales by 42
block 3 of 4 scales by 42
thread 10 of block 1 knows the answer: 42'

[ "$("$bin/hello_cuda")" = 'hello_cuda: 128 values scaled, 0 wrong' ]
"$bin/gpurt-record" -q -o "$dir/run.gplog" -- "$bin/hello_cuda" >/dev/null
got=$("$bin/gpurt-log" cat --jsonl "$dir/run.gplog" | sed 's/.*"msg":"\(.*\)"}$/\1/' | sort)
[ "$got" = "$want" ] || {
    echo "FAIL: it logged '$got', not '$want'" >&2
    exit 1
}
