#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a heap that checks tells: in the log, with the lines of the program; and who holds memory, when it ends.
# Arguments: folder of the programs, heap_app.
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_TRACE
# A drainer that is held up for a moment costs no message.
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off GPURT_POLICY=block

fail() {
    echo "FAIL: $*" >&2
    cat run.txt >&2 || true
    exit 1
}
line() { sed -n "s/^$1 //p" said; }
wrong() { grep -c '"level":"ERROR"' run.txt || true; }
kernels=heap_checks_kernels.c

for level in cheap full; do
    rm -f run.gplog leaks*
    GPURT_HEAP_CHECKS=$level GPURT_HEAP_LEAKS=leaks.txt "$bin/gpurt-record" -q -o run.gplog -- "$app" wrong >said
    "$bin/gpurt-log" cat --jsonl run.gplog >run.txt
    [ "$(wrong)" = 2 ] || fail "$level: $(wrong) records of things that are wrong, not 2"
    alloc=$(line alloc) free=$(line free) again=$(line again)
    grep -q "\"block\":1,.*$kernels\",\"line\":$alloc,.* of 100 bytes was written past its end; allocated at .*$kernels:$alloc by block 0 thread 0, freed at .*$kernels:$free by block 1 thread 1, byte 100\"" run.txt ||
        fail "$level: the overrun"
    grep -q "\"block\":0,.*$kernels\",\"line\":$again,.* of 100 bytes is freed again; allocated at .*$kernels:$alloc by block 0 thread 0, freed at .*$kernels:$free by block 1 thread 1\"" run.txt ||
        fail "$level: the second free"
    grep -q "6400 bytes in 64 objects from .*$kernels:$(line leak); one: 0x" leaks.txt || fail "$level: the leak"
    grep -q 'was written past its end, byte 100' leaks.txt || fail "$level: the overrun in the report"
done

# As JSON, and without a log.
GPURT_HEAP_CHECKS=cheap GPURT_HEAP_LEAKS=leaks.json "$app" wrong >said
grep -q "\"fault_count\":2,\"leaks\":\[{\"bytes\":6400,\"objects\":64,\"site\":\".*$kernels:$(line leak)\"" leaks.json ||
    fail "$(cat leaks.json)"

# Twins: who does nothing wrong, and who does not check.
GPURT_HEAP_CHECKS=full GPURT_HEAP_LEAKS=clean.txt "$bin/gpurt-record" -q -o clean.gplog -- "$app" storm
"$bin/gpurt-log" cat --jsonl clean.gplog >run.txt
[ "$(wrong)" = 0 ] || fail 'a program without mistakes is accused'
grep -q ': 0 live objects of 0 bytes, 0 faults' clean.txt || fail "$(cat clean.txt)"
"$bin/gpurt-record" -q -o off.gplog -- "$app" wrong >said
"$bin/gpurt-log" cat --jsonl off.gplog >run.txt
[ "$(wrong)" = 0 ] || fail 'told, though nobody asked for checks'
