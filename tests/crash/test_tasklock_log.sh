#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A lock of tasks as an object of the log: who holds it, how urgent that makes it, how often others found it held, and that
# its holder ended with it.
# Arguments: folder of the programs, tasklock_app.
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d) job=
trap 'kill "$job" 2>/dev/null || true; rm -rf "$dir"' EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 TZ=UTC PATH=$bin:$PATH

# Waits until the lock is so.
lock_is() {
    local tries=0
    until "$bin/gpurt-log" stat --json run.gplog >stat.json 2>/dev/null && jq -e '.objects.list[] |
        select(.class=="tasklock") | .fields.name == "sums" and ('"$1"')' stat.json >/dev/null; do
        ((tries++ < 300)) || {
            echo "FAIL: never $1: $(cat stat.json)" >&2
            exit 1
        }
        sleep 0.1
    done
}
GPURT_LOG=run.gplog "$app" &
job=$!
lock_is '.fields | .state == "held" and .level == 0 and .holder_row < 512 and .found_held > 3 and .owner_died == 0'
"$bin/gpurt-top" -b -n 1 -v objects:tasklock -r run.gplog >screen
grep -q 'sums .*held' screen || {
    echo "FAIL: $(cat screen)" >&2
    exit 1
}
kill -USR1 "$job"
lock_is '.fields | .state == "free" and .holder_row == null and .owner_died == 1'
kill -USR1 "$job"
wait "$job"
"$bin/gpurt-log" stat --json run.gplog | jq -e '.objects.list[] | select(.class=="tasklock") | .ended' >/dev/null
