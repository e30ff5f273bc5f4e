#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# screens.sh BUILD [FOLDER] - draws the screens that README.md and the pages show, from real runs, into FOLDER
# (docs/screens): gpurt-top in a terminal of tmux, and what that terminal holds as SVG.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$(realpath "${1:?build folder}/bin") tests=$(realpath "$1/tests") folder=${2:-docs/screens}
dir=$(mktemp -d)
trap 'end_screen; rm -rf "$dir"' EXIT
export TERM=screen-256color LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=$dir
unset NO_COLOR TMUX
# shellcheck source=tests/tui/tmux.sh
. tests/tui/tmux.sh

mkdir -p "$folder"

# draw NAME TITLE: what the terminal holds now.
draw() {
    t capture-pane -p -e | tools/screen_svg.py "$2" >"$folder/$1.svg"
    echo "$folder/$1.svg"
}

start 96 30 "cd $dir; PATH=$bin:\$PATH gpurt-top --record run.gplog -- pipeline 200"
see 'PANIC 1'
see 'sold for'
draw top 'gpurt-top beside a program whose kernels log: one block panicked'

# A channel that is full: eight senders wait, and nobody receives.
start 96 24 "cd $dir; PATH=$bin:\$PATH gpurt-top -v objects:channel -- $tests/hang_app crowd"
see 'left'
t send-keys Enter
see 'senders waiting     8'
draw channel_full 'a page of gpurt-top: a channel is full, and eight senders wait'

# An executor under load, and one whose task comes to no end.
start 96 24 "cd $dir; PATH=$bin:\$PATH gpurt-top -v scheduler -- $tests/tasks_app load 20000"
see 'tasks are ready'
see '(executor 1)  busy'
see ' yields'
draw scheduler_busy 'the view of executors of gpurt-top: one is busy, with its kinds of tasks'
start 96 24 "cd $dir; PATH=$bin:\$PATH gpurt-top -v scheduler -- $tests/tasks_app stuck 20000"
see '(executor 1)  stuck'
see ' runs, 1.'
draw scheduler_stuck 'the view of executors of gpurt-top: a task comes to no end, and three wait for it'
