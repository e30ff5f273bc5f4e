# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# tmux.sh - a terminal to try screens on. Sourced with `dir` set to a folder of the test's own; skips without tmux.
command -v tmux >/dev/null || {
    echo 'no tmux on this machine: skipped'
    exit 77
}
socket=${dir:?a folder}/tmux servers=0
t() { tmux -S "$socket" -f /dev/null "$@"; }
end_screen() { t kill-server 2>/dev/null || true; }

fail() {
    echo "FAIL: $*" >&2
    t capture-pane -p >&2 || true
    exit 1
}

# start COLUMNS ROWS COMMAND: a fresh screen; the shell says the status at the end.
start() {
    end_screen
    socket=$dir/tmux.$((++servers)) # the old server may still be on its way out
    t -u new-session -d -x "$1" -y "$2" "$3; echo \"STATUS \$?\"; sleep 60"
}

# see TEXT: waits until it is on the screen. gone TEXT: until it is not.
see() {
    for _ in $(seq 300); do
        t capture-pane -p | grep -Fq -- "$1" && return
        sleep 0.05
    done
    fail "'$1' is not seen"
}
gone() {
    for _ in $(seq 300); do
        t capture-pane -p | grep -Fq -- "$1" || return 0
        sleep 0.05
    done
    fail "'$1' is still seen"
}
keys() {
    local key
    for key; do
        t send-keys "$key"
        sleep 0.05
    done
}
