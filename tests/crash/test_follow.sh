#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who follows a log whose writer is killed: goes on where another drainer takes over, and ends, with a word and a status
# of its own, where nobody is left. Arguments: folder of the programs, the feeding application.
set -euo pipefail
bin=$1 app=$2
# shellcheck source=tests/scratch.sh
. "${BASH_SOURCE[0]%/*}/../scratch.sh"
export XDG_RUNTIME_DIR=$dir

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
# record APP-ARGUMENT...: begins run.gplog; sets recorder and pid.
record() {
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "$app" "$@" &
    recorder=$!
    started+=("$recorder")
    runs() { pid=$(pgrep -n -P "$recorder" -x feed_app); }
    until_true 'the program starts' runs
    started+=("$pid")
    until_true 'there is a log' "$bin/gpurt-log" stat run.gplog
}
# follow: begins all followers; sets tail and watch.
follow() {
    rm -f followed watched tail.err watch.err # those of before must not be taken for theirs
    "$bin/gpurt-log" tail -f -n 1000000 run.gplog >followed 2>tail.err &
    tail=$!
    "$bin/gpurt-panic" watch run.gplog >watched 2>watch.err &
    watch=$!
    started+=("$tail" "$watch")
}
followed() { [ "$(wc -l < followed)" -ge "$1" ]; }
runs_on() { grep "its writer is gone; process $pid runs on, .*gpurt-drain -p $pid -o run.gplog" "$1"; }
# ended PROCESS STATUS
ended() {
    local status=0
    wait "$1" || status=$?
    [ "$status" = "$2" ] || fail "status $status, not $2"
}

# The recorder dies in a frame; the next drainer cuts that off, which leaves the file smaller than it was.
record 300000 panic hang
follow
until_true 'the follower has some' followed 1
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
head -c 50000000 /dev/zero >> run.gplog
until_true 'tail says who is gone' runs_on tail.err
until_true 'watch says who is gone' runs_on watch.err
sleep 3 # longer than a follower waits where nobody is left
for follower in "$tail" "$watch"; do
    kill -0 "$follower" || fail 'a follower did not wait for the next drainer'
done
"$bin/gpurt-drain" -p "$pid" -o run.gplog &
drainer=$!
started+=("$drainer")
until_true 'the follower has all' followed 300001
kill -KILL "$pid"
wait "$drainer" || fail 'gpurt-drain'
ended "$tail" 0
ended "$watch" 0
[ "$(sort -u followed | wc -l)" = 300001 ] || fail "$(sort -u followed | wc -l) of 300001 followed"
[ "$(wc -l < followed)" = 300001 ] || fail "followed twice"
[ "$(grep -c 'message' watched)" = 1 ] || fail "watched: $(cat watched)"
if [ "$(wc -l < tail.err)" != 1 ] || [ "$(wc -l < watch.err)" != 1 ]; then fail "$(cat tail.err watch.err)"; fi

# Nobody is left: those who followed end, and those who come later do.
record 1000 panic hang
follow
until_true 'the follower has all' followed 1001
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
kill -KILL "$pid"
for _ in early late; do
    ended "$tail" 3
    ended "$watch" 3
    for err in tail.err watch.err; do
        [ "$(grep -c 'run.gplog: its writer is gone, and it ends without its closing frame' $err)" = 1 ] ||
            fail "$err: $(cat $err)"
    done
    [ "$(wc -l < followed)" = 1001 ] || fail "followed $(wc -l < followed)"
    [ "$(grep -c 'message' watched)" = 1 ] || fail "watched: $(cat watched)"
    follow
done
ended "$tail" 3
ended "$watch" 3
[ "$(wc -l < tail.err)" = 1 ] || fail "more than one line: $(cat tail.err)"
echo 'all well'
