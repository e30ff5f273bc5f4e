#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_two_gpus.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: two GPUs in one program and in one log. What each did is counted once
# and is told of that one: kernels, copies and figures of a program that knows nothing of gpurt, what device code says, heaps.
set -euo pipefail
bin=$1 tests=$2
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
[ "$gpus" -ge 2 ] || {
    echo "$gpus GPU on this machine, two are needed: skipped"
    exit 77
}
dir=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_CUPTI CUDA_INJECTION64_PATH GPURT_LOG GPURT_DRAIN GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF CUDA_VISIBLE_DEVICES
export GPURT_BACKEND=cuda GPURT_POLICY=block

failed=0 # all of it is looked at: machines with two GPUs are rare
fail() {
    echo "FAIL: $*" >&2
    failed=$((failed + 1))
}
# record COMMAND...: under gpurt-record; its log is there as text and as JSON lines, too.
record() {
    rm -f run.gplog
    timeout 100 "$bin/gpurt-record" -q -o run.gplog -- "$@" >out 2>err || fail "'$*': exit status $?: $(tail -n 3 err)"
    "$bin/gpurt-log" cat run.gplog >text
    "$bin/gpurt-log" cat --jsonl run.gplog >lines
    "$bin/gpurt-log" stat run.gplog >sums
    [ "$(count text ' LOST ')" = 0 ] || fail "'$*': lost: $(grep ' LOST ' text | head -n 3)"
}
count() { grep -c -e "$2" "$1" || true; }
is() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }
has() { grep -q -e "$2" "$1" || fail "no '$2' in $1: $(head -n 4 "$1" | cut -c1-150)"; }

# ---- a program that knows nothing of gpurt: two threads, a GPU each, copies from one to the other -----------------------
plain() { # KERNELS MODE
    record "$tests/two_gpus" "$1" "$2"
    read -r _ zero one _ copies_zero copies_one _ peers <out
    is "$(count text ' dev0 .* kernel void work_on<0>\| dev0 .* kernel .*work_on<(int)0>')" "$zero" "kernels of GPU 0"
    is "$(count text ' dev1 .* kernel void work_on<1>\| dev1 .* kernel .*work_on<(int)1>')" "$one" "kernels of GPU 1"
    is "$(count text ' kernel  *kernel ')" $((zero + one)) "kernels in all"
    echo "copies, peers $peers, $2: $(grep ' copy  *copy ' text | sed 's/.* \(dev[0-9]\) *copy *copy \([a-z0-9, ]*\): .*/\1 \2/' | sort | uniq -c | tr '\n' ';')"
    if [ "$2" = peers ]; then
        is "$(count text ' copy  *copy device [01] to device [01]: 262144 B')" $((copies_zero + copies_one)) "copies between GPUs"
    else # those that do not reach into one another copy by way of the host: once there, once back; and each is looked at once
        is "$(count text ' dev0 *copy  *copy device to host[a-z, ]*: 262144 B')" $((copies_zero + 1)) "copies out of GPU 0"
        is "$(count text ' dev1 *copy  *copy device to host[a-z, ]*: 262144 B')" $((copies_one + 1)) "copies out of GPU 1"
        is "$(count text ' dev0 *copy  *copy host to device[a-z, ]*: 262144 B')" "$copies_one" "copies into GPU 0"
        is "$(count text ' dev1 *copy  *copy host to device[a-z, ]*: 262144 B')" "$copies_zero" "copies into GPU 1"
    fi
    is "$(count text ' dev0 .* fill: ')" 1 "fills on GPU 0"
    is "$(count text ' dev1 .* fill: ')" 1 "fills on GPU 1"
    has sums '^GPU 0      of .* kernels '
    has sums '^GPU 1      of .* kernels '
}
plain 1000 plain
has text 'dev0 *environment *GPU '
has text 'dev1 *environment *GPU '
"$bin/gpurt-log" export --to chrome run.gplog -o trace.json
has trace.json 'GPU 0'
has trace.json 'GPU 1'
"$bin/gpurt-log" stat --json run.gplog | python3 -c '
import json, sys
gpus = {g["device"]: g for g in json.load(sys.stdin)["activity"]["gpus"]}
assert set(gpus) >= {0, 1}, gpus.keys()
for n in 0, 1:
    g = gpus[n]
    assert g["kernels_ns"] > 0, g
    assert g["kernels_ns"] + g["copying_ns"] + g["waiting_ns"] + g["launching_ns"] + g["idle_ns"] == g["ns"], g
    assert g["environment"], g
' || fail "sums of the GPUs"
plain 1000 peers

# One of them hidden: numbers are the program's, and so are the figures of the device.
second=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | sed -n 2p)
CUDA_VISIBLE_DEVICES=$second record "$tests/cupti_plain" persistent
is "$(count text ' dev0 .* kernel spin')" 1 "kernels of the one that is seen"
is "$(count text ' dev1 ')" 0 "records of the hidden one"
has text 'dev0 *environment *GPU '

# ---- device code that logs, on each, from two processes at once, and from one, one after the other -----------------------
says() { # MESSAGES: of each GPU
    for n in 0 1; do
        is "$(grep '"msg":"device '"$n"' says ' lines | grep -c '"device":'"$n"',' || true)" "$1" "messages of GPU $n, as its own"
        is "$(count lines '"msg":"device '"$n"' says ')" "$1" "messages of GPU $n"
    done
    is "$(count lines 'where nobody listens')" 0 "messages of code on a GPU that is not open"
    has sums '^device 0   cuda, '
    has sums '^device 1   cuda, '
    is "$(grep '^heap .*, ended .* live bytes 0 B[ ,].* live 0[ ,]' sums | grep -cv ' on device ' || true)" 2 "heaps on GPU 0"
    is "$(count sums '^heap .* on device 1, ended .* live bytes 0 B[ ,].* live 0[ ,]')" 2 "heaps on GPU 1: $(grep '^heap' sums | cut -c1-120)"
    "$bin/gpurt-log" export --to chrome run.gplog -o trace.json
    has trace.json '"process_name","args":{"name":"GPU 0'
    has trace.json '"process_name","args":{"name":"GPU 1'
    has trace.json '"SM [0-9]* '
}
export GPURT_CUPTI=off # launches alone are looked at here
record bash -c "'$tests/two_gpus_log' on 0 2000 & '$tests/two_gpus_log' on 1 2000; first=\$?; wait \$! && exit \$first"
says 4000
record "$tests/two_gpus_log" both 2000
says 4000

# With the collector: one box for both, and kernels of gpurt_launch on the GPU that it has open.
unset GPURT_CUPTI
record "$tests/two_gpus_log" on 1 2000
is "$(count text ' dev1 .* kernel speak')" 4 "kernels of gpurt_launch on GPU 1"
is "$(count text ' dev0 .* kernel stray')" 1 "the plain kernel on GPU 0"
is "$(grep '"msg":"device 1 says ' lines | grep -c '"device":1,' || true)" 4000 "messages of GPU 1"
[ "$failed" = 0 ] || exit 1
echo "two GPUs: all right"
