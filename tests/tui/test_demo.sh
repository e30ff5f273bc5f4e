#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo: without a terminal, and on one; and a kernel without end. Argument: the build folder.
set -euo pipefail
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 GPURT_BACKEND=cpu
unset NO_COLOR TMUX GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF

# has COUNT PATTERN: so many lines of the output match.
has() {
    [ "$(grep -c -- "$2" "$dir/out")" = "$1" ] || {
        echo "FAIL: '$2' is not there $1 times:" >&2
        cat "$dir/out" >&2
        exit 1
    }
}

tools/demo.sh "$build" >"$dir/out" </dev/null
# One a second and one at the end; how many that are depends on how busy the machine is.
[ "$(grep -c '^gpurt-top .* pipeline\[' "$dir/out")" -ge 2 ] || has 2 '^gpurt-top .* pipeline\['
has 1 'ended with status 0'
has 1 '^pipeline: 29 batches good, 1 bad'
has 1 '^panic 1 of 1 in '
has 1 '^> .*GPURT_ASSERT(order->item < PIPELINE_ITEMS'
has 1 '^panics  *1$'
grep -q $'\033' "$dir/out" && has 0 'a colour without a terminal'
# The commands that it names do work.
sed -n '/^Look again/,$s/^  \([^ ].*\)/\1/p' "$dir/out" >"$dir/commands"
[ "$(wc -l <"$dir/commands")" = 4 ] || has 0 'four commands'
sed -n '1,3p' "$dir/commands" | while read -r command; do
    bash -c "$command" >"$dir/again" 2>&1 </dev/null || has 0 "$command"
    grep -q 'item 70211 of 1000' "$dir/again" || has 0 "the panic by $command"
done

# shellcheck source=tests/tui/tmux.sh
. tests/tui/tmux.sh
trap 'end_screen; rm -rf "$dir"' EXIT
TERM=screen-256color start 100 40 "tools/demo.sh $build"
see 'pipeline['
see 'LIVE'
see 'PANIC 1'
see 'Look again'
see 'STATUS 0'
t capture-pane -p -S -200 | grep >/dev/null 'panic 1 of 1' || fail 'the report'

# A kernel that never ends: Ctrl-C asks, and ends it.
start 100 30 "$build/bin/gpurt-top -- $build/bin/log_storm 2 32 4000000000"
see 'LIVE'
see 'log_storm_kernels.c'
keys C-c
see 'still runs'
keys Enter
see 'STATUS 143'
echo 'all well'
