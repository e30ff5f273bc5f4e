#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Services as objects of the log: live, as text and as JSON, until they have ended.
# Arguments: folder of the programs, service_app.
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
recorder=
clean() {
    exec 3>&- || true
    [ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 TZ=UTC

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

mkfifo line
GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o run.gplog -- "$app" <line >said &
recorder=$!
exec 3>line
until_true 'the service never answered' grep -q answered said

services='.objects.list | map(select(.class=="service")) | sort_by(.id)'
told() { "$bin/gpurt-top" --once --json -p "$(pgrep -P "$recorder" -f service_app)" >live.json 2>/dev/null &&
    jq -e "$services | length == 2 and .[0].fields.rings == 3" live.json >/dev/null; }
until_true 'gpurt-top never told of them' told
jq -e "$services | (.[0].fields | .name == \"service_echo\" and .kernel == \"service_echo\" and .state == \"running\" and
    .blocks == 2 and .running == 2 and .left == 0 and .started > 0) and
    (.[1].fields | .name == \"night watch\" and .rings == 0) and .[0].full_percent == 100" live.json >/dev/null ||
    fail "$(cat live.json)"
exec 3>&-
wait "$recorder"
recorder=

"$bin/gpurt-log" cat run.gplog >cat.txt
for text in 'service 1: name service_echo, kernel service_echo, state ended, blocks 2, running 0, coming 0, resting 0, left 2, rings 4,' \
    'service 2: name night watch, kernel service_echo, state ended,'; do
    grep -qF -- "$text" cat.txt || fail "no '$text' in $(cat cat.txt)"
done
