#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt-record --restart: what counts as a failure, how often, how the lives show in the log, and what passes through.
# Arguments: folder of the programs, the feeding application, and a library with a clock that jumps, if there is one.
set -euo pipefail
bin=$1 app=$2 clock=${3:-}
dir=$(mktemp -d)
recorder=
clean() {
    [ -z "$recorder" ] || kill -KILL "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
# A sanitizer in the feeding application must not take its signals.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0 TSAN_OPTIONS=handle_segv=0:handle_abort=0

fail() { echo "FAIL: $*" >&2; exit 1; }

# What a life does is a line of the plan: the arguments of the feeding application.
cat > lives.sh <<'SH'
n=$(( $(cat count 2>/dev/null || echo 0) + 1 ))
echo "$n" > count
read -ra words <<< "$(sed -n "${n}p" plan)"
exec "$@" "${words[@]}"
SH

# shellcheck disable=SC2094  # the plan is read by the program, not written
# run STATUS LIVES OPTION...: the plan stands in the file of that name.
run() {
    local status=0 want=$1 lives=$2
    shift 2
    rm -f run.gplog count
    [ $# = 0 ] || set -- --restart-delay 10ms "$@" # without --restart it is refused
    "$bin/gpurt-record" -q -o run.gplog "$@" -- bash lives.sh "$app" 2>err || status=$?
    [ "$status" = "$want" ] || fail "$(cat plan): status $status, not $want: $(cat err)"
    [ "$(cat count)" = "$lives" ] || fail "$(cat plan): $(cat count) lives, not $lives"
    "$bin/gpurt-log" stat --json run.gplog > stat
    "$bin/gpurt-log" verify run.gplog > /dev/null || fail "verify"
}
# records besides the two of each life
records() { echo $(( $(sed -n 's/.*"records":\([0-9]*\).*/\1/p' stat) - 2 * $1 )); }

# A signal, a panic with a status, the word for it; then all is well. Nothing is lost on the way.
printf '%s\n' '1000 kill=9' '100 panic exit=1' '200 exit=75' '300' > plan
run 0 4 --restart=5
[ "$(records 4)" = 1601 ] || fail "$(records 4) records of 1601"
for life in '"life":1,.*"status":null,"signal":9,"panics":0' '"life":2,.*"status":1,"signal":null,"panics":1' \
    '"life":3,.*"status":75,"signal":null,"panics":0' '"life":4,.*"status":0,"signal":null,"panics":0'; do
    grep -q "$life" stat || fail "no $life in $(cat stat)"
done
"$bin/gpurt-log" cat run.gplog > text
for words in 'life 1 begins: process' 'life 1 ends: process [0-9]*, killed by SIGKILL after' 'life 4 ends: process [0-9]*, exit status 0 after'; do
    grep -q "$words" text || fail "no '$words' in the log"
done
# a signal is told by its name, without lives too: nobody else would
status=0; "$bin/gpurt-record" -q -o dead.gplog -- bash -c 'kill -9 $$' 2>err || status=$?
[ "$status" = 137 ] || fail "a killed program: $status"
grep -q '^gpurt-record: bash: killed by SIGKILL$' err || fail "a killed program: $(cat err)"
"$bin/gpurt-panic" list run.gplog | grep >/dev/null '^life 2: process [0-9]*, .*exit status 1 after .*, 1 panic$' || fail "gpurt-panic list"
"$bin/gpurt-panic" list --json run.gplog | grep >/dev/null '"lives":\[{"life":1,' || fail "gpurt-panic list --json"
# life 1's last record comes before life 2's first mark
[ "$(grep -n 'life 2 begins' text | cut -d: -f1)" -gt "$(grep -n -m 1 'message 999 ' text | cut -d: -f1)" ] || fail "order of lives"

# What is no failure: an end with 0, and with a status alone.
printf '%s\n' '10 panic' > plan && run 0 1 --restart=5
printf '%s\n' '10 exit=3' > plan && run 3 1 --restart=5
grep -q lives <<< "$("$bin/gpurt-log" stat --json run.gplog)" || fail "one life is one, too"

# Enough is enough: the last status, and a line that says so.
printf '%s\n' '5 kill=6' '5 kill=6' '5 exit=75' '5' > plan
run 75 3 --restart=2
grep -q '3 times in a row it failed; no more' err || fail "no word of giving up: $(cat err)"
# ... though the clock is set forward by more than the window meanwhile
LD_PRELOAD=$clock run 75 3 --restart=2
# ... in a row: each life here is longer than the window
run 0 4 --restart=1 --restart-window 1ms
# without the option nothing is started again, and nothing is marked
printf '%s\n' '5 kill=9' '5' > plan
run 137 1
grep -q lives stat && fail "lives without --restart"

# A program that is gone when the next life is due leaves the log of the lives before.
# shellcheck disable=SC2016
printf '#!/bin/bash\nrm "$0"\n"$@"\nexit 75\n' >once
chmod +x once
rm -f run.gplog
status=0
"$bin/gpurt-record" -q --restart 2 --restart-delay 10ms -o run.gplog -- ./once "$app" 50 2>err || status=$?
[ "$status" = 127 ] || fail "a program that is gone: $status, $(cat err)"
# shellcheck disable=SC2094
"$bin/gpurt-log" stat --json run.gplog >stat
[ "$(records 1)" = 50 ] || fail "a program that is gone: $(records 1) records of 50"

# Delays double: 3 waits of 0.1, 0.2, 0.4 s.
printf '%s\n' '1 kill=9' '1 kill=9' '1 kill=9' '1' > plan
begin=$(date +%s%N)
run 0 4 --restart=3 --restart-delay 100ms
(( $(date +%s%N) - begin >= 700000000 )) || fail "the delay does not double"

# A signal that is passed on ends it for good; standard input and output are the program's.
cat > echo.sh <<'SH'
echo "life $(( $(cat count) + 1 ))"; echo $(( $(cat count) + 1 )) > count
read -r line && echo "read $line"
[ "$(cat count)" = 1 ] && kill -9 $$
trap 'echo "told"; trap - TERM; kill -TERM $$' TERM
echo ready > ready
while :; do sleep 0.05; done
SH
echo 0 > count
mkfifo in
rm -f run.gplog
"$bin/gpurt-record" -q -o run.gplog --restart=9 --restart-delay 1ms -- bash echo.sh < in > out 2>err & recorder=$!
exec 9> in
printf 'one\ntwo\n' >&9
until_true 'the second life is ready' [ -e ready ]
kill -TERM "$recorder"
status=0; wait "$recorder" || status=$?
recorder=
exec 9>&-
[ "$status" = 143 ] || fail "status $status after SIGTERM"
[ "$(grep -c 'the next begins' err)" = 1 ] || fail "another life was meant to begin: $(cat err)"
[ "$(cat out)" = "$(printf 'life 1\nread one\nlife 2\nread two\ntold')" ] || fail "passed through: $(cat out)"

# ... also between two lives.
printf '%s\n' '5 kill=9' '5' > plan
rm -f run.gplog count err # the words of the recorder before must not be taken for this one's
"$bin/gpurt-record" -q -o run.gplog --restart=5 --restart-delay 1h -- bash lives.sh "$app" 2>err & recorder=$!
until_true 'the first life is over' grep 'the next begins' err
kill -TERM "$recorder"
status=0; wait "$recorder" || status=$?
recorder=
if [ "$status" != 137 ] || [ "$(cat count)" != 1 ]; then fail "between two lives: $status"; fi
echo "all well"
