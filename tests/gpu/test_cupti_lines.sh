#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_cupti_lines.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS SOURCE: where kernels of a plain program stand while they run, on a
# GPU: the marked lines of SOURCE, with the reason, however the program ends. Skipped where the driver shows no counters.
set -euo pipefail
bin=$1 app=$2/cupti_lines source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_CUPTI CUDA_INJECTION64_PATH

fail() {
    echo "FAIL: $*" >&2
    head -n 12 shown >&2
    exit 1
}

# run STATUS ARGUMENTS...: recorded; what gpurt-log says of it.
run() {
    local status=0 want=$1
    shift
    rm -f run.gplog
    timeout 60 "$bin/gpurt-record" -q -o run.gplog --cupti default,lines -- "$app" "$@" 2>err || status=$?
    "$bin/gpurt-log" lines run.gplog >shown
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want: $(cat err)"
    "$bin/gpurt-log" cat run.gplog >text
    ! grep 'WARN .*no lines of GPU 0: its driver shows counters' text || exit 77
}

# stands MARK REASON: most samples are of that line, for that reason. A warp is sampled at the instruction that it issues
# next: behind a barrier or a sleep that may be the next line's.
stands() {
    local line lines
    line=$(grep -n "MARK $1 " "$source" | cut -d: -f1)
    lines=$line
    [[ $1 != barrier && $1 != sleep ]] || lines="\($line\|$((line + 1))\)"
    sed -n 3p shown | grep -q "cupti_lines.cu:$lines  $2" || fail "'$1': most samples are not of line $line, '$2'"
}

run 0 spin 2000
stands spin 'waits for global memory'
run 0 barrier 2000
stands barrier 'waits at a barrier'
run 0 sleep 2000
stands sleep sleeps
run 0 work 1000
stands work ''
run 0 work 20 # shorter than a look
stands work ''
run 137 barrier 8000 kill
stands barrier 'waits at a barrier'
# A kernel that runs as the program leaves holds nobody up.
began=$SECONDS
run 0 spin 20000 exit
stands spin 'waits for global memory'
[ $((SECONDS - began)) -lt 15 ] || fail "a program that leaves waited for its kernel: $((SECONDS - began)) s"
run 0 reset
stands work ''
[ "$(grep -c ' kernel stand_work' text)" = 3 ] || fail "$(grep -c ' kernel stand_work' text) kernels of three contexts"
