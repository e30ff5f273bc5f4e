# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# tmux.sh - a terminal to try screens on. Sourced with `dir` set to a folder of the test's own; skips without tmux.
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
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
    t -u new-session -d -x "$1" -y "$2" "$3; echo \"STATUS \$?\"; sleep 600"
}

# Taken whole, then searched: who stops reading a pipe early ends the one that writes.
on_screen() {
    local now
    now=$(t capture-pane -p) && [[ $now == *"$1"* ]]
}
off_screen() {
    local now
    now=$(t capture-pane -p) && [[ $now != *"$1"* ]]
}
# see TEXT: waits until it is on the screen. gone TEXT: until it is not.
see() { until_true "'$1' is not seen" on_screen "$1"; }
gone() { until_true "'$1' is still seen" off_screen "$1"; }
# drawn PATTERN: the screen has it, colours and all.
drawn() { t capture-pane -p -e | LC_ALL=C grep >/dev/null -E -e "$1"; }
# still: nothing on the screen moves for a while; what it was is in `before`. moved: it is another one now.
still() {
    before=$(t capture-pane -p)
    sleep 0.6
    [ "$before" = "$(t capture-pane -p)" ]
}
moved() { [ "$before" != "$(t capture-pane -p)" ]; }
keys() {
    local key
    for key; do
        t send-keys "$key"
        sleep 0.05
    done
}
