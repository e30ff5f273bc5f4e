#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt-record and gpurt-log from the outside: every way an application can end, and the
# contracts of their output. Arguments: folder of the programs, the feeding application.
set -euo pipefail
bin=$1 app=$2
# shellcheck source=tests/scratch.sh
. "${BASH_SOURCE[0]%/*}/../scratch.sh"
# A sanitizer in the feeding application must not take its signals.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0 TSAN_OPTIONS=handle_segv=0:handle_abort=0

# field NAME FILE: a number out of `stat --json`.
field() { "$bin/gpurt-log" stat --json "$2" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }

# expect STATUS RECORDS APP-ARGUMENT...: runs and compares.
expect() {
    local status=0 want=$1 records=$2
    shift 2
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "$app" "$@" || status=$?
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want"
    [ "$(field records run.gplog)" = "$records" ] || fail "'$*': $(field records run.gplog) records, not $records"
    [ "$(field dropped run.gplog)" = 0 ] || fail "'$*': dropped"
    "$bin/gpurt-log" verify run.gplog >/dev/null || fail "'$*': verify"
    zstd -t -q run.gplog || fail "'$*': zstd -t"
}

# The last words of one that keeps them: scripts read this line. It says nothing of a collector where there is none.
rm -f run.gplog
"$bin/gpurt-record" -o run.gplog -- "$app" 300 2>said >out || fail "$(cat said)"
grep -Eqx 'gpurt-record: 300 records, 0 lost, 0 panics in run\.gplog \([0-9]+ bytes\)' said || fail "last words: $(cat said)"
[ "$(wc -l <said)" = 1 ] || fail "more than a line: $(cat said)"
# --print: the same lines on standard error as they come, and the log all the same; a level is one of the printing alone.
rm -f run.gplog
"$bin/gpurt-record" -q --print -o run.gplog -- "$app" 300 panic 2>said >out || fail "--print: $(cat said)"
[ "$(sort said)" = "$("$bin/gpurt-log" cat run.gplog | sort)" ] || fail "--print: $(wc -l <said) lines"
rm -f run.gplog
"$bin/gpurt-record" -q --print-level error -o run.gplog -- "$app" 300 2>said || fail "--print-level: $(cat said)"
[ "$(sort said)" = "$("$bin/gpurt-log" cat --level error run.gplog | sort)" ] || fail "--print-level: $(wc -l <said) lines"
[ "$(field records run.gplog)" = 300 ] || fail "a level of the printing is none of the log"
# Nobody reads what it says: the program, its status and its log are as ever. Nor does anybody else ignore that signal.
unread() { # STATUS WORDS-OF-GPURT-RECORD...
    local status=0
    rm -f run.gplog
    { "$bin/gpurt-record" "${@:2}" 2>&1 || echo $? >&3; } 3>status | true
    status=$(cat status)
    [ "${status:-0}" = "$1" ] || fail "a reader that left: status $status, not $1"
    "$bin/gpurt-log" verify run.gplog >said || fail "a reader that left: $(cat said)"
    grep -q ', closed$' said || fail "a reader that left: $(cat said)"
}
unread 0 -q --print -o run.gplog -- "$app" 30000
[ "$(field records run.gplog)" = 30000 ] || fail "a reader that left: $(field records run.gplog) records"
# shellcheck disable=SC2016
unread 137 -o run.gplog -- bash -c '"$@"; kill -KILL $$' bash "$app" 300
rm -f run.gplog
# shellcheck disable=SC2016
"$bin/gpurt-record" -q -o run.gplog --exec-on-panic 'sh -c "kill -PIPE \$\$"; echo $? >hooked' -- \
    bash -c '"$@" >/dev/null; sh -c "kill -PIPE \$\$"; echo $? >ran' bash "$app" 10 panic 2>said || fail "$(cat said)"
