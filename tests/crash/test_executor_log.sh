#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An executor as an object of the log, at its end: what its tasks and warps did.
# Arguments: folder of the programs.
set -euo pipefail
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 TZ=UTC

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

GPURT_LOG=run.gplog "$bin/fib" 16 >said
tasks=$(sed -n 's/.* by \([0-9]*\) tasks$/\1/p' said)
[ "$tasks" -gt 100 ] || fail "$(cat said)"
"$bin/gpurt-log" stat --json run.gplog >stat.json
jq -e --argjson n "$tasks" '.objects.list | map(select(.class=="executor")) | length == 1 and
    (.[0] | .id == 1 and .fields.name == "fib_tasks" and .fields.live == 0 and .fields.ready == 0 and
     .fields.ended == $n and .fields.failed == 0 and .fields.cancelled == 0 and .fields.refused == 0 and
     .fields.at_once > 0 and .fields.useful_cycles > 0 and .fields.scheduling_cycles > 0)' stat.json >/dev/null ||
    fail "$(cat stat.json)"
