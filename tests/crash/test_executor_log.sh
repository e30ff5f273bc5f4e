#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An executor as an object of the log: what its tasks and warps did, by kind, how long tasks waited, and which do not
# come on, for whom they wait, and where.
# Arguments: folder of the programs, tasks_app.
# shellcheck disable=SC2016 # the variables are of jq
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 TZ=UTC PATH=$bin:$PATH

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# While it is idle, all that it did is told, by kind: a fib that has children runs twice.
: >said
GPURT_LOG=run.gplog "$app" fib 16 >said &
for ((try = 0; ; try++)); do
    tasks=$(sed -n 's/^\([0-9]*\) tasks$/\1/p' said)
    ! "$bin/gpurt-log" stat --json run.gplog >stat.json 2>/dev/null || ! jq -e --argjson n "${tasks:-0}" '$n > 100 and
        ([.objects.list[]? | select(.class=="task_kind").fields | {(.name): .runs}] | add) ==
        {fib: ($n + ($n - 1) / 2), fan: 33, mark: 1000}' stat.json >/dev/null || break
    [ "$try" != 200 ] || fail "of an idle one: $(cat said stat.json)"
    sleep 0.1
done
kill -USR1 $!
wait $!
"$bin/gpurt-log" stat --json run.gplog >stat.json
jq -e --argjson n "$tasks" '.objects.list | map(select(.class=="executor")) | length == 1 and
    (.[0] | .id == 1 and .fields.name == "task_tests" and .fields.live == 0 and .fields.ready == 0 and
     .fields.ended == $n + 1033 and .fields.failed == 0 and .fields.cancelled == 0 and .fields.refused == 0 and
     .fields.at_once > 0 and .fields.useful_cycles > 0 and .fields.scheduling_cycles > 0)' stat.json >/dev/null ||
    fail "$(cat stat.json)"

