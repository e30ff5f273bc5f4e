#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_attach.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: gpurt-record -p, over a stand-in for CUPTI: programs whose collector sleeps
# until somebody asks, one recorder after another and one beside another, and all the ways in which either side ends.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
inject=$bin/../lib/libgpurt-inject.so

# sleeps COMMAND...: a program whose collector sleeps, and that does something for each `go`; `sleeper` is its number.
sleeps() {
    rm -f words
    mkfifo words
    GPURT_CUPTI=later CUDA_INJECTION64_PATH=$inject "$@" <words &
    sleeper=$!
    started+=("$sleeper")
    exec 9>words
}
can_be_asked() { until_true 'it can be asked' grep "gpurt-later-$sleeper\$" /proc/net/unix; }
go() { echo go >&9; }
no_more() { exec 9>&-; }

# records [COMMAND...]: a recorder of the sleeper, which is awake when this returns; `recorder` is its number.
records() {
    rm -f run.gplog
    "$@" "$bin/gpurt-record" -q -o run.gplog -p "$sleeper" 9>&- &
    recorder=$!
    started+=("$recorder")
    until_true 'it is woken' grep libfake_cupti "/proc/$sleeper/maps"
}
leaves() {
    kill -INT "$recorder"
    wait "$recorder" || fail "gpurt-record -p, interrupted: $?"
}
# ends WHO: both do, as they should.
ends() {
    no_more
    wait "$sleeper" || fail "$1: the program: $?"
    wait "$recorder" || fail "$1: gpurt-record -p: $?"
}
# is_refused WORDS PID OPTION...: a recorder of that process is, with these words.
is_refused() {
    local status=0 want=$1 pid=$2
    shift 2
    timeout 20 "$bin/gpurt-record" -q -o other.gplog "$@" -p "$pid" 2>refused || status=$?
    [ "$status" = 125 ] || fail "$want: $status"
    grep >/dev/null -e "$want" refused || fail "no '$want' in: $(cat refused)"
}

# What comes after it was asked is in the log. CUPTI is not asked then for what it takes before CUDA starts alone, and what was
# said to the program may still be said to the recorder.
sleeps env FAKE_CUPTI=begun "$app" later 2000
is_refused 'GPURT_CUPTI=later' $$
can_be_asked
grep -q libfake_cupti "/proc/$sleeper/maps" && fail 'a collector that sleeps has CUPTI loaded'
for word in '--level=info' '--exec-on-panic=true' '--gpu-core' '--launch-sites' '--hang-after=1' '--restart=1' '--cupti=off'; do
    rm -f other.gplog
    is_refused "${word%%=*}" "$sleeper" "$word"
    [ ! -e other.gplog ] || fail "-p $word: it left a log"
done
records env GPURT_CUPTI=later 2>said
if command -v python3 >/dev/null; then # somebody comes and has nothing
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("\0" + sys.argv[1])' \
        "$(grep -o "gpurt-$recorder-[0-9a-f]*\$" /proc/net/unix)"
    until_true 'it tells of who came' grep '^gpurt-record: not recorded: .*without a box' said
fi
go
ends 'asked once'
counted 'asked once' 2000
[ "$(lines ' WARN ')" = 0 ] || fail "asked once: $("$bin/gpurt-log" cat run.gplog | grep ' WARN ')"
log_has 'collector: on; records 2000,' 'asked once'
sleeps env FAKE_CUPTI=begun "$app" later 20
can_be_asked
records env GPURT_CUPTI=default,device-graphs
go
ends 'asked too late'
log_has ' WARN .*CUPTI tells of no graphs that kernels launch: the program had begun$' 'asked too late'

# Its terminal goes, which it was told to ignore; then it goes itself.
sleeps env FAKE_GRAPHS="$tests/libfake_graphs.so" "$app" later 2000
can_be_asked
records nohup 2>nohup.err
kill -HUP "$recorder"
go
until_true 'it is told of devices' sh -c "'$bin/gpurt-log' cat run.gplog | grep ' device of compute capability '"
until_true 'all is in the log' sh -c "'$bin/gpurt-log' stat run.gplog | grep '^kernels    2000 '"
leaves
# Somebody else comes, and a third one, who is told that there is somebody.
sleep 2 # its sums are told once a second: behind that it has nothing to say
began=$(date +%s%N)
records
until_true 'it is read again' grep 'memfd:gpurt-box' "/proc/$recorder/maps"
is_refused "recorded by process $recorder;" "$sleeper"
until_true 'a reader is told although nothing happens' sh -c "'$bin/gpurt-log' cat run.gplog | grep ' device of compute capability '"
go
ends 'the second recorder'
counted 'the second recorder' 2000
log_has 'collector: on; ' 'the second recorder'
[ "$(lines ' device of compute capability ')" = 2 ] || fail "the second recorder: $(lines ' device of ') devices" # told to each
"$bin/gpurt-log" cat --jsonl run.gplog | jq -se --argjson began "$began" '[.[] | select(.kind == "device") | .ts_ns >= $began] | length == 2 and all' >/dev/null ||
    fail "the second recorder: its log begins before it did"

