#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# screens.sh BUILD [FOLDER] - draws the screen that README.md shows, from a real run of the demo's service, into FOLDER
# (docs/screens): gpurt-top in a terminal of tmux, and what that terminal holds as SVG.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$(realpath "${1:?build folder}/bin") folder=${2:-docs/screens}
dir=$(mktemp -d)
trap 'end_screen; rm -rf "$dir"' EXIT
export TERM=screen-256color LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=$dir
unset NO_COLOR TMUX
# shellcheck source=tests/tui/tmux.sh
. tests/tui/tmux.sh

start 96 30 "cd $dir; PATH=$bin:\$PATH gpurt-top --record run.gplog -- pipeline 200"
see 'PANIC 1'
see 'sold for'
mkdir -p "$folder"
t capture-pane -p -e | tools/screen_svg.py 'gpurt-top beside a program whose kernels log: one block panicked' >"$folder/top.svg"
echo "$folder/top.svg"
