#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process with several devices open has a box for each: all programs find all of them, and one log takes all.
# Arguments: folder of the programs, the feeding application.
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
started=()
clean() {
    exec 7>&- 8>&- || true
    ((${#started[@]} == 0)) || kill -KILL "${started[@]}" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
export XDG_RUNTIME_DIR=$dir TZ=UTC LC_ALL=C.UTF-8
unset NO_COLOR GPURT_DRAIN GPURT_LOG

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
# expect STATUS COMMAND...: its output lies in out and err.
expect() {
    local status=0 want=$1
    shift
    "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want: $(cut -c1-600 err)"
}
runs() { pid=$(pgrep -n -P "$recorder" -x feed_app); }
# record WORD...: the feeding application under gpurt-record; sets recorder and pid.
record() {
    local log=$1
    shift
    "$bin/gpurt-record" -q -o "$log" -- "$app" "$@" <&0 &
    recorder=$!
    started+=("$recorder")
    until_true 'the program starts' runs
    started+=("$pid")
}
# shown: [device, records] of each box, as gpurt-top has them in order.
shown() { "$bin/gpurt-top" --once --json -p "$pid" | jq -c '[.devices[0].device,.records]' | tr -d '\n'; }
shows() { [ "$(shown)" = "$1" ]; }
each_panicked() {
    "$bin/gpurt-top" --once --json -p "$pid" |
        jq -es 'length == 3 and all(.panics == 1 and .state == "live")' >/dev/null
}
# by_device LOG: how many records of each device.
by_device() { "$bin/gpurt-log" cat --jsonl "$1" | jq .device | sort | uniq -c | awk '{printf "%s:%s ", $2, $1}'; }
box_links() { find "/proc/$pid/fd" -lname '/memfd:gpurt-box*' | sort -V; }
has_box() { box_links | grep .; }
# box_byte NUMBER BYTE: the first byte of a box becomes that.
box_byte() { printf '%s' "$2" | dd of="$(box_links | sed -n "$1p")" bs=1 conv=notrunc status=none; }

# ---- while gpurt-record drains them --------------------------------------------------------------------------------
record a.gplog 1000 boxes=3 panic hang
until_true 'all three are shown' shows '[0,1001][1,1002][2,1003]'
[ "$(cd gpurt && echo *)" = "$pid $pid.1 $pid.2" ] || fail "published as $(ls gpurt)"
until_true 'each has its panic' each_panicked # the panics come by another way than the records
expect 0 "$bin/gpurt-top" -b -n 2 -d 100ms -p "$pid"
[ "$(grep -c '^gpurt-top .* CPU 1 feed' out),$(grep -c '^gpurt-top ' out)" = 2,6 ] || fail "pictures: $(cat out)"

expect 0 "$bin/gpurt-panic" list -p "$pid"
grep -q '^3 panics at 1 site' out || fail "panics of a process: $(cat out)"
devices=$(for i in 1 2 3; do "$bin/gpurt-panic" show --json "$i" -p "$pid" | jq .device; done | sort -u | tr -d '\n')
[ "$devices" = 012 ] || fail "devices of the panics: $devices"
"$bin/gpurt-panic" watch --json -p "$pid" >watched &
started+=("$!")
until_true 'panics as they come' jq -es 'length == 3' watched

expect 0 "$bin/gpurt-log" level -p "$pid" 'warn,kernel.c=debug'
expect 0 "$bin/gpurt-log" level -p "$pid"
[ "$(cat out)" = 'warn,kernel.c=debug' ] || fail "levels that agree: $(cat out)"

# One is damaged: it is told of, and the others are reached.
box_byte 1 X
expect 1 "$bin/gpurt-log" level -p "$pid" error
grep -q 'not a gpurt box' err || fail "no word of the damaged one: $(cat err)"
expect 1 "$bin/gpurt-panic" list -p "$pid"
grep -q '^2 panics' out || fail "the others: $(cat out)"
box_byte 1 G
expect 0 "$bin/gpurt-log" level -p "$pid"
[ "$(cat out)" = 'device 0 (cpu, feed "8"): warn,kernel.c=debug
device 1 (cpu, feed "8"): error
device 2 (cpu, feed "8"): error' ] || fail "levels that differ: $(cat out)"

expect 1 "$bin/gpurt-drain" -p "$pid" -o no.gplog
[ ! -e no.gplog ] || fail 'a log of no box'
"$bin/gpurt-record" -q -o same.gplog -- "$app" 10
cp same.gplog before.gplog
expect 1 "$bin/gpurt-drain" -p "$pid" -o same.gplog
cmp same.gplog before.gplog || fail 'written without a box'
[ "$(grep -c 'is drained by process' err)" = 3 ] || fail "drained already: $(cat err)"
kill -KILL "$pid"
wait "$recorder" || true
[ "$(by_device a.gplog)" = '0:1001 1:1002 2:1003 ' ] || fail "in the log: $(by_device a.gplog)"
"$bin/gpurt-log" stat --json a.gplog |
    jq -e '.records == 3006 and .dropped == 0 and .panics == 3 and [.devices[].device] == [0, 1, 2]' >/dev/null ||
    fail "stat: $("$bin/gpurt-log" stat a.gplog)"
expect 0 "$bin/gpurt-panic" list a.gplog
grep -q '^3 panics' out || fail "panics of the log: $(cat out)"
expect 1 "$bin/gpurt-panic" list -p "$pid"

# ---- when the recorder has died ------------------------------------------------------------------------------------
record b.gplog 1000 boxes=2 panic hang
until_true 'both are shown' shows '[0,1001][1,1002]'
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
rm gpurt/* # of the dead one
# A drainer for the first alone, as gpurt_open starts one for each; it is published, the other is not.
mkfifo ready
exec 8<>ready
"$bin/gpurt-drain" --child -o b.gplog 3<>"$(box_links | sed -n 1p)" 4>&8
read -r -t 60 -u 8 answer
[ "$answer" = ok ] || fail "a drainer of one box: $answer"
until_true 'one is shown by its drainer, one looked at' \
    sh -c "'$bin/gpurt-top' --once --json -p $pid | jq -es 'map(.devices[0].device) == [0, 1]'"
"$bin/gpurt-drain" -p "$pid" -o c.gplog 2>err &
drainer=$!
started+=("$drainer")
until_true 'the other is published, too' [ -e "gpurt/$pid.1" ]
grep -q 'is drained by process' err || fail "the one that is taken: $(cat err)"
kill -KILL "$pid"
wait "$drainer" || fail "the drainer of the rest: $(cat err)"
until_true 'the first drainer ends' [ ! -e "gpurt/$pid" ]
[ "$("$bin/gpurt-log" cat b.gplog | wc -l)" = 2003 ] || fail "b.gplog: $("$bin/gpurt-log" stat b.gplog)"
[ "$("$bin/gpurt-log" cat c.gplog | wc -l)" = 0 ] || fail "c.gplog: $("$bin/gpurt-log" stat c.gplog)"
exec 8>&-

# One drainer for all that a process has, into the file that the dead one wrote.
record d.gplog 1000 boxes=2 panic hang
until_true 'both are shown' shows '[0,1001][1,1002]'
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
rm gpurt/*
"$bin/gpurt-drain" -p "$pid" -o d.gplog &
drainer=$!
started+=("$drainer")
# Not asked before they are there: gpurt-top would drain what nobody drains.
until_true 'both are published again' [ -e "gpurt/$pid.1" ]
until_true 'both are shown again' shows '[0,0][1,0]'
kill -KILL "$pid"
wait "$drainer" || fail 'gpurt-drain'
[ "$(by_device d.gplog)" = '0:1001 1:1002 ' ] || fail "once each: $(by_device d.gplog)"

# ---- devices that come and go --------------------------------------------------------------------------------------
mkfifo line
exec 7<>line
record e.gplog 1000 boxes=2 late shut hang <line
until_true 'the first is shown' shows '[0,1000]'
"$bin/gpurt-top" -b --json -d 100ms -o pictures -p "$pid" &
started+=("$!")
looker=$!
until_true 'it looks' [ -s pictures ]
echo >&7
until_true 'the second comes into the picture' \
    jq -es 'map([.devices[0].device, .records]) | index([[1, 1001]])' pictures
until_true 'the first is gone' shows '[1,1001]'
until_true 'it has ended for who looks' jq -es 'any(.devices[0].device == 0 and .state == "ended")' pictures
kill -0 "$looker" || fail 'the look ended with the first'
kill -KILL "$pid"
wait "$recorder" || true
until_true 'the look ends with the program' sh -c "! kill -0 $looker"
[ "$(by_device e.gplog)" = '0:1000 1:1001 ' ] || fail "e.gplog: $(by_device e.gplog)"

# A box that was just made is its drainer's, who is on the way: a look does not take it from him. Where the look itself is
# on the way for two seconds, it finds a box that nobody drains.
for ((try = 0; try < 5; try++)); do
    rm -f g.gplog pictures
    record g.gplog 100 slow shut <line
    until_true 'the box is there' has_box
    "$bin/gpurt-top" -b --json -d 100ms -o pictures -p "$pid" &
    looker=$!
    started+=("$looker")
    until_true 'it looks' [ -s pictures ]
    echo >&7
    wait "$recorder" || true
    until_true 'the look ends with the program' sh -c "! kill -0 $looker"
    [ "$(by_device g.gplog)" != '0:100 ' ] || break
done
[ "$(by_device g.gplog)" = '0:100 ' ] || fail "g.gplog: $(by_device g.gplog)"

# ---- gpurt-top runs it ---------------------------------------------------------------------------------------------
expect 0 "$bin/gpurt-top" --once --json -o one.json --record f.gplog -- "$app" 1000 boxes=2 panic
jq -c '[.devices[0].device, .records, .state]' one.json | tr -d '\n' >out
[ "$(cat out)" = '[0,1001,"ended"][1,1002,"ended"]' ] || fail "its own program: $(cat out)"
[ "$(by_device f.gplog)" = '0:1001 1:1002 ' ] || fail "f.gplog: $(by_device f.gplog)"
echo 'all well'
