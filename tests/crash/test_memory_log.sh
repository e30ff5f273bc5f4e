#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Heaps, regions, arenas, pools and tables of reclamation: what gpurt-log and gpurt-top say of them is what the program
# knows, while its kernel runs, after that, at its end, in a replay and after it was killed.
# Arguments: folder of the programs, memory_app.
# shellcheck disable=SC2016 # $k is jq's
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
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW GPURT_HEAP_CHECKS
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8

fail() {
    echo "FAIL: $*" >&2
    cat said state.json >&2 || true
    exit 1
}
line() { sed -n "s/^$1 //p" said; }
come() { until_true "never: $*" "$@"; }
said() { [ -n "$(line "$1")" ]; }
# What the program said, as jq sees it.
known() { sed -n 's/^\([a-z_]*\) \([0-9]*\)$/"\1":\2/p' said | paste -sd, | sed 's/.*/{&}/'; }
# holds STATE QUESTION: jq's answer, $k being what the program knows, arenas and references what the log has of such
# objects.
objects='def of(c): [.objects.list[] | select(.class==c)] | sort_by(.id);
    of("arena_source") as $arenas | of("ref_table") as $refs | of("region") as $regions |
    of("lock") as $locks | of("phaser") as $phasers | {list: of("heap")}'
holds() { [ -s "$1" ] && jq -e --argjson k "$(known)" "$objects | $2" "$1" >/dev/null 2>&1; }
log_look() { "$bin/gpurt-log" stat --json run.gplog >state.json 2>/dev/null || true; }
top_look() { "$bin/gpurt-top" --once --json -p "$(line pid)" >state.json 2>/dev/null || true; }
seen() { "$1" && holds state.json "$2"; }

region='$regions[0] | .id==1 and (.fields | .name=="scratch \"1\"" and .fit=="best" and .granule==256 and
    .used_bytes==$k.used and .blocks==$k.blocks and .full==1 and .wrong==1 and
    .refused==0 and .not_in_place==1 and .looking==0 and (.map|length)==128 and .map[0]>0)'
arenas='$arenas[0] | .id==1 and .full_percent==100 and (.fields | .arenas==$k.arenas and .pieces==$k.pieces and
    .bytes==1024*$k.pieces and .largest_bytes==3072 and .taken_bytes==.bytes and .refused==$k.no_slot and .slots==60)'
wide='$arenas[1] | .id==2 and (.fields | .arenas==64 and .pieces==64 and .bytes==65536 and .slots==65536 and .refused==0)'
pools='.list[0].fields | .served_by_thread==$k.got_thread and .served_by_warp==$k.got_warp and
    .served_by_block==$k.got_block and .served_by_heap==$k.got_heap and .returned_to_thread==$k.put_thread and
    .returned_to_warp==$k.put_warp and .returned_to_block==$k.put_block and .returned_to_heap==$k.put_heap'
refs='$refs[0].fields | .objects==$k.refs and .freed==32 and .refused==0 and .wrong==0'
all="($region) and ($arenas) and ($wide) and ($pools) and ($refs) and \$arenas[0].fields.heap==.list[0].id and
    .list[0].fields.live>0"
locks='($locks|length==1) and ($phasers|length==1) and ($locks[0].fields | .name=="door" and .kind=="mutex" and
    .state=="held" and .holders==1 and .waiters==0) and
    ($phasers[0].fields | .name=="round" and .state=="whole" and .members==3 and .arrived==1 and .phases==2)'
alive='all($regions[],$arenas[],$refs[],$locks[],$phasers[],.list[]; .ended|not)'

begin() {
    rm -f line said run.gplog
    mkfifo line
    GPURT_HEAP_VIEW=50 "$bin/gpurt-record" -q -o run.gplog -- "$app" <line >said &
    recorder=$!
    exec 3>line
    come said pid
}

# While the kernel runs: in the log, and live.
begin
for want in arenas=60 no_slot=4 pieces=180 blocks=48 refs=32; do
    [ "$(line "${want%=*}")" = "${want#*=}" ] || fail "what the kernel holds: $want"
done
[ "$(line got_thread)" -gt 1000 ] || fail 'pockets that serve nobody'
come seen log_look "$all and $locks and $alive"
come seen top_look "$all and $locks and $alive"
"$bin/gpurt-top" -b -n 1 -p "$(line pid)" >picture
tr -s ' \n' ' ' <picture >folded
grep -q 'region 1 name scratch "1", fit best, granule 256 B, .* blocks 48' folded || fail "$(cat picture)"
grep -q 'arena source 1 heap [0-9]*, slots 60, arenas 60, pieces 180, bytes 180.0 KiB' folded || fail "$(cat picture)"
grep -q 'ref table [0-9]* heap [0-9]*, records [0-9]*, objects 32' folded || fail "$(cat picture)"
grep -q 'heap [0-9]* bytes .* served by thread [1-9]' folded || fail "$(cat picture)"

# After it: arenas are gone, but not how large they were; of the region as its own statistics say.
echo >&3
come said end
after='($arenas[0] | (.fields | .arenas==0 and .pieces==0 and .bytes==0) and .peaks.bytes==1024*$k.pieces and
    .fields.taken_bytes==.peaks.bytes) and
    ($regions[0].fields | .bytes==$k.bytes and .used_bytes==$k.live_bytes and .holes==$k.holes and
    .largest_free_bytes==$k.largest)'
come seen log_look "$after and $alive"
[ "$(line holes)" -gt 10 ] || fail 'a region without holes'
[ "$(line large_holes)" -gt 20 ] || fail 'a large region without holes'

# At its end, and in a replay.
exec 3>&-
wait "$recorder"
recorder=
log_look
large='$regions[1] | .id==2 and (.fields | .name==null and .fit=="first" and .used_bytes==$k.large_bytes and
    .blocks==$k.large_blocks and .holes==$k.large_holes and .largest_free_bytes==$k.large_largest)'
holds state.json "$after and ($large) and all(\$regions[],\$arenas[],\$refs[],\$locks[],\$phasers[],.list[]; .ended) and
    \$locks[0].fields.state==\"free\"" || fail 'the end'
jq -cS .objects state.json >a
"$bin/gpurt-top" --once --json --replay run.gplog | jq -cS .objects >b
cmp a b || fail 'a replay differs'
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^region 1, ended  name scratch' || fail 'as text'

# One that is killed leaves what was told last.
begin
come seen log_look "$all"
kill -9 "$(line pid)"
exec 3>&-
wait "$recorder" || true
recorder=
log_look
holds state.json "$all and $alive" || fail 'after a kill'

# Turned off: of nothing.
GPURT_HEAP_VIEW=off "$bin/gpurt-record" -q -o off.gplog -- "$app" </dev/null >said
"$bin/gpurt-log" stat --json off.gplog | jq -e 'has("objects")|not' >/dev/null || fail 'told of, though it was turned off'

# Beside programs that make, fill, sweep, compact and end such things all the time: neither minds the other.
for other in test_arena test_gc; do
    [ -x "$(dirname "$app")/$other" ] || continue
    PATH=$bin:$PATH GPURT_LOG=$other.gplog GPURT_HEAP_VIEW=10 "$(dirname "$app")/$other" >said || fail "$other"
    "$bin/gpurt-log" stat --json "$other.gplog" | jq -e '[.objects.list[]|select(.class=="heap")]|length>0' >/dev/null || fail "$other in its log"
done
