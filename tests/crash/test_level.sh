#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Levels of a program are changed from outside while its kernel runs: old sites, sites that come later, and what is said
# about it. Arguments: folder of the programs, level_app, blocks of its kernel.
set -euo pipefail
bin=$1 app=$2 blocks=${3:-1}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
recorder=
cleanup() {
    exec 3>&- || true
    [ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap cleanup EXIT
# shellcheck source=tests/wait.sh
. "$here/../wait.sh"
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF
# A drainer that is held up for a moment costs no message.
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_LEVEL_FLOOR=trace GPURT_CUPTI=off GPURT_POLICY=block

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
count() { "$bin/gpurt-log" cat run.gplog 2>/dev/null | grep -c "$1" || true; }
has_more() { [ "$(count "$1")" -gt "$2" ]; }
# until_more PATTERN THAN: waits
until_more() { until_true "no more than $2 of '$1'" has_more "$@"; }
# quiet_for_a_second: no message more than a second ago; sets before.
quiet_for_a_second() {
    before=$(count .)
    sleep 1
    [ "$(count .)" = "$before" ]
}
level() { "$bin/gpurt-log" level -p "$pid" "$@"; }

mkfifo line
: >number
"$bin/gpurt-record" -q -o run.gplog -- "$app" "$blocks" <line >number &
recorder=$!
exec 3>line
started() { read -r pid <number; }
until_true 'the program starts' started

until_more round 3
[ "$(level)" = info ] || fail "at first: $(level)"
[ "$(count detail)" = 0 ] || fail 'debug messages before they were asked for'

# By file, on top of everything off.
level 'off,level_app_*.c=debug'
[ "$(level)" = 'off,level_app_*.c=debug' ] || fail "asked again: $(level)"
until_more detail 3
echo >&3
until_more 'a late site' 0

# Down to nothing: what was on its way comes, then no message any more.
level off
until_true 'messages although all is off' quiet_for_a_second

# And up again, by line.
line=$(grep -n '"round %u"' "$here/level_app_kernels.c" | cut -d: -f1)
details=$(count detail)
level "off,*/level_app_kernels.c:$line=trace"
until_more . "$before"
[ "$(count detail)" = "$details" ] || fail 'a line was asked for, another answered'

# What is wrong is refused, with nothing changed.
for rules in loud 'a=' '=info' 'a:0=info'; do
    ! level "$rules" 2>/dev/null || fail "'$rules' was taken"
done
[ "$(level)" = "off,*/level_app_kernels.c:$line=trace" ] || fail "after wrong ones: $(level)"
! "$bin/gpurt-log" level -p 1 info 2>/dev/null || fail 'a process without a box'

exec 3>&-
wait "$recorder" || fail 'the program failed'
recorder=
! "$bin/gpurt-log" level -p "$pid" 2>/dev/null || fail 'a program that has ended'

# The same rules at the start, which is GPURT_LEVEL for the program; wrong ones are refused, or told and nothing more.
mv run.gplog run1.gplog
"$bin/gpurt-record" -q -l 'error,level_app_kernels.c=warn' -o run.gplog -- "$app" <line >/dev/null &
recorder=$!
exec 3>line
until_more round 3
exec 3>&-
wait "$recorder" || fail 'the program failed under rules'
recorder=
"$bin/gpurt-log" cat run.gplog >all
! grep -v round all || fail 'GPURT_LEVEL: more than warnings'
! "$bin/gpurt-record" -q -l loud -o run3.gplog -- "$app" </dev/null 2>/dev/null || fail 'gpurt-record -l loud'
[ ! -e run3.gplog ] || fail 'wrong rules made a log'
GPURT_LEVEL=loud "$app" </dev/null >/dev/null || fail 'a wrong GPURT_LEVEL fails the program'

# GPURT_LOG=stderr: lines come while the program runs, and once it is killed what it had logged is there.
PATH=$bin:$PATH GPURT_LOG=stderr "$app" "$blocks" <line >number 2> >(cat >live; : >ended) &
recorder=$!
exec 3>line
printed() { [ "$(grep -c ' round ' live)" -gt "$1" ]; } 2>/dev/null
until_true 'nothing is printed' printed 3
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
recorder=
until_true 'whoever prints does not end with the program' [ -e ended ]
! grep -v ' round ' live || fail 'what is printed are whole lines'
