#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt-check against programs whose every seed is known:
#   check_tool.sh GPURT_CHECK STANDIN
# STANDIN is tests/seeded/check_standin.c; beside it lie STANDIN-race, -asan and -schedule.
set -u
check=$1
standin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
failures=0

complain() {
    printf 'FAILED: %s\n' "$1"
    printf '  exit status %s\n' "$status"
    sed 's/^/  out: /' "$work/out"
    sed 's/^/  err: /' "$work/err"
    failures=$((failures + 1))
}

# run STATUS WORD...: gpurt-check with these words must end with that status.
run() {
    local want=$1
    shift
    what="gpurt-check $*"
    "$check" "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ "$status" -eq "$want" ] || complain "$what: status $want expected"
}

# says TEXT, errs TEXT, hides TEXT: standard output, standard error has it; output has it not.
says() { grep -qF -- "$1" "$work/out" || complain "$what: '$1' not printed"; }
errs() { grep -qF -- "$1" "$work/err" || complain "$what: '$1' not on standard error"; }
hides() { ! grep -qF -- "$1" "$work/out" || complain "$what: '$1' printed"; }

# The command after "Run it again:" must fail as the tool said, outside of the tool.
replay_fails_with() {
    local command
    command=$(grep -A1 '^Run it again:' "$work/out" | tail -1)
    (eval "$command") >"$work/replay" 2>&1
    status=$?
    [ "$status" -eq "$1" ] || complain "$what: replaying by '$command' gave $status, not $1"
}

# within_a_minute COMMAND...: until it is true.
within_a_minute() {
    local last=$((SECONDS + 60))
    until "$@"; do
        [ "$SECONDS" -lt "$last" ] || return 1
        sleep 0.05
    done
}

# has_gone PID: it has ended; one that nobody has waited for yet counts, too.
has_gone() { ! grep '^State:' "/proc/$1/status" 2>>"$work/replay" | grep -qv '^State:.Z'; }

test_passing() {
    run 0 -n 20 -- "$standin" pass
    says 'no seed from 1 to 20 fails'
    says '20 of 20 seeds ran'
    says '20 different schedules'
    [ ! -s "$work/err" ] || complain "$what: a word on standard error without a terminal"
    run 0 -n 20 --jobs 4 "$standin" pass
    says '20 of 20 seeds ran'
    run 0 -n 4 --first 18446744073709551612 -- "$standin" pass
    says 'no seed from 18446744073709551612 to 18446744073709551615 fails'
    run 0 -n 5 -- "$standin" silent
    says 'The runtime reported nothing'
    run 77 -n 5 -- "$standin" skip
    says 'every run was skipped'
    says '5 skipped (exit status 77)'
}

test_smallest() {
    run 1 -- "$standin" exit 7
    says 'gpurt-check: seed 7 fails: exit status 3, GPURT_E_TRAP'
    says '7 of 200 seeds ran'
    says "The runtime's report:"
    says '  a lane trapped'
    says '  standin: exit'
    says '  standin runs seed 7'
    says 'Schedule random, 70 switches, hash 0000000000abc007.'
    says 'It replays: a second run had the same end and the same schedule.'
    says 'GPURT_SEED=7'
    says 'gdb -q'
    replay_fails_with 3
    run 1 --jobs 8 -- "$standin" slow 2
    says 'seed 2 fails'
    run 1 --keep-going -n 40 -- "$standin" exit 31
    says 'seed 31 fails'
    says '40 of 40 seeds ran'
    says '10 failed'
    says 'Failing seeds: 31 32 33 34 35 36 37 38 39 40'
    run 1 --seed 90 -- "$standin" exit 7
    says 'seed 90 fails'
    says '1 of 1 seed ran'
}

test_schedules() {
    run 1 --seed 9 -- "$standin" exit 1
    says 'GPURT_SCHEDULE=random'
    run 1 --seed 10 -- "$standin" exit 1
    says 'GPURT_SCHEDULE=pct'
    run 1 --seed 9 --pct --strict -- "$standin" exit 1
    says 'GPURT_CHECK=scope,strict GPURT_SCHEDULE=pct'
    run 1 --seed 10 --random -- "$standin" exit 1
    says 'GPURT_SCHEDULE=random'
}

