#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes that are recorded into one log at the same time, each with heaps, regions and arenas of the same numbers: what
# is told of each stays its own, and it is said whose it is; a trace that is made again is of one of them.
# Arguments: folder of the programs, heap_app.
# shellcheck disable=SC2016 # $a and $b are jq's, or those of a shell that is recorded
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
recorder=
clean() {
    exec 3>&- 4>&- || true
    [ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_TRACE GPURT_HEAP_CHECKS
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off GPURT_POLICY=block GPURT_HEAP_VIEW=50 XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8

fail() {
    echo "FAIL: $*" >&2
    cat state.json >&2 || true
    exit 1
}
# holds QUESTION: jq's answer to what state.json says of objects, `.list` being the heaps; $a and $b are the processes.
heaps='def of(c): [.list[] | select(.class==c)]; .objects | .holders=of("holder") | .list=of("heap")'
holds() { [ -s state.json ] && jq -e --argjson a "$(cat a.pid)" --argjson b "$(cat b.pid)" "$heaps | $1" state.json >/dev/null 2>&1; }
log_holds() { "$bin/gpurt-log" stat --json run.gplog >state.json && holds "$1"; }
top_holds() { "$bin/gpurt-top" --once --json -p "$1" >state.json && holds "$2"; }

# ---- two that run at the same time, and one that ends before the other -----------------------------------------------
mkfifo a.line b.line
GPURT_HEAP_CHECKS=cheap GPURT_HEAP_TRACE=1 "$bin/gpurt-record" -q -o run.gplog -- \
    sh -c '"$0" hold <a.line >a.pid & "$0" hold <b.line >b.pid & wait' "$app" &
recorder=$!
exec 3>a.line 4>b.line
until_true 'both have a heap' test -s a.pid -a -s b.pid
of_a='.list[]|select(.pid==$a)' of_b='.list[]|select(.pid==$b)'
both='.processes==2 and (.list|length)==2 and ([.list[].id]|unique|length)==1 and
    ([.holders[]|select(.fields.objects==64).pid]|unique|length)==2 and
    all(.list[].fields; .live==64 and .live_bytes==8192)'
until_true 'the heaps of both' log_holds "$both and ($of_a|.ended|not) and ($of_b|.ended|not)"
[ "$(cat a.pid)" != "$(cat b.pid)" ] || fail 'one process twice'
# Who looks at one of them sees one, though both are written into one log.
for which in a b; do
    until_true "$which by itself" top_holds "$(cat $which.pid)" ".processes==1 and (.list|length)==1 and .list[0].pid==\$$which"
    "$bin/gpurt-top" -b -n 1 -p "$(cat $which.pid)" >picture
    ! grep -q 'of process' picture || fail "a process by itself is named: $(cat picture)"
done
exec 3>&-
until_true 'the end of one' log_holds "$both and ($of_a|.ended) and ($of_b|.ended|not) and
    all(.holders[]|select(.pid==\$a); .ended)"
kill -9 "$(cat b.pid)"
exec 4>&-
wait "$recorder" || true
recorder=
log_holds "$both and ($of_a|.ended) and ($of_b|.ended|not)" || fail 'the last that was told'
"$bin/gpurt-log" stat run.gplog >text
live='live bytes 8.0 KiB( \(most [^)]*\))?, live 64( \(most [0-9]*\))?,' # a look may have come while more were live
grep -Eq "^heap .* of process $(cat a.pid), ended  .* $live" text || fail "$(cat text)"
grep -Eq "^heap .* of process $(cat b.pid)  .* $live" text || fail "$(cat text)"
# Which process comes first is by frame here, by time there.
sorted='.objects | .classes|=sort_by(.name) | .list|=sort_by(.class,.pid,.id)'
"$bin/gpurt-top" --once --json --replay run.gplog | jq -cS "$sorted" >again
jq -cS "$sorted" state.json | cmp - again || fail 'a replay differs'

# ---- the calls of one of them -----------------------------------------------------------------------------------------
replay() { "$bin/gpurt-replay" -n 1 "$@" run.gplog; }
heap=$(jq "$heaps | .list[0].id" state.json)
for which in a b; do
    replay --json --heap "$heap" --pid "$(cat $which.pid)" >state.json
    jq -e --argjson p "$(cat $which.pid)" '.pid==$p and .allocs==128 and .frees==64 and .left==64 and .odd==0 and
        (.heaps|length)==2 and all(.heaps[]; .calls==192)' state.json >/dev/null || fail "the trace of $which"
done
# With as many calls as the other, the one that made the first.
replay >text
first=$(replay --json | jq .pid)
other=$(($(cat a.pid) + $(cat b.pid) - first))
grep -q "^trace *heap $heap of process $first: 128 requests" text || fail "$(cat text)"
grep -q "^ *also: heap $heap of process $other (192 calls); --heap and --pid choose$" text || fail "$(cat text)"
status=0
replay --heap "$heap" 2>text || status=$?
[ "$status" = 1 ] || fail "a number of both ended with $status"
grep -q "^gpurt-replay: several processes have a heap $heap: say --pid and one of $first, $other$" text || fail "$(cat text)"
! replay --pid 1 2>text || fail 'the trace of a process that is not there'
grep -q "no calls of process 1 to a heap: say --pid and one of $first, $other$" text || fail "$(cat text)"

# ---- under gpurt-top, which writes a log of both, too -------------------------------------------------------------------
"$bin/gpurt-top" --once --json --output state.json --record top.gplog -- sh -c '"$0" storm & "$0" storm; wait' "$app"
jq -es '[.[]|select(.objects)]|length==2 and all(.[]; .objects.processes==1 and .objects.list[0].pid==.pid) and
    ([.[].pid]|unique|length)==2' state.json >/dev/null || fail 'two under gpurt-top'
"$bin/gpurt-log" stat --json top.gplog | jq -e '[.objects.list[].pid]|unique|length==2' >/dev/null || fail 'their log'

# ---- an example, twice, with other work ---------------------------------------------------------------------------------
[ -x "$bin/lists" ] || exit 0
rm -f run.gplog
"$bin/gpurt-record" -q -o run.gplog -- \
    sh -c '"$0" 20 20 >a & echo $! >a.pid; "$0" 7 60 >b & echo $! >b.pid; wait' "$bin/lists"
# What the program says of its region, as it was at its end; and arenas had a piece of 4 KiB each in every pass.
word() { sed -n "s/.* \([0-9]*\) $2.*/\1/p" "$1"; }
end() {
    local is=".pid==\$$1 and .ended"

    printf '%s' "(.objects.list|map(select($is and .class==\"heap\"))|length)==1 and
        (.objects.list|map(select($is and .class==\"region\" and .id==1 and (.fields|.name==\"lists\" and
            .blocks==$(word "$1" blocks) and (.used_bytes/1024|floor)==$(word "$1" KiB) and
            .holes==$(word "$1" holes))))|length)==1 and
        (.objects.list|map(select($is and .class==\"arena_source\" and .fields.taken_bytes==$2*512*4096))|length)==1"
}
count() { printf '%s' "([.objects.list[]|select(.class==\"$1\")]|length)"; }
"$bin/gpurt-log" stat --json run.gplog >stat.json
jq -e --argjson a "$(cat a.pid)" --argjson b "$(cat b.pid)" ".objects.processes==2 and $(count heap)==2 and $(count region)==2 and
    $(count arena_source)==2 and
    ([.objects.list[]|select(.class==\"heap\")|[.id,.pid]]|sort)==([.objects.list[]|select(.class==\"arena_source\")|[.fields.heap,.pid]]|sort) and
    $(end a 20) and $(end b 7)" stat.json >/dev/null || fail "what the programs said: $(cat a b stat.json)"
"$bin/gpurt-log" stat run.gplog >text
for which in a b; do
    for what in 'heap .* of process PID, ended ' 'region 1 of process PID, ended ' 'arena source 1 of process PID, ended '; do
        [ "$(grep -c "^${what/PID/$(cat $which.pid)}" text)" = 1 ] || fail "$what of $which: $(cat text)"
    done
done