[ "$(cat hooked ran)" = $'141\n141' ] || fail "a signal that only we ignore: $(cat hooked ran)"
# Without standard error no other file gets its number, and the program runs.
for words in '-q --print' '--restart 1 --restart-delay 10ms'; do
    read -ra before <<<"$words"
    rm -f run.gplog
    status=0
    # shellcheck disable=SC2016
    "$bin/gpurt-record" "${before[@]}" -o run.gplog -- bash -c '"$@"; kill -KILL $$' bash "$app" 300 2>&- || status=$?
    [ "$status" = 137 ] || fail "$words without standard error: $status"
    "$bin/gpurt-log" verify run.gplog >said 2>&1 || fail "$words without standard error: $(cat said)"
    [ "$(field records run.gplog)" -ge 300 ] || fail "$words without standard error: $(cat said)"
done
# What is lost comes with a remedy; an option that does nothing is refused by its name.
rm -f run.gplog
"$bin/gpurt-record" -o run.gplog -- "$app" 400000 drop 2>said || fail "$(cat said)"
grep -q 'GPURT_RING_BYTES=N, to wait instead: GPURT_POLICY=block' said || fail "a loss without a remedy: $(cat said)"
for words in '--restart-delay 1 true' '--level info -p 1' '--print-level loud true'; do
    read -ra wrong <<<"$words"
    status=0; "$bin/gpurt-record" "${wrong[@]}" 2>said || status=$?
    if [ "$status" != 125 ] || [ "$(wc -l <said)" != 1 ]; then fail "gpurt-record $words: $status, $(cat said)"; fi
done
# One is no plural.
"$bin/gpurt-record" -o one.gplog -- "$app" 1 2>said || fail "one record: $(cat said)"
for view in overview log panics sites gpu heaps; do "$bin/gpurt-top" -b -v $view --replay one.gplog; done >>said
"$bin/gpurt-log" stat one.gplog >>said
! grep -E '(^|[ (])1 (record|line|panic|site|frame|byte|kernel|object|lane)s' said || fail 'one is no plural'
# Who is not heard is told of, in case it is the program that the log should have; not for ever, for anybody can come.
rm -f run.gplog
"$bin/gpurt-record" -q -o run.gplog -- "$app" 100 strangers=6 2>said || fail "strangers: $(cat said)"
[ "$(field records run.gplog)" = 100 ] || fail "records beside strangers: $(field records run.gplog)"
[ "$(grep -c '^gpurt-record: not recorded: .*without a box' said)" = 4 ] || fail "of six strangers: $(cat said)"
expect 0 20000 20000
expect 3 5000 5000 exit=3
expect 137 7000 7000 kill=9
expect 139 7000 7000 kill=11
expect 134 7000 7000 kill=6
expect 0 5000 5000 close
expect 0 5000 5000 daemon
expect 0 0 0
expect 0 101 100 panic
[ "$(field panics run.gplog)" = 1 ] || fail "one panic"
"$bin/gpurt-log" cat run.gplog | grep >/dev/null 'PANIC .*message 70211 of ring 65536' || fail "the panic's message"

# Lines are records; fields are the contract; order is that of time.
expect 0 30000 30000
"$bin/gpurt-log" cat --jsonl run.gplog > lines
[ "$(wc -l < lines)" = 30000 ] || fail "$(wc -l < lines) lines"
head -1 lines | grep -Eq '^\{"ts_ns":[0-9]+,"level":"INFO","pid":[0-9]+,"device":0,"back_end":"cpu","sm":[0-9]+,"slot":[0-9]+,"block":[0-9]+,"warp":[0-9]+,"lanes":4294967295,"file":"feed/kernel.c","line":[0-9]+,"kind":"log","msg":"message [0-9]+ of ring [0-9]+"\}$' ||
    fail "fields: $(head -1 lines)"