# Each body is counted by its kind; the rows that are sampled have waited for something.
jq -e --argjson n "$tasks" '.objects.list as $all | ($all | map(select(.class=="task_kind").fields)) as $kinds |
    ($kinds | length == 3 and all(.useful_cycles >= .longest_cycles and .longest_cycles > 0)) and
    ($all | map(select(.class=="executor"))[0].fields | (.ready_to_begun | add > 0) and
     (.moved_by_pair | map(.tasks) | . == (sort | reverse)) and
     (.moved_by_pair | map(.tasks) | add // 0) <= .moved and all(.moved_by_pair[]; .from_sm != .to_sm)) and
    ($all | map(select(.class=="stuck_task" and (.ended | not))) | length == 0)' stat.json >/dev/null || fail "kinds: $(cat stat.json)"

# What is stuck, while it is: the fields of each stuck task.
stuck() {
    GPURT_LOG=$1.gplog "$app" "$1" 60000 &
    until "$bin/gpurt-log" stat --json "$1.gplog" >"$1.json" 2>/dev/null &&
        jq -e --argjson n "$2" '[.objects.list[] | select(.class=="stuck_task" and (.ended | not))] | length == $n and
            all(.fields.executor == 1)' "$1.json" >/dev/null &&
        jq -e '.objects.list[] | select(.class=="executor").fields.state == "stuck"' "$1.json" >/dev/null; do
        kill -0 $! 2>/dev/null || fail "$1: never $2 stuck: $(cat "$1.json")"
        sleep 0.1
    done
    kill -USR1 $! # it has been seen
    wait $!
    jq -e "[.objects.list[] | select(.class==\"stuck_task\")] as \$s |
        (.objects.list[] | select(.class==\"executor\").fields) as \$x |
        (\$s | map({(.id | tostring): .fields}) | add) as \$of | $3" "$1.json" >/dev/null ||
        fail "$1: $(cat "$1.json")"
}
stuck stuck 4 '$x.running == 1 and ($s | map(select(.fields.why == "runs")) | length == 1 and
    (.[0].fields | .name == "gated" and .level == 0 and .awaited_by == 3 and .block < 4 and .warp < 2 and .since > 0)) and
    ($s | map(select(.fields.why == "awaits_task")) | length == 3 and
     all(.fields.name == "mark" and $of[.fields.waits_for | tostring].name == "gated"))' &
first=$!
stuck held 2 '($s | map(select(.fields.why == "held")) | length == 1) and
    ($s | map(select(.fields.why == "awaits_task")) | length == 1 and
     all($of[.fields.waits_for | tostring].why == "held"))' &
second=$!
stuck deadlock 2 '$s | all(.fields.why == "awaits_task" and
    $of[$of[.fields.waits_for | tostring].waits_for | tostring] == .fields)'
wait "$first"
wait "$second"
stuck lane 1 '$x.running == 1 and $s[0].fields.why == "runs" and $s[0].fields.name == "stays"' &
first=$!
stuck block 1 '$x.running == 1 and $s[0].fields.why == "runs" and $s[0].fields.name == "camps"'
wait "$first"

# Tasks that wait for their group's time are seen so, and nothing is stuck for that.
GPURT_LOG=quota.gplog "$app" quota 60000 &
until "$bin/gpurt-log" stat --json quota.gplog >quota.json 2>/dev/null && jq -e '.objects.list[] |
    select(.class=="task_group").fields | .name == "group 1" and .quota == 1 and .waiting == 3 and .held >= 3 and
    .used >= 1600000000' quota.json >/dev/null; do
    kill -0 $! 2>/dev/null || fail "quota: $(cat quota.json)"
    sleep 0.1
done
sleep 0.5 # as long as a task may take to come on, and a look
"$bin/gpurt-log" stat --json quota.gplog | jq -e '(.objects.list[] | select(.class=="executor").fields | .state == "starved" and
    .ready == 3 and .live == 3) and ([.objects.list[] | select(.class=="stuck_task" and (.ended | not))] | length == 0)' >/dev/null ||
    fail "quota: $("$bin/gpurt-log" stat --json quota.gplog)"
"$bin/gpurt-top" -b -n 1 -v scheduler -r quota.gplog >screen
grep -q "no task is ready: 0 of 8 warps run one, 3 live, 3 wait for their group's quota\$" screen || fail "$(cat screen)"
kill -USR1 $!
wait $!
"$bin/gpurt-top" -b -n 1 -v scheduler -r quota.gplog >screen
grep -q 'group 1   [0-9]*% of the time, no quota$' screen || fail "$(cat screen)"

# One whose blocks panics have ended says so, in the log and on the screen.
GPURT_PANICS=quiet GPURT_LOG=dead.gplog "$app" dead 60000 &
until "$bin/gpurt-log" stat --json dead.gplog >dead.json 2>/dev/null && jq -e '.objects.list[] |
    select(.class=="executor").fields | .state == "dead" and .live == 3' dead.json >/dev/null; do
    kill -0 $! 2>/dev/null || fail "dead: $(cat dead.json)"
    sleep 0.1
done
"$bin/gpurt-top" -b -n 1 -v scheduler -r dead.gplog >screen
grep -q 'panics have ended all its 4 blocks; 3 tasks never run' screen || fail "$(cat screen)"
kill -USR1 $!
wait $!

# Nor is one that sleeps, or that waits for one that does.
GPURT_LOG=asleep.gplog "$app" asleep 60000 &
until "$bin/gpurt-log" stat --json asleep.gplog >asleep.json 2>/dev/null && jq -e '.objects.list[] |
    select(.class=="executor").fields.ended == 2' asleep.json >/dev/null; do
    kill -0 $! 2>/dev/null || fail "asleep: $(cat asleep.json)"
    sleep 0.1
done
kill -USR1 $!
wait $!
"$bin/gpurt-log" stat --json asleep.gplog | jq -e '[.objects.list[] | select(.class=="stuck_task")] | length == 0' >/dev/null ||
    fail "asleep: $("$bin/gpurt-log" stat --json asleep.gplog)"
"$bin/gpurt-log" cat asleep.gplog >lines # all of it: a reader that stops early fails the pipe
grep -q 'executor 1: .* timed [12]' lines || fail "$(cat lines)"

# All of them end with the executor, and a program that reads lines sees them, too.
"$bin/gpurt-log" cat deadlock.gplog >lines
grep -q 'stuck task 1: .*why awaits_task, .*waits for 2, ' lines || fail "$(cat lines)"
"$bin/gpurt-log" stat --json deadlock.gplog | jq -e '[.objects.list[] | select(.class=="stuck_task")] | length == 2 and
    all(.ended)' >/dev/null || fail "they do not end"
"$bin/gpurt-top" -b -n 1 -v scheduler -r deadlock.gplog >screen
grep -q 'tasks wait for each other, mark is one of them' screen || fail "$(cat screen)"
