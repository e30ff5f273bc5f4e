# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# wait.sh - waiting for what comes, where a sleep would hope for it. Sourced by tests that have a function `fail`.

# until_true WHAT COMMAND...: until the command is true; a minute at most, machines may be busy.
until_true() {
    local what=$1 last=$((SECONDS + 60))
    shift
    while ! "$@" >/dev/null 2>&1; do
        ((SECONDS < last)) || fail "$what: $("$@" 2>&1 | cut -c1-600)"
        sleep 0.02
    done
}
