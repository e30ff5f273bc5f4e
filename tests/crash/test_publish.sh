#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt-top looks at a program that gpurt-record or gpurt-drain drains, and neither notices. Arguments: folder of the
# programs, the feeding application.
set -euo pipefail
bin=$1 app=$2
# shellcheck source=tests/scratch.sh
. "${BASH_SOURCE[0]%/*}/../scratch.sh"
export XDG_RUNTIME_DIR=$dir

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
# shown PID: one picture of that program, as JSON.
shown() { "$bin/gpurt-top" --once --json -p "$1"; }
shows() { shown "$1" | grep "\"records\":$2,"; }
# wait_shown PID RECORDS: until a picture shows so many.
wait_shown() { until_true "$2 records of $1" shows "$@"; }
# application RECORDER: sets pid to the process number of its feeding application.
application() {
    runs() { pid=$(pgrep -n -P "$1" -x feed_app); }
    until_true 'the program starts' runs "$1"
}

# Beside gpurt-record, and the file is what it would have been.
"$bin/gpurt-record" -q -o a.gplog -- "$app" 3000 panic hang &
recorder=$!
started+=("$recorder")
application "$recorder"
started+=("$pid")
wait_shown "$pid" 3001
shown "$pid" | grep >/dev/null '"state":"live".*"panics":1,' || fail "panic: $(shown "$pid" | cut -c1-300)"
[ -e "gpurt/$pid" ] || fail 'where it is published'
kill -KILL "$pid"
wait "$recorder" || true
[ ! -e "gpurt/$pid" ] || fail 'published after the end'
[ "$("$bin/gpurt-log" cat a.gplog | wc -l)" = 3001 ] || fail "$("$bin/gpurt-log" stat a.gplog)"

# A recorder that is killed leaves its file behind; gpurt-drain goes on, publishes in its place, and no record is
# in the log twice.
"$bin/gpurt-record" -q -o b.gplog -- "$app" 2000 hang &
recorder=$!
started+=("$recorder")
application "$recorder"
started+=("$pid")
wait_shown "$pid" 2000
exec 9<"gpurt/$pid" # held open, or the next file could have its number
before=$(stat -c %i "gpurt/$pid")
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
"$bin/gpurt-drain" -p "$pid" -o b.gplog 9<&- &
drainer=$!
started+=("$drainer")
# Not asked before it is there: gpurt-top would drain a program that nobody drains.
another() { [ "$(stat -c %i "gpurt/$pid")" != "$before" ] && [ -e "gpurt/$pid" ]; }
until_true 'gpurt-drain publishes' another
exec 9<&-
wait_shown "$pid" 0
shown "$pid" | grep >/dev/null '"state":"live"' || fail 'gpurt-drain publishes'
kill -KILL "$pid"
wait "$drainer" || fail 'gpurt-drain'
[ "$("$bin/gpurt-log" cat b.gplog | sort -u | wc -l)" = 2000 ] || fail 'lost'
[ "$("$bin/gpurt-log" cat b.gplog | wc -l)" = 2000 ] || fail 'twice'

# Where nothing can be published the log is written all the same.
XDG_RUNTIME_DIR=$dir/a.gplog "$bin/gpurt-record" -q -o c.gplog -- "$app" 500
[ "$("$bin/gpurt-log" cat c.gplog | wc -l)" = 500 ] || fail 'without a folder'
echo 'all well'