sed 's/{"ts_ns":\([0-9]*\).*/\1/' lines | sort -nc || fail "order of time"
"$bin/gpurt-log" stat --json run.gplog | grep >/dev/null -E '^\{"records":30000,"dropped":0,"sites":8,"panics":0,"frames":[0-9]+,"torn_frames":0,"bytes":[0-9]+,"first_ns":[0-9]+,"last_ns":[0-9]+,"back_end":"cpu","device":"feed \\"8\\"","programs":\[\{"number":0,"pid":[0-9]+,"name":"feed_app"\}\]\}$' ||
    fail "stat: $("$bin/gpurt-log" stat --json run.gplog)"
[ "$("$bin/gpurt-log" tail -n 25 run.gplog | wc -l)" = 25 ] || fail "tail"
"$bin/gpurt-log" tail -n 1 run.gplog | grep >/dev/null 'message 29999' || fail "the last one"
[ "$("$bin/gpurt-log" cat --level error run.gplog | grep -vc ERROR)" = 0 ] || fail "level"

# A device of each back end with one number: their lines differ, in text and for machines.
"$bin/gpurt-record" -q -o both.gplog -- "$app" 10
[ "$("$bin/gpurt-log" cat both.gplog | grep -c ' dev0 sm')" = 10 ] || fail "one device is dev0: $("$bin/gpurt-log" cat both.gplog | head -1)"
"$bin/gpurt-record" -q -a -o both.gplog -- "$app" 20 cuda
"$bin/gpurt-log" cat both.gplog > lines
[ "$(grep -c ' cpu0 sm' lines) $(grep -c ' dev0 sm' lines)" = '10 20' ] || fail "both back ends: $(cut -c1-40 lines | sort | uniq -c)"
for command in 'cat --jsonl both.gplog' 'export --to jsonl both.gplog -o -'; do
    read -ra words <<<"$command"
    "$bin/gpurt-log" "${words[@]}" > lines
    [ "$(grep -c '"device":0,\(.*,\)\?"back_end":"cpu"' lines) $(grep -c '"device":0,\(.*,\)\?"back_end":"cuda"' lines)" = '10 20' ] || fail "both: $command"
