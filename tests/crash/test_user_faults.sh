#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong around a program that logs: no room, no right, two drainers, forks, execs, a kernel without end. Each
# time the program goes on, what was logged is in the file or said to be missing, and one line says why.
# Arguments: folder of the programs, the feeding application, test_fork.
set -euo pipefail
bin=$1 app=$2 forks=$3
dir=$(mktemp -d)
recorder='' pid=''
cleanup() {
    [[ ! $pid ]] || kill -KILL "$pid" 2>/dev/null || true
    [[ ! $recorder ]] || kill -INT -"$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap cleanup EXIT
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF
export GPURT_BACKEND=cpu XDG_RUNTIME_DIR=$dir

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
field() { "$bin/gpurt-log" stat --json "$2" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
same() { [ "$1" = "$2" ] || fail "$3: '$2', not '$1'"; }
# expect STATUS LINE COMMAND...: exit status, and LINE is part of what it says on standard error, at most a line beside
# the program's own about a panic.
expect() {
    local status=0
    "${@:3}" >out 2>errors </dev/null || status=$?
    same "$1" "$status" "exit status of '${*:3}' ($(cat errors))"
    [[ ! $2 ]] || grep -Fq -- "$2" errors || fail "'${*:3}' says '$(cat errors)', not '$2'"
    [ "$(grep -vc '^gpurt: panic at ' errors)" -le 1 ] || fail "'${*:3}' says more than a line: $(cat errors)"
}
# limited KIB COMMAND...: files of at most so many KiB for it; `free` in front of a command takes the limit away.
limited() (
    ulimit -S -f "$1"
    "${@:2}"
)
# shellcheck disable=SC2016
free=(bash -c 'ulimit -S -f unlimited; exec "$@"' free)

# A folder in which nothing may be made, root or not.
expect 125 '/sys/run.gplog: Permission denied' "$bin/gpurt-record" -o /sys/run.gplog -- "$bin/hello_log"
expect 125 '/sys/run.gplog: Permission denied' "$bin/gpurt-top" -b --record /sys/run.gplog -- "$bin/hello_log"
expect 0 '' env GPURT_LOG=/sys/run.gplog "$bin/hello_log"
grep -Fq 'no log: /sys/run.gplog: Permission denied' out || fail "not told: $(cat out)"

# A file there that is another user's, who reads and cuts what he likes. (One who is not root has no other users' files.)
if [ "$(id -u)" = 0 ]; then
    theirs='another.gplog: the file belongs to user 65532'
    touch another.gplog
    chmod 666 another.gplog
    chown 65532 another.gplog
    expect 125 "$theirs" "$bin/gpurt-record" -o another.gplog -- "$bin/hello_log"
    expect 125 "$theirs" "$bin/gpurt-record" -a -o another.gplog -- "$bin/hello_log"
    expect 125 "$theirs" "$bin/gpurt-top" -b --record another.gplog -- "$bin/hello_log"
    expect 0 "nothing is logged: GPURT_LOG=another.gplog: $theirs" env GPURT_LOG=another.gplog "$bin/hello_log"
    expect 0 "GPURT_CHECK_REPORT: nothing is written: $theirs" env GPURT_CHECK_REPORT=another.gplog "$bin/hello_log"
    [ ! -s another.gplog ] || fail 'written nevertheless'
fi
mkfifo fifo
expect 125 'fifo is not a regular file' "$bin/gpurt-record" -o fifo -- "$bin/hello_log"

# A file that is taken away meanwhile takes the records with it, and one that was moved has them.
expect 125 'gone.gplog was deleted while it was recorded: 4 records are gone with it' "$bin/gpurt-record" -q -o gone.gplog -- \
    bash -c "$bin/hello_log; rm gone.gplog"
expect 125 "away.gplog was moved while it was recorded: 4 records are in $PWD/there.gplog" "$bin/gpurt-record" -o away.gplog -- \
    bash -c "$bin/hello_log; mv away.gplog there.gplog"
same 4 "$(field records there.gplog)" 'moved'
expect 125 'gone.gplog was deleted while it was recorded: 4' "$bin/gpurt-top" --once -o picture --record gone.gplog -- \
    bash -c "$bin/hello_log; rm gone.gplog; echo x >gone.gplog"
rm gone.gplog
# Nor is one whole that was cut meanwhile, though what comes later makes it as long again.
expect 125 'short.gplog was cut while it was recorded: not all of 8 records are in it' "$bin/gpurt-record" -q -o short.gplog -- \
    bash -c "$bin/hello_log; until $bin/gpurt-log cat short.gplog | grep hello; do sleep 0.02; done; : >short.gplog; $bin/hello_log"

# Of two that begin at once one is refused, and takes nothing away.
for _ in {1..12}; do
    "$bin/gpurt-record" -q -o race.gplog -- "$bin/hello_log" >out 2>errors &
    "$bin/gpurt-record" -q -o race.gplog -- "$bin/hello_log" >out.other 2>errors.other || true
    wait $! || true
    same 4 "$(field records race.gplog)" "records of one of two ($(cat errors errors.other))"
    rm race.gplog
done

# A file that cannot grow any more: a full disk. Programs end as they would; what is there can be read.
expect 125 'full.gplog is not whole: log: writing' limited 16 "$bin/gpurt-record" -o full.gplog -- \
    "${free[@]}" "$bin/pipeline" 40
grep -q 'File too large; free some space' errors || fail "$(cat errors)"
[ "$(field records full.gplog)" -gt 100 ] || fail "$(field records full.gplog) records before the disk was full"
expect 7 'bad.gplog is not whole' limited 4 "$bin/gpurt-record" -o bad.gplog -- "${free[@]}" "$app" 100000 drop exit=7
# The drainer that a program starts itself has nobody else to tell.
mkdir alone
cp "$bin/pipeline" alone/
printf '#!/bin/bash\nulimit -S -f 8\nexec %q "$@"\n' "$bin/gpurt-drain" >alone/gpurt-drain
chmod +x alone/gpurt-drain
expect 0 'the log of GPURT_LOG is not whole: log: writing' env GPURT_LOG=own.gplog alone/pipeline 20
# gpurt-top's screen needs 3.1 MB of shared memory, which counts as a file. Programs log until the log, too, ends there:
# some six of them, or more on a machine so busy that most messages wait in vain.
# shellcheck disable=SC2016
until_full=(bash -c 'ulimit -S -f unlimited
    size() { stat -c %s screen.gplog; }
    until ((${before:-0} > 2500000 && $(size) == before)); do
        before=$(size)
        "$@" || exit
    done' until_full)
expect 125 '' limited 3100 env GPURT_POLICY=block "$bin/gpurt-top" --once -o picture --record screen.gplog -- \
    "${until_full[@]}" "$bin/log_storm" 64 256 30
grep -q 'screen.gplog is not whole: log: writing' errors || fail "$(cat errors)"
grep -q 'ended with status 0' picture || fail 'the picture goes on'
[ "$(field torn_frames screen.gplog)" -le 1 ] || fail 'torn'

# Shared memory that is too small for the box: who recorded hears it, too.
status=0
limited 64 "$bin/gpurt-record" -o small.gplog -- "$bin/hello_log" >out 2>errors || status=$?
same 125 "$status" 'a box without room'
grep -q '^gpurt-record: small.gplog is not whole: a program made no box: .*ulimit -f' errors || fail "$(cat errors)"
rm small.gplog
expect 125 'log: writing' limited 1 "$bin/gpurt-record" -o small.gplog -- "$bin/hello_log"
[ ! -e small.gplog ] || fail 'a piece of a log is left'
expect 0 '' limited 64 env GPURT_LOG=small.gplog "$bin/hello_log"
grep -Fq 'no log: box: ' out || fail "a box without room: $(cat out)"
expect 0 '' env GPURT_RING_BYTES=1024 GPURT_LOG=small.gplog "$bin/hello_log"
same 4 "$(field records small.gplog)" 'a small box'

# Two drainers on one box: the second is refused, the first loses nothing.
"$bin/gpurt-record" -q -o first.gplog -- "$app" 1000 hang &
recorder=$!
has_records() { [ "$(field records "$1")" -ge "$2" ]; }
until_true 'the first drainer has all' has_records first.gplog 1000
pid=$(cut -d' ' -f1 "/proc/$recorder/task/$recorder/children")
for log in second there; do
    expect 1 'drained by process' "$bin/gpurt-drain" -p "$pid" -o $log.gplog
done
[ ! -e second.gplog ] || fail 'a log of nothing'
same 4 "$(field records there.gplog)" 'appended to'
expect 0 '' "$bin/gpurt-top" --once -p "$pid"
grep -q '^records ' out || fail 'looking over the shoulder'
expect 125 'written by another process' "$bin/gpurt-record" -a -o first.gplog -- true
kill -TERM "$recorder"
wait "$recorder" || same 143 $? 'the recorder'
recorder='' pid=''
same 1000 "$(field records first.gplog)" 'the first drainer'

# Programs that fork, become another one, or close what is not theirs.
expect 0 '500 records' "$bin/gpurt-record" -o fork.gplog -- "$app" 500 fork
same 500 "$(field records fork.gplog)" 'a fork'
# A child that opens gpurt itself has its own box: in the recorder's file, and with GPURT_LOG in a file beside its
# parent's, which is whole.
# A search for leaks in a process that forks has words of its own.
forks_options=${ASAN_OPTIONS:-}:detect_leaks=0
expect 0 '110 records, 0 lost' env ASAN_OPTIONS="$forks_options" "$bin/gpurt-record" -o heir.gplog -- "$forks" recorded
same 110 "$(field records heir.gplog)" 'a child that logs'
same 2 "$("$bin/gpurt-log" stat heir.gplog | grep -c '^program')" 'programs of a log with a child'
expect 0 '' env PATH="$bin:$PATH" GPURT_LOG=parent.gplog ASAN_OPTIONS="$forks_options" "$forks" recorded
same 60 "$(field records parent.gplog)" 'the log of a parent'
own=(parent.*.gplog)
same 50 "$(field records "${own[0]}")" 'the log of its child'
for log in parent.gplog "${own[0]}"; do
    "$bin/gpurt-log" verify "$log" >/dev/null || fail "$log is not whole"
done
expect 0 '504 records' "$bin/gpurt-record" -o exec.gplog -- "$app" 500 "exec=$bin/hello_log"
same 504 "$(field records exec.gplog)" 'an exec'
"$bin/gpurt-log" verify exec.gplog >/dev/null || fail 'two boxes in one log'
expect 0 '500 records' "$bin/gpurt-record" -o close.gplog -- "$app" 500 close
same 500 "$(field records close.gplog)" 'closed descriptors'
expect 0 '500 records' "$bin/gpurt-record" -o daemon.gplog -- "$app" 500 daemon
same 500 "$(field records daemon.gplog)" 'a daemon'

# A program without gpurt in it.
expect 0 'never opened gpurt' "$bin/gpurt-record" -o none.gplog -- true
same 0 "$(field records none.gplog)" 'nothing'

# A kernel without end: the recorder's log can be read meanwhile, and Ctrl-C ends both.
setsid env --default-signal=INT "$bin/gpurt-record" -q -o endless.gplog -- "$bin/log_storm" 2 32 4000000000 &
recorder=$!
until_true 'a log that grows' has_records endless.gplog 1001
# Enough of them: the last few may all be losses.
"$bin/gpurt-log" tail -n 1000 endless.gplog >endless.tail
grep -q 'of thread' endless.tail || fail "a log that grows ends with '$(tail -n 1 endless.tail)'"
kill -INT -"$recorder"
status=0
wait "$recorder" || status=$?
recorder=
same 130 "$status" 'Ctrl-C'
"$bin/gpurt-log" verify endless.gplog >/dev/null || fail 'after Ctrl-C'
echo 'all well'