# One that records nothing says why, to each who comes.
sleeps env FAKE_CUPTI=clash "$app" later 2000
can_be_asked
for turn in first second; do
    records
    until_true "the $turn is told" sh -c "'$bin/gpurt-log' cat run.gplog | grep 'collector: no records of kernels: another profiler'"
    [ "$turn" = second ] || leaves
done
kill -KILL "$sleeper"
no_more
wait "$recorder" || fail "gpurt-record -p of one that was killed: $?"

# The first goes before there is anything to say: the box that is made then is the second one's. While it is there, nobody
# else is heard.
sleeps "$app" later 2000
can_be_asked
records
until_true 'it is asked' grep "gpurt-$recorder-" /proc/net/unix
is_refused "recorded by process $recorder;" "$sleeper"
leaves
records
until_true 'it is asked' grep "gpurt-$recorder-" /proc/net/unix
go
ends 'asked twice'
counted 'asked twice' 2000

# ... and where nobody comes, it ends as ever.
sleeps "$app" later 2000
can_be_asked
records
leaves
began=$SECONDS
go
no_more
wait "$sleeper" || fail "the program that nobody records any more: $?"
[ $((SECONDS - began)) -lt 60 ] || fail "it took $((SECONDS - began)) s to end"

# One that becomes another program is recorded as that.
sleeps "$tests/names_app" 300 again
can_be_asked
records
go
ends 'became another'
counted 'became another' 300

# One that ends while its parent does not ask for it has ended all the same.
# shellcheck disable=SC2016 # of the inner shell
sleeps sh -c '"$0" later 2000 <words & echo $! >number; exec sleep 300' "$app"
until_true 'it is there' test -s number
sleeper=$(cat number)
started+=("$sleeper")
can_be_asked
records
go
until_true 'all is in the log' sh -c "'$bin/gpurt-log' stat run.gplog | grep '^kernels    2000 '"
kill -KILL "$sleeper"
no_more
until_true 'nobody waits for a zombie' sh -c "! kill -0 '$recorder'"
wait "$recorder" || fail "gpurt-record -p of a zombie: $?"

# A program that is stopped does not answer: who gives it up says so, and who was stopped himself meanwhile is heard at last. When
# nothing was done there is nothing to tell of.
sleeps "$app" later 2000
can_be_asked
kill -STOP "$sleeper"
# waits N: as many have asked, and the last one sleeps.
waits() { [ "$(grep -c "gpurt-later-$sleeper\$" /proc/net/unix)" = $(($1 + 1)) ] && grep 'State:.S' "/proc/$recorder/status"; }
# asks N: the recorder is the Nth who does.
asks() {
    "$bin/gpurt-record" -o other.gplog -p "$sleeper" 9>&- 2>said &
    recorder=$!
    started+=("$recorder")
    until_true 'it has asked' waits "$1"
}
says() { grep >/dev/null -e "$1" said || fail "no '$1' in: $(cat said)"; }
rm -f other.gplog
asks 1
kill -INT "$recorder"
wait "$recorder" && fail 'interrupted before there was an answer: 0'
says "interrupted before the collector in process $sleeper answered"
[ ! -e other.gplog ] || fail 'interrupted before there was an answer: it left a log'
asks 2
kill -STOP "$recorder"
until_true 'it is stopped' grep 'State:.T' "/proc/$recorder/status"
kill -CONT "$recorder" "$sleeper"
until_true 'it is woken' grep libfake_cupti "/proc/$sleeper/maps"
leaves
says "the program's collector recorded no GPU activity meanwhile; other.gplog holds no records"
kill -KILL "$sleeper"
no_more

# From another container none is in reach.
if unshare -n true 2>/dev/null; then
    sleeps unshare -n "$app" later 2000
    until_true 'it sleeps' grep "gpurt-later-$sleeper\$" "/proc/$sleeper/net/unix"
    rm -f other.gplog
    is_refused "process $sleeper is in a container" "$sleeper"
    kill -KILL "$sleeper"
    no_more
fi

# Of two containers that share the network and have the same number of a process, one cannot be asked, and says so.
if unshare -pf true 2>/dev/null; then
    sleeps unshare -pf --kill-child "$app" later 2000
    until_true 'it sleeps' grep 'gpurt-later-1$' /proc/net/unix
    GPURT_CUPTI=later CUDA_INJECTION64_PATH=$inject unshare -pf --kill-child "$app" later 2000 </dev/null 2>said || true
    says 'gpurt: gpurt-record -p cannot ask process 1 for what its GPU does: another process, '
    kill -KILL "$sleeper"
    no_more
fi

# Root records for others.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups test -x "$app" 2>/dev/null; then
    sleeps setpriv --reuid=65534 --clear-groups "$app" later 2000
    can_be_asked
    records
    go
    ends 'of another user'
    counted 'of another user' 2000
fi
