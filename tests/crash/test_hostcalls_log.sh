#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Host calls in the log: what gpurt-log says of them is what the program did.
# Arguments: folder of the programs.
set -euo pipefail
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8

"$bin/gpurt-record" -q -o run.gplog -- "$bin/hostfile" primes.txt
# All ranges once: 9592 primes below 100000.
[ "$(sort -u primes.txt | wc -l)" = 200 ]
[ "$(awk '{n += $3} END {print n}' primes.txt)" = 9592 ]
"$bin/gpurt-log" stat --json run.gplog >state.json
# 256 lanes are told that there is no range; each range is asked for once and written once.
jq -e '[.objects.list[] | select(.class == "hostcalls")] | length == 1 and (.[0] | .ended and (.fields |
    .calls == 656 and .groups > 0 and .groups <= .calls and .ports == 128 and .in_flight == 0 and .late == 0 and
    .unknown == 0 and (.latency | add) == .groups))' state.json >/dev/null || {
    jq -c '.objects.list' state.json >&2
    exit 1
}
