#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Channels as objects of the log: live, as JSON, full with senders that wait; as text when they have ended.
# Broadcasts, rings of segments, unbounded channels, those of the host and those between devices likewise, when they have ended.
# Arguments: folder of the programs, the program that hangs over two channels, the example of each.
set -euo pipefail
bin=$1 app=$2 stages=$3 ticker=$4 hail=$5 tree=$6 clerk=$7 relay=$8
root=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../..
# shellcheck source=tests/scratch.sh
. "$root/tests/scratch.sh"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 TZ=UTC

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o run.gplog -- "$app" full >said &
recorder=$!
started+=("$recorder")
until_true 'the program never began' test -s said
channels='.objects.list | map(select(.class=="channel")) | sort_by(.id)'
told() { "$bin/gpurt-top" --once --json -p "$(head -1 said)" >live.json 2>/dev/null &&
    jq -e "$channels | length == 2 and .[0].fields.senders_waiting == 1" live.json >/dev/null; }
until_true 'gpurt-top never told of them' told
jq -e "$channels | (.[0].fields | .name == \"left\" and .state == \"open\" and .policy == \"block\" and .capacity == 2 and
    .depth == 2 and .sent == 2 and .received == 0 and .dropped == 0 and .message == 4) and
    .[0].full_percent == 100 and (.[1].fields | .name == \"right\" and .depth == 0 and .receivers_waiting == 1)" \
    live.json >/dev/null || fail "$(jq "$channels" live.json)"
kill "$(head -1 said)"
wait "$recorder" || true
started=()

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o ended.gplog -- "$stages" 3000 >/dev/null
"$bin/gpurt-log" cat ended.gplog >cat.txt
for text in 'channel 1: name numbers, state closed, policy block, capacity 1024, depth 0, message 4 B, sent 3000, received 3000, dropped 0' \
    'channel 2: name squares, state closed, policy block, capacity 256, depth 0, message 8 B, sent 3000, received 3000, dropped 0'; do
    grep -qF -- "$text" cat.txt || fail "no '$text' in $(cat cat.txt)"
done

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o ticker.gplog -- "$ticker" 3000 >/dev/null
"$bin/gpurt-log" cat ticker.gplog >ticker.txt
text='broadcast 1: name ticks, state closed, policy block, capacity 256, depth 0, message 8 B, seats 64, readers 0, slowest lag 0, sent 3000, received 12000, lost 0'
grep -qF -- "$text" ticker.txt || fail "no '$text' in $(cat ticker.txt)"

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o hail.gplog -- "$hail" 300 >/dev/null
"$bin/gpurt-log" cat hail.gplog >hail.txt
text='segring 1: name hail, state closed, policy block, capacity 1048576 B, used 0 B, depth 0, reserved 300, read 300, lost 0, torn 0, aborted 0'
grep -qF -- "$text" hail.txt || fail "no '$text' in $(cat hail.txt)"

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o tree.gplog -- "$tree" 8 >/dev/null
"$bin/gpurt-log" cat tree.gplog >tree.txt
text='unbounded 1: name nodes, state closed, policy fail, segments most 16384, segments 1, memory 1040 B, depth 0, message 8 B, sent 511, received 511, dropped 0'
grep -qF -- "$text" tree.txt || fail "no '$text' in $(cat tree.txt)"

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o clerk.gplog -- "$clerk" 300 >/dev/null
"$bin/gpurt-log" cat clerk.gplog >clerk.txt
for text in 'hostchannel 1: name requests, way to_device, state closed, policy block, capacity 64, depth 0, message 8 B, sent 300, received 300, dropped 0' \
    'hostchannel 2: name replies, way to_host, state closed, policy block, capacity 64, depth 0, message 8 B, sent 300, received 300, dropped 0'; do
    grep -qF -- "$text" clerk.txt || fail "no '$text' in $(cat clerk.txt)"
done

GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o relay.gplog -- "$relay" 300 >/dev/null
"$bin/gpurt-log" cat relay.gplog >relay.txt
for text in 'name out, end receives, state closed, policy block, capacity 256, depth 0, message 4 B, sent 300, received 300, dropped 0' \
    'name out, end sends, state closed, policy block, capacity 256, depth 0, message 4 B, sent 300, received 300, dropped 0'; do
    grep -q "peerchannel [0-9]*.*: $text" relay.txt || fail "no '$text' in $(cat relay.txt)"
done
