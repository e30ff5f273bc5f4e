#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a heap that checks tells: in the log, with the lines of the program; and who holds memory, when it ends.
# Arguments: folder of the programs, heap_app.
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
recorder=
clean() {
    exec 3>&- || true
    [ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
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
    grep -q "\"block\":1,.*$kernels\",\"line\":$alloc,.* of 100 B was written past its end; allocated at .*$kernels:$alloc by block 0 thread 0, freed at .*$kernels:$free by block 1 thread 1, byte 100\"" run.txt ||
        fail "$level: the overrun"
    grep -q "\"block\":0,.*$kernels\",\"line\":$again,.* of 100 B is freed again; allocated at .*$kernels:$alloc by block 0 thread 0, freed at .*$kernels:$free by block 1 thread 1\"" run.txt ||
        fail "$level: the second free"
    grep -q "6400 bytes in 64 objects from .*$kernels:$(line leak); one: 0x" leaks.txt || fail "$level: the leak"
    grep -q 'was written past its end, byte 100' leaks.txt || fail "$level: the overrun in the report"
done

# As JSON, and without a log.
GPURT_HEAP_CHECKS=cheap GPURT_HEAP_LEAKS=leaks.json "$app" wrong >said
grep -q "\"fault_count\":2,\"leaks\":\[{\"bytes\":6400,\"objects\":64,\"site\":\".*$kernels:$(line leak)\"" leaks.json ||
    fail "$(cat leaks.json)"

# What no call has found, the end of the heap does; and objects of code that does not check are told of.
for level in cheap full; do
    rm -f damage.gplog leaks*
    GPURT_HEAP_CHECKS=$level GPURT_HEAP_LEAKS=leaks.txt "$bin/gpurt-record" -q -o damage.gplog -- "$app" damage
    "$bin/gpurt-log" cat --jsonl damage.gplog >run.txt
    [ "$(wrong)" = 1 ] || fail "$level: $(wrong) records of damage, not 1"
    grep -q "heap [0-9]* ends: .* of 100 B was written past its end; allocated at .*$kernels:[0-9]* by block 0 thread 0, freed at no place .*, byte 100\"" run.txt ||
        fail "$level: the damage"
    grep -q 'was written past its end, byte 100' leaks.txt || fail "$level: the damage in the report: $(cat leaks.txt)"
    grep -q '"level":"WARN".*objects 64, from code that was not compiled to check"' run.txt ||
        fail "$level: objects of unchecked code"
    grep -q '64 objects of code that was not compiled to check' leaks.txt || fail "$level: the same in the report"
done

# A heap that is still there at the end.
ASAN_OPTIONS=detect_leaks=0 GPURT_HEAP_CHECKS=full GPURT_HEAP_LEAKS=left.txt "$app" leave
grep -q "6400 bytes in 64 objects from .*$kernels:" left.txt || fail 'the leak that gpurt_close finds'

# Twins: who does nothing wrong, and who does not check.
GPURT_HEAP_CHECKS=full GPURT_HEAP_LEAKS=clean.txt "$bin/gpurt-record" -q -o clean.gplog -- "$app" storm
"$bin/gpurt-log" cat --jsonl clean.gplog >run.txt
[ "$(wrong)" = 0 ] || fail 'a program without mistakes is accused'
grep -q ': 0 live objects of 0 bytes, 0 faults' clean.txt || fail "$(cat clean.txt)"
"$bin/gpurt-record" -q -o off.gplog -- "$app" wrong >said
"$bin/gpurt-log" cat --jsonl off.gplog >run.txt
[ "$(wrong)" = 0 ] || fail 'told, though nobody asked for checks'

# ---- a trace, and again ----------------------------------------------------------------------------------------------
# json FILE KEY: a number of one JSON object
json() { sed -n "s/.*\"$2\":\([0-9]*\)[,}].*/\1/p" "$1"; }
: >empty
GPURT_HEAP_TRACE=1 "$bin/gpurt-record" -q -o trace.gplog -- "$app" hold <empty >said
"$bin/gpurt-replay" --json -n 1 trace.gplog >again.json
for want in allocs=128 frees=64 left=64 odd=0 lost=0 served=128 refused=0 alloc_bytes=12800; do
    [ "$(json again.json "${want%=*}")" = "${want#*=}" ] || fail "$want: $(cat again.json)"
done
"$bin/gpurt-replay" --json -n 1 --bytes 700000 trace.gplog >again.json
[ "$(json again.json served)" = 128 ] || fail "a small heap: $(cat again.json)"
GPURT_HEAP_TRACE=1 "$bin/gpurt-record" -q -o storm.gplog -- "$app" storm
"$bin/gpurt-replay" --json -n 1 --shards 3 storm.gplog >again.json
for want in odd=0 left=0 refused=0 "served=$(json again.json allocs)" "frees=$(json again.json allocs)"; do
    [ "$(json again.json "${want%=*}")" = "${want#*=}" ] || fail "a storm, $want: $(cat again.json)"
done
[ "$(json again.json allocs)" -gt 500 ] || fail "a small storm: $(cat again.json)"
# By all policies at once: each serves all that the heap serves, looks at every byte of it, and stands beside the heap.
"$bin/gpurt-replay" --json -n 2 --policy all storm.gplog >again.json
tr '{' '\n' <again.json | grep '"policy"' >lines.json
[ "$(grep -o '"policy":"[a-z]*"' lines.json | cut -d'"' -f4 | xargs)" = 'heap cheap full first best worst pools arena' ] ||
    fail "the policies of $(cat again.json)"
while read -r line; do
    echo "$line" >line.json
    for want in refused=0 "served=$(json again.json allocs)" "looked_at=$(json again.json allocs)"; do
        [ "$(json line.json "${want%=*}")" = "${want#*=}" ] || fail "a policy, $want: $line"
    done
    [ "$(json line.json peak_used_bytes)" -ge "$(json line.json peak_asked_bytes)" ] || fail "less than was asked for: $line"
    [ "$(json line.json time_ns)" -gt 0 ] || fail "no time: $line"
    ! grep -q '"of_heap":null' line.json || fail "not beside the heap: $line"
done <lines.json
"$bin/gpurt-replay" -n 1 --policy best,arena storm.gplog >again
[ "$(awk '/^policy/ { on = 1; next } on && $0 != "" { print $1 }' again | xargs)" = 'best arena' ] || fail "$(cat again)"
for wrong in heaps 'heap,' 'heap,heap' ',heap' ''; do
    status=0
    "$bin/gpurt-replay" --policy "$wrong" storm.gplog 2>refused || status=$?
    [ "$status" = 2 ] || fail "--policy '$wrong' ended with $status"
    grep -q 'heap, cheap, full, first, best, worst, pools or arena' refused || fail "--policy '$wrong': $(cat refused)"
done
# A shape that a policy cannot have: which policy, and why.
refused() { # POLICY TEXT OPTION...
    local status=0
    "$bin/gpurt-replay" -n 1 "${@:3}" storm.gplog >again 2>refused || status=$?
    [ "$status" = 1 ] || fail "$*: ended with $status"
    [ "$(cat refused)" = "gpurt-replay: --policy $1: $2" ] || fail "$*: $(cat refused)"
}
refused first 'region: a granule of 17 bytes: a power of two from 16 on, or 0' --policy heap,first --granule 17
refused heap 'heap: run_chunks 3: a power of two up to 64, or 0' --run-chunks 3
refused heap 'heap: 1 byte is too few for a chunk and its tables: give 1 MiB' --policy all --bytes 1
refused best 'region: 1 byte is too few for a granule and its tables' --policy best --bytes 1
refused arena 'arena: a piece of 4000000 bytes does not fit into a heap of 3000000' \
    --policy heap,arena --piece 4000000 --bytes 3000000
! "$bin/gpurt-replay" clean.gplog 2>no-trace || fail 'a log without a trace was replayed'
grep -q 'GPURT_HEAP_TRACE=1' no-trace || fail 'no remedy is named'

# ---- a program that is killed: its heap's last state is in the log -------------------------------------------------------
mkfifo line
GPURT_HEAP_CHECKS=cheap GPURT_HEAP_VIEW=50 "$bin/gpurt-record" -q -o hold.gplog -- "$app" hold <line >number &
recorder=$!
exec 3>line
held=".objects | [.list[] | select(.class==\"holder\" and (.ended | not))] | length==1 and (.[0].fields |
    (.site | test(\"$kernels:[0-9]+$\")) and .objects==64 and .bytes==6400)"
all_held() { "$bin/gpurt-log" stat --json hold.gplog | jq -e "$held" >/dev/null; }
until_true 'all objects are in the log' all_held
kill -9 "$(cat number)"
exec 3>&-
wait "$recorder" || true
recorder=
"$bin/gpurt-log" stat --json hold.gplog >state.json
jq -e "($held) and (.objects.list[] | select(.class==\"heap\") | (.ended | not) and (.fields |
    .traced==\"no\" and .checks==\"cheap\" and .live==64 and .live_bytes==8192 and .chunks*65536==.bytes))" state.json >/dev/null ||
    fail "the state of a program that was killed: $(cat state.json)"
# The class may be the last that is defined: a filter that all fits counts it, too.
[ "$("$bin/gpurt-log" stat --json -F 'lvl>=event' hold.gplog | jq .sites)" = "$(jq .sites state.json)" ] || fail 'sites that fit'
# A look that came while more were live says "(most 65)".
"$bin/gpurt-log" stat hold.gplog >state.txt
grep -Eq '^heap .* live bytes 8.0 KiB( \(most [^)]*\))?, live 64( \(most [0-9]*\))?, checks cheap, traced no' state.txt ||
    fail "the state as text: $(cat state.txt)"
GPURT_HEAP_VIEW=off "$bin/gpurt-record" -q -o dark.gplog -- "$app" hold <empty >said
! "$bin/gpurt-log" stat dark.gplog | grep >/dev/null '^heap' || fail 'told of, though it was turned off'
