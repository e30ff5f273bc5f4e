#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD - a service whose kernels log, and one of whose blocks panics, under gpurt-top: a screen on a terminal,
# pictures elsewhere. Then the report of the panic, tasks of a scheduler, and how to look again. Ends by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${1:?build folder}/bin log=$1/demo.gplog tasks=$1/tasks.gplog

step() { printf '\n\033[1m%s\033[0m\n$ %s\n\n' "$1" "$2"; }
[[ -t 1 && ! ${NO_COLOR:-} ]] || step() { printf '\n%s\n$ %s\n\n' "$1" "$2"; }

run() { # TITLE COMMAND...
    step "$1" "${*:2}"
    "${@:2}"
}

batches=100 how=(--exit)
[[ -t 0 && -t 1 ]] || {
    batches=30 how=(--batch)
    exec 2>&1 # where the pictures go
}
rm -f "$log" "$tasks" "$1/tasks.pftrace"
status=0
run '1. A service that works off batches of orders. One order asks for an item that does not exist.' \
    "$bin/gpurt-top" "${how[@]}" --record "$log" -- "$bin/pipeline" "$batches" || status=$?
((status == 0 || status == 143)) || { # 143: the user ended it
    echo "demo: pipeline ended with $status" >&2
    exit 1
}

run '2. The block that met it ended there, the service went on. What it was:' "$bin/gpurt-panic" show -r 6 --source . "$log"
run '3. Everything else is in the same file.' "$bin/gpurt-log" stat "$log"

run '4. Tasks: a tree of them on one kernel that stays, and which of them ran where and when.' \
    "$bin/gpurt-record" -o "$tasks" -- "$bin/fib" 21
run '5. What that scheduler did.' "$bin/gpurt-top" --batch -n 1 -v scheduler --replay "$tasks"
run '6. The same as a timeline: drop the file on https://ui.perfetto.dev.' \
    "$bin/gpurt-log" export --to perfetto -o "$1/tasks.pftrace" "$tasks"

printf '\nLook again, at any time:\n'
printf '  %s\n      %s\n' \
    "$bin/gpurt-top --replay $log" 'the screen: [ and ] go back and on, 3 shows the panic, F1 helps' \
    "$bin/gpurt-log cat --level warn $log" 'the messages' \
    "$bin/gpurt-panic show $log" 'the panic, with more of what came before it' \
    "$bin/gpurt-top -- $bin/pipeline 400" 'the service once more, for longer'
printf '\nAnd ./dev demo check: bugs found on the CPU.\n'
