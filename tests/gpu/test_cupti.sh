#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_cupti.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: the collector on a GPU. Programs that know nothing of gpurt do a known
# number of things and end in every way; each thing is in the log once.
set -euo pipefail
bin=$1 app=$2/cupti_plain nested=$2/cupti_nested
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_CUPTI CUDA_INJECTION64_PATH

fail() { echo "FAIL: $*" >&2; exit 1; }
lines() { "$bin/gpurt-log" cat run.gplog | grep -c "$1" || true; }
log_has() { "$bin/gpurt-log" cat run.gplog | grep >/dev/null -e "$1" || fail "no '$1' in: $("$bin/gpurt-log" cat run.gplog | tail -n 5)"; }

# run STATUS KERNELS MODE...: under gpurt-record.
run() {
    local status=0 want=$1 kernels=$2
    shift 2
    rm -f run.gplog
    timeout 60 "$bin/gpurt-record" -q -o run.gplog -- "$app" "$@" >out 2>err || status=$?
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want: $(cat err)"
    [ "$(lines ' kernel ')" = "$kernels" ] || fail "'$*': $(lines ' kernel ') kernels, not $kernels"
    [ "$(lines ' LOST ')" = 0 ] || fail "'$*': lost: $("$bin/gpurt-log" cat run.gplog | grep ' LOST ')"
}

run 0 20000 launch 20000
log_has 'kernel tick(unsigned int\*): [0-9]* ns, grid 1,1,1 block 32,1,1'
GPURT_CUPTI=default,nodes run 0 60 mix
[ "$(lines ' kernel .* graph [0-9]*, node ')" = 20 ] || fail "$(lines ' graph [0-9]*, node ') kernels of graphs"
[ "$(lines ' graph [0-9]*: ')" = 0 ] || fail "graphs, whole, beside their nodes"
GPURT_CUPTI=default,waits run 0 40 mix
[ "$(lines ' graph [0-9]*: [1-9][0-9]* ns, .* nodes known 10$')" = 2 ] || fail "graphs: $("$bin/gpurt-log" cat run.gplog | grep ' graph ')"
log_has 'kernel void add<float>(float\*, int): [0-9]* ns, grid 1024,1,1 block 256,1,1'
[ "$(lines ' copy ')" = 3 ] || fail "$(lines ' copy ') copies"
[ "$(lines ' fill ')" = 3 ] || fail "$(lines ' fill ') fills"
[ "$(lines ' wait ')" = 3 ] || fail "$(lines ' wait ') waits"
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^copies     device to host\(, pageable\|, pinned\): 1, 1.0 MiB, ' || fail "stat"
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^GPU 0      of ' || fail "stat: time of the GPU"
run 0 1 persistent
# 0.7 s; other programs of that GPU may have their turns between.
log_has 'kernel spin(unsigned long long): \(69\|7[0-9]\)[0-9]\{7\} ns'
run 0 20000 threads 5000
run 0 4000 reset 2000
run 0 2000 fork 2000
run 0 2000 fork_late 2000
run 0 2100 spawn 2000
run 137 2000 kill 2000
run 0 2000 _exit 2000
run 0 2001 trap 2000
log_has 'kernel fault(unsigned int\*): unknown ns'

# Figures of the GPU, once a second.
run 0 1 persistent
[ "$(lines ' environment ')" -ge 1 ] || fail "no figures of NVML"
log_has 'environment GPU [0-9]*%, memory [0-9]*%, [1-9][0-9]* of [1-9][0-9]* B used, [1-9][0-9]* of [1-9][0-9]* mW, [1-9]'

# How much of the GPU kernels can fill: one warp a block, so that the number of blocks is what limits it.
"$bin/gpurt-log" stat --json run.gplog | grep >/dev/null '"occupancy_percent":[1-9][0-9.]*' || fail "no occupancy: $("$bin/gpurt-log" stat --json run.gplog)"

# Launches, before they are made: what a program died in.
GPURT_CUPTI=default,launches run 0 2001 trap 2000
[ "$(lines ' launch ')" = 2001 ] || fail "$(lines ' launch ') launches of 2001"
"$bin/gpurt-panic" list run.gplog | grep >/dev/null '^last launch: fault(unsigned int\*), grid 1,1,1 block 1,1,1 from ' ||
    fail "last launch: $("$bin/gpurt-panic" list run.gplog)"

# Counters while a kernel runs, where the driver lets us have them: one block is one multiprocessor of all. No
# other test runs beside this one.
GPURT_CUPTI=default,samples run 0 1 persistent 3000
if "$bin/gpurt-log" cat run.gplog | grep 'WARN .*no samples of GPU'; then
    echo 'counters of the GPU are not to be had here: not tested'
else
    [ "$(lines ' sample of ')" -ge 500 ] || fail "$(lines ' sample of ') samples in 3 s"
    "$bin/gpurt-log" stat --json run.gplog | grep >/dev/null '"sm_active_percent":[0-4]\.[0-9]*[1-9]' ||
        fail "samples: $("$bin/gpurt-log" stat --json run.gplog | grep -o '"samples":{[^}]*}')"
fi

# What device code launches. CUPTI 13.0 tells of graphs, whole, with their launcher; but with a record of each node nothing of them, and
# nothing of kernels that a kernel launches without a graph.
app=$nested
run 0 100 nested 100
log_has 'kernel parent(unsigned int\*): [0-9]* ns'
run 0 0 graph 100
[ "$(lines ' graph [0-9]*: ')" = 100 ] || fail "$(lines ' graph [0-9]*: ') launches of graphs"
[ "$(lines ' WARN .*graphs that kernels launch are not recorded')" = 1 ] ||
    fail "graphs by the device: $("$bin/gpurt-log" cat run.gplog | grep ' WARN ')"
GPURT_CUPTI=default,device-graphs run 0 0 graph 100
[ "$(lines ' launched by graph [0-9]* on the device, beside it$')" = 100 ] ||
    fail "graphs by the device: $("$bin/gpurt-log" cat run.gplog | grep ' graph ' | tail -n 3)"
GPURT_CUPTI=default,nodes run 0 100 graph 100
log_has 'kernel shooter(CUgraphExec_st\*): [0-9]* ns, .*, graph [0-9]*, node [0-9]*$'
app=$2/cupti_plain

# Memory that moves between the host and the GPU.
GPURT_CUPTI=default,managed run 0 20 managed 20
[ "$(lines ' WARN ')" = 0 ] || fail "managed: $("$bin/gpurt-log" cat run.gplog | grep ' WARN ')"
log_has 'managed memory, host to device: [0-9]* ns, [1-9][0-9]* B at 0x'
log_has 'managed memory, device to host: [0-9]* ns, [1-9][0-9]* B at 0x'
log_has 'managed memory, fault of a device: [0-9]* ns, .* faults [1-9][0-9]*'