test_ways_to_fail() {
    run 1 -- "$standin" signal 3
    says 'seed 3 fails: killed by SIGSEGV'
    says 'a second run had the same end (no schedule was told)'
    replay_fails_with 139
    run 1 --timeout 3 -n 3 -- "$standin" hang 2
    says 'seed 2 fails: no end within 3 s'
    run 1 -- "$standin" swallow 5
    says 'seed 5 fails: GPURT_E_DEADLOCK, yet the program ended with exit status 0'
    says 'block 0 thread 1 waits for thread 2'
    says '--trust-exit'
    run 0 -n 9 --trust-exit -- "$standin" swallow 5
    run 1 -- "$standin" panic 4
    says 'seed 4 fails: 2 panics, yet the program ended with exit status 0'
    says '  panic in kernel standin'
    says '--allow-panics'
    run 1 --json -- "$standin" panic 4
    says '"end": "panicked"'
    run 0 -n 9 --allow-panics -- "$standin" panic 4
    run 0 -n 9 --trust-exit -- "$standin" panic 4
    rm -f "$work/state"
    STANDIN_STATE=$work/state run 1 -- "$standin" flaky 6
    says 'seed 6 fails: exit status 1'
    says 'It does not replay: the second run: passed.'
    rm -f "$work/state"
    STANDIN_STATE=$work/state run 1 -- "$standin" drift 6
    says 'It does not replay: the second run: exit status 3, another schedule.'
    run 1 -- "$standin" pipe 2
    says 'seed 2 fails: killed by SIGPIPE'
    run 1 -- "$standin" noise 1
    says '\x1b[31mred\xff "quoted"'
    cp "$standin" "$work/"$'steer\033[2J'
    run 1 -- "$work/"$'steer\033[2J' exit 1
    says "steer\\033[2J'"
    hides $'\033'
    replay_fails_with 3
    rm -f "$work/"$'steer\033[2J'
}

# What a program leaves running ends with it, and does not keep us waiting.
test_orphans() {
    local pid
    STANDIN_STATE=$work/state run 1 --timeout 20 -- "$standin" orphan 1
    says 'fails: exit status 3'
    pid=$(cat "$work/state")
    if ! within_a_minute has_gone "$pid"; then
        complain "$what: process $pid still runs"
        kill "$pid"
    fi
}

test_builds() {
    run 0 -n 2 --race -- "$standin" pass
    errs "$standin is a plain build: running $standin-race"
    run 0 -n 2 --asan -- "$standin" pass
    errs "running $standin-asan"
    run 0 -n 2 --schedule -- "$standin" pass
    errs "running $standin-schedule"
    run 1 --race -- "$standin-race" race 4
    says 'seed 4 fails: GPURT_E_TRAP, yet the program'
    says 'ThreadSanitizer:'
    says '  ==9==WARNING: ThreadSanitizer: data race'
    says 'halt_on_error=1:exitcode=66'
    TSAN_OPTIONS=history_size=3:exitcode=5 run 1 -n 4 -- "$standin-race" race 4
    says 'TSAN_OPTIONS=history_size=3:exitcode=5:halt_on_error=1'
    hides 'exitcode=66'
    cp "$standin" "$work/alone"
    run 125 --race -- "$work/alone" pass
    errs "--race needs a ThreadSanitizer build, but $work/alone is a plain build"
    cp "$standin" "$work/alone-race" # a sibling that is not what its name says
    run 125 --race -- "$work/alone" pass
    run 125 --asan -- "$standin-race" pass
    errs 'is a ThreadSanitizer build'
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$standin" >"$work/script"
    chmod +x "$work/script"
    run 0 -n 2 --race -- "$work/script" pass
    errs 'cannot be seen'
}