done
"$bin/gpurt-log" export --to csv both.gplog -o - > lines
[ "$(grep -c ',0,"cpu",' lines) $(grep -c ',0,"cuda",' lines)" = '10 20' ] || fail "both: csv"
[ "$(awk -F, 'NR > 1 { print $4 }' lines | sort -u | wc -l)" = 2 ] || fail "both: csv has pids $(awk -F, '{ print $4 }' lines | sort -u)"
"$bin/gpurt-log" export --to chrome both.gplog -o - > lines
[ "$(grep -o '"[CG]PU 0, feed' lines | sort | tr -d '\n')" = '"CPU 0, feed"GPU 0, feed' ] || fail "both: tracks $(grep PU lines)"

# Appending; refusing to overwrite; a follower sees everything.
"$bin/gpurt-record" -q -a -o run.gplog -- "$app" 500 >/dev/null
[ "$(field records run.gplog)" = 30500 ] || fail "append"
status=0; "$bin/gpurt-record" -o run.gplog -- "$app" 5 2>message || status=$?
if [ "$status" != 125 ] || [ "$(wc -l < message)" != 1 ]; then fail "overwrite: $status"; fi
rm run.gplog
"$bin/gpurt-record" -q -o run.gplog -- "$app" 1000 hang & recorder=$!
started+=("$recorder")
until_true 'there is a log' "$bin/gpurt-log" stat run.gplog
"$bin/gpurt-log" tail -f -n 100000 run.gplog > followed & follower=$!
started+=("$follower")
followed() { [ "$(wc -l < followed)" = "$1" ]; }
until_true 'the follower has seen all' followed 1000
kill -TERM "$recorder"
status=0; wait "$recorder" || status=$?
[ "$status" = 143 ] || fail "passed-on SIGTERM: $status"
wait "$follower"
[ "$(wc -l < followed)" = 1000 ] || fail "followed $(wc -l < followed)"

# Dropping is told; wrong use.
rm -f run.gplog
"$bin/gpurt-record" -q -o run.gplog -- "$app" 400000 drop
[ "$(( $(field records run.gplog) + $(field dropped run.gplog) ))" = 400000 ] || fail "records and losses add up"
status=0; "$bin/gpurt-record" -q -o a.gplog -- ./nothing 2>/dev/null || status=$?
[ "$status" = 127 ] || fail "not found: $status"
status=0; "$bin/gpurt-record" -q -o b.gplog -- /etc/passwd 2>/dev/null || status=$?
[ "$status" = 126 ] || fail "not executable: $status"
status=0; "$bin/gpurt-record" -q -o /nonexistent/x -- "$app" 2>/dev/null || status=$?
[ "$status" = 125 ] || fail "no folder: $status"
# One that cannot be started leaves files as they were, links too.
: >there.gplog
ln -s aim.gplog link.gplog
for name in new link there; do
    for words in "record -q -o $name.gplog" "top -b -o drawn --record $name.gplog"; do
        read -ra command <<<"$words"
        status=0; "$bin/gpurt-${command[0]}" "${command[@]:1}" -- ./nothing 2>message || status=$?
        [ "$status" = 127 ] || fail "gpurt-$words: $status, $(cat message)"
    done
done
[[ ! -e new.gplog && ! -e aim.gplog && -L link.gplog && -e there.gplog && ! -s there.gplog && ! -e drawn ]] ||
    fail "left behind: $(ls -l)"
"$bin/gpurt-record" -q -o there.gplog -- "$app" 10
cp there.gplog before.gplog
status=0; "$bin/gpurt-record" -q -a -o there.gplog -- ./nothing 2>message || status=$?
cmp there.gplog before.gplog || fail 'appended without a program'
for arguments in "" "cat" "dance run.gplog" "cat a b" "repair run.gplog"; do
    read -ra words <<<"$arguments"
    status=0; "$bin/gpurt-log" "${words[@]}" 2>/dev/null || status=$?
    [ "$status" = 2 ] || fail "gpurt-log $arguments: $status"
done

# Damage: cut and flipped.
size=$(stat -c %s run.gplog)
head -c $((size * 2 / 3)) run.gplog > cut.gplog
status=0; "$bin/gpurt-log" verify cut.gplog >/dev/null || status=$?
if [ "$status" != 1 ] || [ "$(field torn_frames cut.gplog)" != 1 ]; then fail "cut"; fi
status=0; (ulimit -S -f 4; "$bin/gpurt-log" repair cut.gplog -o mended.gplog) >/dev/null 2>message || status=$?
[ "$status" = 1 ] || fail "a full disk: $status"
grep -q 'writing mended.gplog: File too large; free some space' message || fail "a full disk: $(cat message)"
[ ! -e mended.gplog ] || fail 'a piece of a mended log'
"$bin/gpurt-log" repair cut.gplog -o mended.gplog >/dev/null
"$bin/gpurt-log" verify mended.gplog >/dev/null || fail "mended"
[ "$(field records mended.gplog)" = "$(field records cut.gplog)" ] || fail "mended holds what cut held"
zstd -dcq mended.gplog >/dev/null || fail "zstd -dc mended"
byte=$(od -An -tu1 -j $((size / 2)) -N 1 run.gplog) # another one, whichever it is
# shellcheck disable=SC2059  # the format is the byte
printf "\\x$(printf %02x $((255 - byte)))" | dd of=run.gplog bs=1 seek=$((size / 2)) conv=notrunc status=none
status=0; "$bin/gpurt-log" verify run.gplog >/dev/null || status=$?
[ "$status" = 1 ] || fail "flipped: $status"
# One that is in a frame's first words leaves no frame there, but stray bytes.
[ "$(field torn_frames run.gplog)" -le 1 ] || fail "flipped"
echo "all well"
