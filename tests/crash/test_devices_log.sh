#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process with several devices open: what each says is told as its own, once. Under gpurt-record all of it is in one log;
# by GPURT_LOG each device has a file. Arguments: folder of the programs, devices_app, how many devices.
set -euo pipefail
bin=$1 app=$2 devices=${3:-3}
if [ "${GPURT_BACKEND:-cpu}" = cuda ]; then
    devices=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
    [ "$devices" -ge 2 ] || {
        echo "$devices GPU on this machine, two are needed: skipped"
        exit 77
    }
    devices=2
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF
# A drainer that is held up for a moment costs no message.
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off GPURT_POLICY=block
messages=500

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
is() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }
count() { grep -c -e "$2" "$1" || true; }
last=$((devices - 1))

"$bin/gpurt-record" -q -o run.gplog -- "$app" "$devices" "$messages"
"$bin/gpurt-log" cat --jsonl run.gplog >lines
"$bin/gpurt-log" stat run.gplog >sums
for ((i = 0; i < devices; i++)); do
    is "$(count lines "\"device\":$i,.*\"msg\":\"device $i says ")" "$messages" "messages of device $i"
    is "$(count lines "\"msg\":\"device $i says ")" "$messages" "messages of device $i, told as any's"
    is "$(count sums "^device $i   ")" 1 "device $i in the sums"
    is "$(count lines "\"level\":\"PANIC\",.*\"device\":$i,.*\"msg\":\"device $i raises\"")" 2 "panics of device $i, a warp each"
done
is "$(count sums '^heap ')" "$devices" "heaps"
"$bin/gpurt-panic" list run.gplog | grep >/dev/null "^$((2 * devices)) panics at 1 site" || fail "panics: $("$bin/gpurt-panic" list run.gplog)"
is "$(count lines '"msg":"the host, with ')" 1 "what the host said first"
is "$(count lines '"msg":"the host, when 0 is closed')" 1 "what it said when the first device was gone"

# One after the other. The class of the heaps is then the last definition of the log, or the messages' site is.
"$bin/gpurt-record" -q -o each.gplog -- "$app" "$devices" "$messages" each
"$bin/gpurt-log" stat each.gplog >sums
is "$(count sums '^heap .*, ended ')" "$devices" "heaps of devices one after the other"
is "$("$bin/gpurt-log" stat -F "level>=trace" each.gplog | sed -n 's/^sites  *//p')" "$(sed -n 's/^sites  *//p' sums)" "sites, by a filter"

# Each in a file of its own: the first device's has the name that was given.
GPURT_LOG=own/run.gplog
export GPURT_LOG
mkdir own
PATH=$bin:$PATH "$app" "$devices" "$messages"
for ((i = 0; i < devices; i++)); do
    file=own/run$([ "$i" = 0 ] || echo ".$i").gplog
    "$bin/gpurt-log" cat --jsonl "$file" >lines
    is "$(count lines "\"device\":$i,.*\"msg\":\"device $i says ")" "$messages" "messages of device $i in $file"
    is "$(count lines '"msg":"device ')" $((messages + 2)) "messages and panics in $file"
done
is "$("$bin/gpurt-log" cat own/run.gplog | grep -c 'the host, with')" 1 "what the host said first"
is "$("$bin/gpurt-log" cat own/run.1.gplog | grep -c 'the host, when 0 is closed')" 1 "what it said then"
is "$(find own -name '*.gplog' | wc -l)" "$devices" "files, the last of them run.$last.gplog"