test_own_errors() {
    run 125
    errs 'no program given'
    run 125 --sede 4 -- "$standin"
    errs 'gpurt-check: unknown option --sede; did you mean --seed?'
    run 125 --race --asan -- "$standin"
    errs '--race and --asan exclude each other'
    run 125 -n 5 --first 18446744073709551612 -- "$standin"
    errs '--first is too large'
    run 127 -- "$work/nowhere"
    errs 'nowhere: No such file or directory'
    run 127 -- no-such-program-anywhere
    : >"$work/text"
    run 126 -- "$work/text"
    errs 'Permission denied'
    run 126 -- "$work"
    errs 'Is a directory'
    chmod +x "$work/text"
    printf '#!/no/such/shell\n' >"$work/text"
    run 127 -- "$work/text"
    errs 'interpreter or loader'
    printf '\177ELF' >"$work/text"
    run 126 -- "$work/text"
    errs 'Exec format error'
    TMPDIR=$work/nowhere run 125 -- "$standin" pass
    errs "no place for reports in $work/nowhere: No such file or directory"
    if [ -w /dev/full ]; then
        "$check" -n 1 -- "$standin" pass >/dev/full 2>"$work/err"
        status=$?
        [ "$status" -eq 125 ] || complain 'a lost summary passes for a printed one'
    fi
}

test_json() {
    command -v python3 >/dev/null || return 0
    run 1 --json -k -n 9 -- "$standin" noise 6
    python3 - "$work/out" <<'PYTHON' || complain "$what: not the JSON it should be"
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
f = d["failure"]
assert d["tool"] == "seeds" and d["seeds"] == 9 and d["ran"] == 9 and d["passed"] == 5, d
assert d["failing_seeds"] == [6, 7, 8, 9] and d["failed"] == 4 and d["schedules"] == 9, d
assert f["seed"] == 6 and f["end"] == "exit" and f["exit_status"] == 3, f
assert f["signal"] is None and f["status"] == "GPURT_E_TRAP" and f["replays"] is True, f
assert f["hash"] == "0000000000abc006" and f["report"] == "a lane trapped\n", f
assert f["stderr"].startswith("\x1b[31mred\ufffd \"quoted\"\n"), f
assert "GPURT_SEED=6" in f["replay"] and " gdb -q" in f["gdb"], f
PYTHON
    run 0 --json -n 2 --race -- "$standin" pass
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1]))
assert d["failure"] is None and d["tool"] == "race" and "plain build" in d["note"], d' \
        "$work/out" || complain "$what: not the JSON it should be"
}

# run_seeds PID SEED SEED: children of that process run them.
run_seeds() {
    local child found=' '
    for child in $(pgrep -P "$1"); do
        found+="$(tr '\0' '\n' 2>>"$work/replay" <"/proc/$child/environ" | sed -n 's/^GPURT_SEED=//p') "
    done
    [[ $found == *" $2 "* && $found == *" $3 "* ]]
}

# Ctrl-C: what is known is printed, the child ends, the shell sees the signal.
test_interrupt() {
    local pid words number=$1
    what="gpurt-check stopped by signal $number"
    env --default-signal=INT "$check" --jobs 2 -- "$standin" hang 3 \
        >"$work/out" 2>"$work/err" &
    pid=$!
    # With seeds 3 and 4 under way, 1 and 2 are told.
    within_a_minute run_seeds "$pid" 3 4 || complain "$what: seeds 3 and 4 do not run"
    kill "-$number" "$pid"
    wait "$pid"
    status=$?
    [ "$status" -eq $((128 + number)) ] || complain "$what: status $((128 + number)) expected"
    says "stopped by signal $number; so far:"
    says '2 of 200 seeds ran'
    for words in /proc/[0-9]*/cmdline; do
        [ "$(tr '\0' ' ' 2>>"$work/replay" <"$words")" != "$standin hang 3 " ] ||
            complain "$what: a child still runs"
    done
}

# A line of progress on a terminal, and nothing of it left behind.
test_terminal() {
    command -v script >/dev/null || return 0
    what='gpurt-check on a terminal'
    TERM=xterm script -qec "'$check' -n 30 '$standin'" "$work/replay" >"$work/out" </dev/null
    status=$?
    tr '\r' '\n' <"$work/replay" | grep -q 'of 30 seeds, 0 failed' || complain "$what: no progress"
    tr '\r' '\n' <"$work/replay" | grep -q '^.\[Kgpurt-check: no seed' || complain "$what: not erased"
}

test_passing
test_smallest
test_schedules
test_ways_to_fail
test_orphans
test_builds
test_own_errors
test_json
test_terminal
test_interrupt 2
test_interrupt 15
rm -f "$work"/{out,err,replay,state,alone,alone-race,script,text}
status=0
[ -z "$(ls -A "$work")" ] || { ls -lA "$work"; failures=$((failures + 1)); }
[ "$failures" -eq 0 ]
