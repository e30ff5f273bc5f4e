# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# scratch.sh - a folder for a test, which works in it, and what the test has started: both end with it. Sourced, before a test
# has a function `fail` that says more than the one here.
dir=$(mktemp -d)
started=() # processes
clean() {
    ((${#started[@]} == 0)) || kill -KILL "${started[@]}" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/wait.sh"
cd "$dir" || exit

fail() { echo "FAIL: $*" >&2; exit 1; }
