#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_collector.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS MANY [SANITIZER]: the collector over a stand-in for CUPTI, in programs that
# end in every way, from the call of the driver to the log file. MANY kernels are the crowd of one of them.
set -euo pipefail
many=$3 sanitized=${4:-}
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"

# Each box brings a block FILE that says who it belongs to, behind the first, which is there before any.
boxes() { echo $(($(LC_ALL=C grep -aoP 'GPL1\x01\x00\x01\x00' run.gplog | wc -l) - 1)); }

# run STATUS MODE...: under gpurt-record.
run() {
    local status=0 want=$1
    shift
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "$app" "$@" >out || status=$?
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want"
    "$bin/gpurt-log" verify run.gplog >/dev/null || fail "'$*': verify"
}

run 0 kernels 10000
counted kernels 10000
log_has 'collector: on; records 10000, without times 0, dropped 0' kernels
log_has 'kernel saxpy(float\*, float const\*, int): ' 'names as written'
log_has 'kernel void reduce<float>' 'names of templates'
log_has 'kernel plain_kernel: ' 'a name of C'
log_has 'grid 132,1,1 block 256,1,1, 40 registers, 1536 B shared, stream 7' fields
shown=$(COLUMNS=160 LINES=30 "$bin/gpurt-top" -b -v gpu --replay run.gplog)
for want in ' GPU  10000 kernels, ' ' mean        min        p50 ' 'reduce<float>'; do
    grep >/dev/null "$want" <<<"$shown" || fail "gpurt-top -b -v gpu: no $want in $shown"
done
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.kernel_list | length > 2 and all(.[]; .mean_ns == (.total_ns / .count | floor) and .min_ns <= .mean_ns and .mean_ns <= .max_ns)
    and (map(.share_percent) | add | . > 99.9 and . < 100.1)' >/dev/null || fail 'means and shares'
[ "$("$bin/gpurt-log" stat run.gplog | grep -A 1 '  share ' | awk 'NR == 1 { n = split($0, head) } NR == 2 { print head[5], $7, $8 }')" = 'min 1.00 us' ] || fail "min: $("$bin/gpurt-log" stat run.gplog)"
run 0 threads
if [ "$sanitized" ]; then # its drainer may be too slow for four threads at once: what is missing was counted as dropped
    kernels=$(lines ' kernel  *kernel ') dropped=$(field dropped)
    ((kernels <= 120000 && kernels + dropped >= 120000)) || fail "threads: $kernels kernels, $dropped dropped"
else
    counted threads 120000
fi
run 0 many # 300 threads, each with a buffer of its own
counted many 1500
run 137 kill 5000
counted kill 5000
run 0 _exit 5000
counted _exit 5000
run 0 exec 2000
counted exec 4000
run 0 fork-first 1000
counted fork-first 1000
run 0 fork
counted fork 2000
run 0 kernels "$many"
[ "$(field dropped)" = 0 ] || fail "$many kernels: dropped"
[ "$(field records)" -gt "$many" ] || fail "$many kernels: $(field records) records"

# Each other kind, as its words. Waits are for who asks, because each call of CUDA pays for them.
run 0 mixed
[ "$(lines ' wait ')" = 0 ] || fail "waits were not asked for"
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^GPU 0 .* copies [0-9.]*%, launch latency [0-9.]*%, idle [0-9.]*%; completion latency among these: add host-waits to --cupti$' ||
    fail "stat without waits: $("$bin/gpurt-log" stat run.gplog)"
GPURT_CUPTI=default,waits run 0 mixed
counted mixed 4
[ "$(lines ' copy ')" = 3 ] || fail "copies"
log_has 'copy host to device: 1048576 B in 40000 ns' copy
log_has 'copy device to host: 1024 B in 1000 ns' copy
log_has 'copy device 3 to device 1: 1048576 B in 300 ns' 'copy of two devices'
log_has 'fill: 4096 B in 1000 ns with 0x0*ff' fill
log_has 'wait for a stream: 10000 ns, stream 7' wait
[ "$(lines ' wait ')" = 1 ] || fail "a look that found nothing is no wait"
log_has 'overhead loading a function: 100 ns' overhead
[ "$(lines ' range ')" = 0 ] || fail "ranges were not asked for"
"$bin/gpurt-log" cat --jsonl run.gplog | grep >/dev/null '"device":0,.*"kind":"kernel","msg":"kernel first' || fail "jsonl"
"$bin/gpurt-log" cat --level debug run.gplog | grep >/dev/null ' kernel ' && fail "kernels are TRACE"
log_has 'of unknown kinds 1,' 'a kind that nobody asked for'
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^collector  on; .* 0 without times, 1 of unknown kinds' || fail 'stat: unknown kinds'
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.gpus[0] | .kernels_ns == 37000 and .copying_ns == 42300 and .waiting_ns == 1000 and .launching_ns == 20000 and
    .kernels_ns + .copying_ns + .waiting_ns + .launching_ns + .idle_ns == .ns' >/dev/null || fail "busy: $("$bin/gpurt-log" stat --json run.gplog | grep -o '"gpus":.*')"
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^copies     host to device: 1, 1.0 MiB, 26.21 GB/s' || fail "stat"
"$bin/gpurt-log" stat --json run.gplog | grep >/dev/null '"activity":{"kernels":4,"kernel_ns":37000,"untimed":0,' || fail "stat --json"
run 0 copies # by what the host's memory is, where it has a part in it
for want in 'host to device, pageable: 1000000 B in 1000 ns' 'host to device, pinned: 1000000 B in 2000 ns' 'device to host, pageable: 1000000 B in 3000 ns' \
    'device to host, managed: 1000000 B in 4000 ns' 'host to device: 1000000 B in 5000 ns' 'on the device: 1000000 B in 6000 ns'; do
    log_has "copy $want" copies
done
sums=$("$bin/gpurt-log" stat run.gplog)
for want in 'host to device, pageable: 1, 976.6 KiB, 1000.00' 'host to device, pinned: 1, 976.6 KiB, 500.00' 'host to device: 1, 976.6 KiB, 200.00' 'on device: 1,'; do
    grep >/dev/null "^copies     $want" <<<"$sums" || fail "copies: no $want in $sums"
done
sums=$("$bin/gpurt-log" stat --json run.gplog)
grep >/dev/null '{"kind":"host to device","memory":"pinned","count":1,"bytes":1000000,"ns":2000,"timed_bytes":1000000}' <<<"$sums" || fail "copies: $sums"
grep >/dev/null '{"kind":"on device","memory":null,' <<<"$sums" || fail "copies: $sums"
"$bin/gpurt-log" export --to csv run.gplog -o - | grep >/dev/null ',"host to device, pinned",' || fail 'copies: csv'
GPURT_CUPTI=all run 0 mixed
log_has 'take 4096 B at 0x7f0000001000, device' memory
log_has 'range begin: forward (default), id 5' range
log_has ' cudaLaunchKernel: 200 ns, result 0, thread 77' call
log_has ' cuMemAlloc_v2: 200 ns' call
GPURT_CUPTI=kernels run 0 mixed
counted kernels-only 4
[ "$(lines ' copy ')" = 0 ] || fail "GPURT_CUPTI=kernels"
GPURT_CUPTI=off run 3 mixed # the library was not loaded
GPURT_CUPTI=kernels,colour run 0 mixed
log_has "WARN .*'colour' is not known" 'a word that is none'

# More names than there is room for: kernels that come then have none, which is told, and what readers go by is known.
for count in 100 5000; do
    rm -f run.gplog
    GPURT_CUPTI=all "$bin/gpurt-record" -q -o run.gplog -- "$tests/names_app" "$count" || fail "$count names: exit status $?"
    counted "$count names" "$count"
    sums=$("$bin/gpurt-log" stat run.gplog)
    grep >/dev/null '^memory     device, GPU 0: 0 B at last, 4.0 KiB at most, taken 100 times, given back 100 times$' <<<"$sums" || fail "$count names: $sums"
    grep >/dev/null '^ranges     100 of 1 name, 0 without an end, 0 ends without a beginning, 0 marks$' <<<"$sums" || fail "$count names: $sums"
    state=on full=0
    [ "$count" = 100 ] || { state='on; no room for more names: what is new has none' full=1; }
    grep >/dev/null "^collector  $state; 0 dropped" <<<"$sums" || fail "$count names: $sums"
    [ "$(lines ' WARN .*no room for more names')" = "$full" ] || fail "$count names: $(lines ' WARN ') warnings"
done
[ "$(lines ' kernel (no room for more names)')" -gt 500 ] || fail "more names: $(lines ' kernel (no room ') without"

# Pools of memory come with memory; what is not told of one, is not known.
for kinds in memory all; do
    GPURT_CUPTI=$kinds run 0 pools
    [ "$(lines ' pool ')" = 4 ] || fail "pools, $kinds: $(lines ' pool ') records"
done
log_has 'dev1 *pool *pool made at 0x7f0000002000: 0 B, 0 B used, keeps 0 B, gives back above (B): never, not managed' pools
log_has 'pool trimmed at 0x7f0000002000: 2097152 B, 1048576 B used, keeps 777 B, gives back above (B): 4096, not managed' pools
log_has 'pool destroyed at .*, managed' pools
log_has 'pool made at 0x7f0000002000: unknown B, unknown B used, keeps 0 B, gives back above (B): unknown, of another process' pools
log_has 'records 4, without times 1' pools
[ "$(field pools)" = 4 ] || fail "pools: $(field pools) in the sums"
"$bin/gpurt-log" export --to chrome run.gplog -o - | grep >/dev/null '"pool trimmed"' || fail 'pools: a timeline'
sums=$("$bin/gpurt-log" stat run.gplog)
grep >/dev/null '^pool       0x7f0000002000, GPU 1, managed: 2.0 MiB, 1.0 MiB used; at last: pool destroyed$' <<<"$sums" || fail "pools: $sums"
run 0 pools
[ "$(lines ' pool ')" = 0 ] || fail 'pools: nobody asked'

# The host's side, by name: calls, ranges as their ends pair them, memory as its addresses do.
GPURT_CUPTI=all run 0 host
sums=$("$bin/gpurt-log" stat run.gplog)
for want in 'calls      3 of 2 names, 4.10 us, 0 without times, 1 with errors$' 'ranges     4 of 3 names, 1 without an end, 0 ends without a beginning, 0 marks$' \
    'memory     device, GPU 1: 1.0 MiB at last, 4.0 MiB at most, taken 2 times, given back 1 time$' 'memory     pinned: 4.0 KiB at last, ' \
    'memory     1 given back whose taking is not known' ' 97.56%         2    4.00 us    2.00 us .*       1  cudaLaunchKernel$' ' 58.82%         1   10.00 us .*       0  step (torch)$'; do
    grep >/dev/null "^$want" <<<"$sums" || fail "host: no $want in $sums"
done
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity | (.call_list | map([.name, .count, .total_ns, .max_ns, .errors]) == [["cudaLaunchKernel", 2, 4000, 3000, 1], ["cuMemAlloc_v2", 1, 100, 100, 0]])
    and (.range_list | map([.name, .domain, .count, .untimed, .total_ns]) == [["step", "torch", 1, 0, 10000], ["load", "torch", 2, 0, 7000], ["left", "torch", 1, 1, 0]]) and .ranges_open == 1
    and (.memory_list | map([.kind, .gpu, .bytes, .peak_bytes, .takes, .gives]) == [["device", 1, 1048576, 4194304, 2, 1], ["pinned", null, 4096, 4096, 1, 1]]) and .memory_about.gives_alone == 1' >/dev/null ||
    fail "host: $("$bin/gpurt-log" stat --json run.gplog)"
# The same on the screen, of a program that runs.
for want in calls:' 1  cudaLaunchKernel' ranges:' 1      0  left (torch)' memory:'device, GPU 1' 'pools:No pool of memory was made'; do
    shown=$(COLUMNS=120 LINES=30 GPURT_CUPTI=all "$bin/gpurt-top" -b -n 1 -v "${want%%:*}" -- "$app" host 2>&1)
    grep >/dev/null " kernels 0 .*calls 2 .*ranges 3 .*memory 2 .*pools 0 " <<<"$shown" || fail "gpurt-top -v ${want%%:*}: $shown"
    grep >/dev/null -e "${want#*:}" <<<"$shown" || fail "gpurt-top -v ${want%%:*}: no ${want#*:} in $shown"
done

# Unified memory, when it is asked for: what moved where, and who missed it. The driver may be late, and one counter missing.
for mode in at-once early half; do
    FAKE_CUPTI=$mode GPURT_CUPTI=default,managed run 0 managed
    [ "$(lines ' managed ')" = 11 ] || fail "managed, $mode: $(lines ' managed ') records"
    [ "$(lines ' WARN ')" = 0 ] || fail "managed, $mode: $("$bin/gpurt-log" cat run.gplog | grep ' WARN ')"
done
for want in 'dev1 *managed *managed memory, host to device: 1000 ns, 65537 B at 0x7f0000003000, faults 0' 'dev2 .* device to host: 2000 ns, 65538 B ' \
    'dev0 .* fault of the host: unknown ns, 0 B at 0x7f0000003000, faults 1' 'dev2 .* fault of a device: 4000 ns, 0 B at 0x7f0000003000, faults 65540' \
    'dev0 .* thrashing: unknown ns, 65541 B ' 'dev2 .* throttling: 6000 ns, 0 B ' 'mapped from afar: unknown ns, 65543 B ' \
    'dev1 .* device to device: 8000 ns, 65544 B ' ', something: unknown ns, 0 B ' ', host to device: unknown ns, '; do
    log_has "$want" managed
done
log_has 'records 11, without times 2' managed
sums=$("$bin/gpurt-log" stat run.gplog)
grep >/dev/null '^managed    host to device: 2, 128.0 KiB, 65.54 GB/s$' <<<"$sums" || fail "managed: $sums"
grep >/dev/null '^managed    faults of devices: 65540, 0 B, -$' <<<"$sums" || fail "managed: $sums"
"$bin/gpurt-log" stat --json run.gplog | grep >/dev/null '"managed":\[{"kind":"unknown","count":1,.*{"kind":"device to host","count":1,"bytes":65538,"ns":2000,' || fail 'managed: stat --json'
"$bin/gpurt-log" export --to csv run.gplog -o - | grep >/dev/null ',2000,"TRACE",[0-9]*,2,"cuda",.*,"managed",' || fail 'managed: csv'
"$bin/gpurt-log" export --to chrome run.gplog -o - | grep >/dev/null '"managed memory"' || fail 'managed: a timeline'
FAKE_CUPTI=unmanaged GPURT_CUPTI=default,managed run 0 unmanaged
counted unmanaged 1
[ "$(lines ' WARN .*refuses records of managed memory')" = 1 ] || fail "unmanaged: $("$bin/gpurt-log" cat run.gplog)"
GPURT_CUPTI=all run 0 unmanaged # nobody asked
FAKE_CUPTI=never GPURT_CUPTI=default,managed run 0 unmanaged # told with the last look
[ "$(lines ' WARN .*refuses records of managed memory')" = 1 ] || fail "never managed: $("$bin/gpurt-log" cat run.gplog)"

# A launch of a graph is one record, and says of how many nodes it was made, where the driver says it. Numbers 2 and 4098 share a
# place in the collector's table: the later one is known. It begins on the host, and ran where it ended.
export FAKE_GRAPHS=$tests/libfake_graphs.so
run 0 graphs
counted 'graphs, whole' 1
[ "$(lines ' graph [0-9]*: ')" = 31 ] || fail "graphs: $(lines ' graph [0-9]*: ') launches"
[ "$(lines ' graph 5: 1000 ns, stream 7, call [0-9]*, context 1, nodes known 1$')" = 10 ] || fail 'graph 5'
[ "$(lines ' graph 4098: 6000 ns, .* nodes known 7$')" = 10 ] || fail 'graph 4098'
[ "$(lines ' graph 2: 35000 ns, .* nodes known 0$')" = 10 ] || fail 'graph 2'
[ "$(lines ' graph 9: 3000 ns, .* nodes known 0$')" = 1 ] || fail 'a graph that was there before'
stat=$("$bin/gpurt-log" stat run.gplog)
grep >/dev/null '^graphs     launches: 31, 423.00 us on GPUs' <<<"$stat" || fail "graphs: $stat"
grep >/dev/null '%        10   60.00 us    6.00 us .*  graph 4098 (7 nodes)$' <<<"$stat" || fail "graphs: $stat"
grep >/dev/null '  graph 9$' <<<"$stat" || fail "graphs: $stat"
"$bin/gpurt-log" export --to csv run.gplog -o - | grep >/dev/null ',6000,"TRACE",[0-9]*,1,"cuda",1,7,.*,"graph 4098 (7 nodes)",,,"graph",' || fail "graphs: csv"
# One that ran on the host alone, as far as CUPTI says, is of no device: it makes none busy.
GPURT_CUPTI=default,waits run 0 host-graph
counted 'a graph of the host' 1
log_has ' dev?   graph       graph 3: 2000 ns, stream 7, call [0-9]*, context 0, nodes known 3$' 'a graph of the host'
log_has ' wait for a stream: 1000 ns, stream 7, call 0, context 9 of device 1$' 'a graph of the host'
"$bin/gpurt-log" cat --jsonl run.gplog | jq -se 'map(select(.kind == "graph")) | length == 1 and (.[0] | has("device") | not)' >/dev/null || fail 'a graph of the host: cat --jsonl'
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity | .graphs == 1 and .graph_ns == 2000 and .graph_list[0].total_ns == 2000 and .gpus_left_out == 0 and (.gpus | map(select(.ns > 0) | [.device, .kernels_ns]) == [[1, 1000]])' >/dev/null ||
    fail "a graph of the host: $("$bin/gpurt-log" stat --json run.gplog)"
"$bin/gpurt-log" export --to csv run.gplog -o - | grep >/dev/null ',2000,"TRACE",[0-9]*,,"cuda",,,.*,"graph 3 (3 nodes)",,,"graph",' || fail "a graph of the host: $("$bin/gpurt-log" export --to csv run.gplog -o - | grep '"graph"')"
"$bin/gpurt-log" export --to chrome run.gplog -o - | jq -e '(.traceEvents[] | select(.name == "thread_name" and .args.name == "graphs, on no GPU that is known") | [.pid, .tid]) as $track |
    [.traceEvents[] | select(.ph == "X" and .name == "graph 3 (3 nodes)") | [.pid, .tid]] == [$track]' >/dev/null || fail 'a graph of the host: a timeline'
"$bin/gpurt-log" export --to perfetto run.gplog -o - | grep -a >/dev/null 'graphs, on no GPU that is known' || fail 'a graph of the host: perfetto'
# The last word counts; the nodes are told instead.
for kinds in default,nodes graphs,default,nodes all kernels; do
    GPURT_CUPTI=$kinds run 0 graphs
    counted "graphs, $kinds" 424
    [ "$(lines ' graph [0-9]*: ')" = 0 ] || fail "graphs, $kinds: whole, too"
    [ "$(lines ' kernel node: 1000 ns, .*, graph 5, node 21474836481$')" = 10 ] || fail "graphs, $kinds: nodes"
done
GPURT_CUPTI=all,graphs run 0 graphs
counted 'graphs, all but nodes' 1
"$bin/gpurt-record" -q --cupti nodes -o by_option.gplog -- "$app" graphs
[ "$("$bin/gpurt-log" cat by_option.gplog | grep -c ' kernel ')" = 424 ] || fail '--cupti nodes'

# How much of its device a kernel could fill, where the driver tells what that holds: in the sums, the timeline, once for each
# device that tells all; also when it is late. A kernel of 256 threads, 40 registers and 1,536 B fills 48 of the 64 places of device 0.
for mode in at-once late; do
    FAKE_DRIVER=$mode GPURT_CUPTI_FLUSH_MS=20 run 0 persistent
    [ "$(lines ' device .*device of compute capability ')" = 2 ] || fail "capacity, $mode: $(lines ' device of ') devices"
    log_has 'dev0 *device *device of compute capability 9.0, 132 multiprocessors, warps of 32; each holds 2048 threads, 32 blocks, 65536 registers (a block 65536), 233472 B shared (a block takes 1024 more)' capacity
    "$bin/gpurt-log" stat run.gplog | grep >/dev/null '  40   1536  75%  persistent$' || fail "occupancy, $mode: $("$bin/gpurt-log" stat run.gplog)"
done
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.kernel_list[0].occupancy_percent == 75' >/dev/null || fail 'occupancy: stat --json'
"$bin/gpurt-log" export --to chrome run.gplog -o - | jq -e '[.traceEvents[] | select(.name == "persistent") | .args["occupancy percent"]] == [75]' >/dev/null || fail 'occupancy: a timeline'
GPURT_CUPTI_FLUSH_MS=20 run 0 order # it reads and writes several times
[ "$(lines ' device of compute capability ')" = 2 ] || fail "capacity is told once: $(lines ' device of ') devices"
GPURT_CUPTI=default,nodes run 0 graphs # on device 1
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.kernel_list | map(select(.name == "node")) | .[0].occupancy_percent == 100' >/dev/null || fail 'occupancy: device 1'
unset FAKE_GRAPHS
run 0 persistent
[ "$(lines ' device ')" = 0 ] || fail 'capacity: nobody told'
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '  40   1536    -  persistent$' || fail "occupancy unknown: $("$bin/gpurt-log" stat run.gplog)"
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.kernel_list[0].occupancy_percent == null' >/dev/null || fail 'occupancy unknown: stat --json'
"$bin/gpurt-log" export --to chrome run.gplog -o - | grep >/dev/null 'occupancy' && fail 'occupancy unknown: a timeline'
run 0 graphs # and where the driver does not say
[ "$(lines ' graph [0-9]*: .* nodes known 0$')" = 31 ] || fail "nodes that nobody told of"

# An address that is another name later.
run 0 addresses
counted addresses 20
[ "$(lines 'kernel before: ')" = 10 ] || fail "addresses: $(lines 'kernel before: ') kernels of the first name"
[ "$(lines 'kernel behind: ')" = 10 ] || fail "addresses: $(lines 'kernel behind: ') kernels of the second name"

# Two devices and three contexts, as of several GPUs or clients of MPS: none is taken for another.
run 0 several
counted several 40
for want in 0,1,10000 0,2,20000 1,3,70000; do
    sum=$("$bin/gpurt-log" export --to csv run.gplog -o - | awk -F, -v want="$want" 'BEGIN { split(want, w) } /,"kernel",/ && $5 == w[1] && $7 == w[2] && $8 == 7 { s += $2 } END { print s }')
    [ "$sum" = "${want##*,}" ] || fail "several: $sum ns, of device, context, ns: $want"
done
[ "$("$bin/gpurt-log" export --to jsonl run.gplog -o - | grep -c '"graph":5,"node":4294967298,')" = 10 ] || fail 'nodes of a graph'

# A wait is for one device: the other one's gap is nobody's fault. What it was for may not be known.
GPURT_CUPTI=default,waits run 0 two-waits
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.gpus[] | select(.device == 0) | .waiting_ns == 0 and .idle_ns == 80000000' >/dev/null || fail "two-waits: $("$bin/gpurt-log" stat run.gplog)"
log_has 'dev1 *wait *wait for a stream: 80000000 ns, stream 7, call 0, context 2 of device 1$' two-waits
log_has 'wait for a stream: 80000000 ns, stream 7, call 0, context 9 of an unknown device$' two-waits

# Who launched the graph of a kernel: it counts as a kernel either way.
GPURT_CUPTI=default,device-graphs,nodes run 0 by-device
counted by-device 3
[ "$(lines ', node 21474836481$')" = 1 ] || fail 'by-device: one by the host'
[ "$(lines ', graph 5, node 21474836482, launched by the device$')" = 1 ] || fail 'by-device: a node'
[ "$(lines ', graph 0, node 0, launched by the device$')" = 1 ] || fail 'by-device: no node'
[ "$(field kernels)" = 3 ] || fail "by-device: $(field kernels) kernels in the sums"
"$bin/gpurt-log" cat --jsonl run.gplog | grep >/dev/null '"kind":"kernel","msg":.*launched by the device"' || fail 'by-device: cat --jsonl'
[ "$("$bin/gpurt-log" export --to jsonl run.gplog -o - | grep -c '"node":21474836482,"launched":"device",')" = 1 ] || fail 'by-device: jsonl'
[ "$("$bin/gpurt-log" export --to chrome run.gplog -o - | grep -o '"launched by":"device"' | wc -l)" = 2 ] || fail 'by-device: a timeline'

# The file in front of a static kernel's name is nvcc's, and not shown.
run 0 static
log_has 'kernel parent(unsigned int\*): ' 'a static name'
log_has 'kernel plain: ' 'a static name of C'
log_has 'kernel __nv_static_400__a_b_plain: ' 'no static name'
log_has 'kernel __nv_static_18446744073709551614__a: ' 'nor this'

# A graph that a kernel launched: whole, with its launcher; beside it in sums and exports. One has no times.
export FAKE_GRAPHS=$tests/libfake_graphs.so
GPURT_CUPTI=default,device-graphs run 0 device-graphs
[ "$(lines ' WARN ')" = 0 ] || fail 'device-graphs: asked for'
[ "$(lines 'dev1 .* graph 5: 2000 ns, stream 14, call 0, context 3, nodes known 3, launched by graph 4098 on the device, ')" = 3 ] ||
    fail "device-graphs: $("$bin/gpurt-log" cat run.gplog)"
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^GPU 1      Stand-in of kind 1$' || fail "what a GPU is called: $("$bin/gpurt-log" stat run.gplog)"
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.gpus[] | select(.device == 1) | .name == "Stand-in of kind 1"' >/dev/null || fail 'what a GPU is called: JSON'
for want in 'beside it' 'after it' 'beside it, as of its stream'; do
    log_has " graph 5: 2000 ns, .* on the device, $want\$" device-graphs
done
log_has ' graph 5: unknown ns, .* on the device, in some way$' device-graphs
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '  graph 5 (3 nodes)$' || fail "device-graphs: $("$bin/gpurt-log" stat run.gplog)"
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.graphs == 5' >/dev/null || fail 'device-graphs: stat --json'
[ "$("$bin/gpurt-log" export --to jsonl run.gplog -o - | grep -c '"graph":5,.*"launched":"device",')" = 4 ] || fail 'device-graphs: jsonl'
[ "$("$bin/gpurt-log" export --to chrome run.gplog -o - | grep -o '"launched by":"device"' | wc -l)" -ge 3 ] || fail 'device-graphs: a timeline'
for kinds in kernels all default,nodes default; do # nobody asks: who may miss them is told how to, once
    GPURT_CUPTI=$kinds run 0 device-graphs
    [ "$(lines ' WARN .*graphs that kernels launch are not recorded: start the program with GPURT_CUPTI=default,device-graphs for them$')" = 1 ] ||
        fail "$kinds: device-graphs, not asked for: $("$bin/gpurt-log" cat run.gplog)"
    [ "$(lines ' on the device, ')" = 0 ] || fail "$kinds: device-graphs: there, and not asked for"
    log_has 'collector: on;' "$kinds: device-graphs"
done
run 0 graphs
[ "$(lines ' WARN ')" = 0 ] || fail 'graphs of the host alone'
"$bin/gpurt-log" export --to chrome run.gplog -o - | grep >/dev/null '"name":"GPU 0, Stand-in of kind 0"' || fail 'what a GPU is called: a timeline'
# Who asked, and was refused, is not told to ask.
FAKE_CUPTI=begun GPURT_CUPTI=default,device-graphs run 0 device-graphs
[ "$(lines ' WARN ')" = 1 ] || fail "refused: $("$bin/gpurt-log" cat run.gplog | grep ' WARN ')"
unset FAKE_GRAPHS

FAKE_CUPTI=begun GPURT_CUPTI=default,device-graphs run 0 static # what is refused is told
[ "$(lines ' WARN .*CUPTI tells of no graphs that kernels launch$')" = 1 ] || fail 'begun'
FAKE_CUPTI=begun run 0 static # nor asked for
[ "$(lines ' WARN ')" = 0 ] || fail 'begun, and not asked for'

# Times that cannot be: kept, without a duration, and counted.
run 0 bad
counted bad 9
[ "$(lines 'kernel bad: unknown ns')" = 5 ] || fail "bad times"
[ "$(lines 'B in unknown ns')" = 1 ] || fail "a copy without a beginning"
log_has 'records 10, without times 6' bad
"$bin/gpurt-log" stat run.gplog | grep >/dev/null '^collector  on; 0 dropped by CUPTI, no buffer 0 times, 6 without times, 0 of unknown kinds, 0 samples left out$' || fail 'bad: stat'
GPURT_CUPTI=all run 0 moments
log_has 'records 6, without times 4' moments
[ "$(lines ' memory *take ')" = 3 ] || fail "moments: $(lines ' memory *take ') of memory"
[ "$(lines ' range *range mark: here')" = 3 ] || fail "moments: $(lines ' range *range mark: here') marks"
"$bin/gpurt-log" export --to csv run.gplog -o - | awk -F, -v now="$(date +%s)" 'NR > 1 && ($1 / 1e9 < now - 1000 || $1 / 1e9 > now + 1000) { print "a row of second " $1 / 1e9; bad = 1 } END { exit bad || NR < 7 }' || fail 'moments: times that cannot be are in the log'

# A buffer that comes late; one that a running kernel holds, until the end.
run 0 order
counted order 2
[ "$("$bin/gpurt-log" cat run.gplog | grep -o 'kernel early\|kernel late' | tr '\n' ' ')" = 'kernel early kernel late ' ] || fail "order"
run 0 persistent
log_has 'kernel persistent: unknown ns' persistent
"$bin/gpurt-log" stat run.gplog >stat.txt
grep -q '^      -         1          -          -          -          -          -          -   ' stat.txt ||
    fail "times that nobody knows: $(cat stat.txt)"
grep -q '^back end   none: of host code, and of a GPU what the collector told$' stat.txt || fail "back end: $(cat stat.txt)"
"$bin/gpurt-log" stat --json run.gplog | grep >/dev/null '"mean_ns":null,"min_ns":null,"p50_ns":null,"p99_ns":null,"max_ns":null' ||
    fail 'times that nobody knows: JSON'

# What does not work is told, and the program goes on.
FAKE_CUPTI=clash run 0 without
log_has 'WARN .*another profiler holds CUPTI: CUPTI for Kineto' clash
# Host code has no multiprocessor, and a record without a site no line.
"$bin/gpurt-top" -b -n 1 --replay run.gplog >top.txt
grep -q ' WARN  *no records of kernels: another profiler' top.txt || fail "a line of host code: $(cat top.txt)"
# ... and where users look.
told "$("$bin/gpurt-log" stat run.gplog)" 'collector  no records of kernels: another profiler holds CUPTI: CUPTI for Kineto;' 'clash, stat'
told "$("$bin/gpurt-log" stat --json run.gplog)" '"state":"no records of kernels: another profiler holds CUPTI: CUPTI for Kineto"' 'clash, JSON'
told "$("$bin/gpurt-top" --replay run.gplog --once)" '^collector  no records of kernels' 'clash, picture'
FAKE_CUPTI=nameless run 0 kernels 100
counted nameless 100
FAKE_CUPTI=old run 0 without
log_has 'WARN .*CUPTI 22 found' old
# One of another CUDA that the program has loaded: no second one comes beside it.
cp "$tests/libfake_cupti.so" libcupti.so.12
FAKE_LOADED=$dir/libcupti.so.12 FAKE_CUPTI=old GPURT_CUPTI_LIBRARY=/nonexistent.so run 0 without
log_has "WARN .*the program has loaded CUPTI 22, of another CUDA than 13, .*: $dir/libcupti.so.12" 'CUDA 12'
FAKE_CUPTI=refuse run 0 kernels 100
counted refuse 100
log_has 'WARN .*refuses records of overhead' refuse
log_has 'collector: on; CUPTI refuses records of overhead; records 100,' refuse
# One trouble does not hide another.
FAKE_CUPTI=refuse GPURT_CUPTI=default,blah run 0 kernels 100
log_has 'WARN .*refuses records of overhead' 'refuse and blah'
log_has "WARN .*GPURT_CUPTI: 'blah' is not known" 'refuse and blah'
log_has "collector: on; CUPTI refuses records of overhead; GPURT_CUPTI: 'blah' is not known; records 100," 'refuse and blah'
long=$(printf 'x%.0s' {1..300}) # ... nor cuts it off
FAKE_CUPTI=refuse GPURT_CUPTI=default,$long run 0 kernels 100 2>said
# shellcheck disable=SC2016 # jq's variables
"$bin/gpurt-log" stat --json run.gplog | jq -e --arg long "$long" '.activity | .collector.state == .collectors[0].state and .collector.state == "on; CUPTI refuses records of overhead; GPURT_CUPTI: \u0027\($long)\u0027 is not known"' >/dev/null ||
    fail "a long state: $("$bin/gpurt-log" stat run.gplog)"
FAKE_CUPTI=clash GPURT_CUPTI=default,blah run 0 without
log_has "collector: no records of kernels: another profiler holds CUPTI: CUPTI for Kineto; GPURT_CUPTI: 'blah' is not known; records 0," 'clash and blah'
# Nor does it take a word that is known for one that is none to be told.
for words in kernel ALL off,kernel; do
    GPURT_CUPTI=$words run 0 without
    log_has "WARN .*no records of kernels: GPURT_CUPTI: 'kernel' is not known\|'ALL' is not known" "$words"
    log_has 'WARN .*GPURT_CUPTI takes off, default, live, all, later, kernels, copies, fills, waits, overhead, memory, ranges, calls, graphs, device-graphs, nodes, managed, samples, launches, running, counted, host-waits, full, lines, sampled, try-lines, windows, budget$' "$words"
    log_has 'collector: no records of kernels: GPURT_CUPTI: ' "$words"
done
# The recorder knows the words, too: of an option's it begins nothing, the environment's may be for others.
status=0
"$bin/gpurt-record" -q --cupti default,kernel -o none.gplog -- touch begun 2>said || status=$?
[[ $status = 125 && ! -e begun && ! -e none.gplog ]] || fail "--cupti with a word that is none: $status"
grep -q "^gpurt-record: --cupti: 'kernel' is not known; it takes off, default, " said || fail "$(cat said)"
GPURT_CUPTI=kernel run 0 without 2>said
grep -q "^gpurt-record: GPURT_CUPTI: 'kernel' is not known; it takes off, default, " said || fail "$(cat said)"
GPURT_CUPTI_LIBRARY=/nonexistent.so run 0 without
log_has 'WARN .*no records of kernels: no libcupti' missing
# One that is there and cannot be loaded is not missing.
cannot='WARN .*no records of kernels: CUPTI cannot be loaded:'
FAKE_STARVED=1 run 0 without
log_has "$cannot $tests/libfake_cupti.so: .*: Too many open files" 'no descriptor left'
echo nothing >short.so
GPURT_CUPTI_LIBRARY=$dir/short.so run 0 without
log_has "$cannot $dir/short.so: file too short" 'no library'
GPURT_CUPTI_LIBRARY=$tests/libfake_needs.so run 0 without
log_has "$cannot libfake_absent.so: .*: No such file or directory" 'a library that it needs'
# The recorder's last words: what it counted, and whose collector lacks what, the worst first.
# said WANT ARGUMENT...: of gpurt-record, with the pids taken out, the size, and records beside kernels, whose number is a matter of time.
said() {
    local want=$1
    shift
    rm -f run.gplog
    "$bin/gpurt-record" -o run.gplog "$@" 2>said >out || fail "$*: $(cat said)"
    "$bin/gpurt-log" verify run.gplog >/dev/null || fail "$*: verify"
    sed -i 's/^\(gpurt-record: \)[0-9]* records\?\(, 0 lost, 0 panics in run\.gplog \)([0-9]* bytes)/\1N records\2(N bytes)/; s/\[[0-9]*\]: /[PID]: /' said
    [ "$(cat said)" = "$want" ] || fail "$*: $(cat said)"
}
head='gpurt-record: N records, 0 lost, 0 panics in run.gplog (N bytes)' of='gpurt-record: the collector of cupti_app[PID]:'
clash='no records of kernels: another profiler holds CUPTI: CUPTI for Kineto'
said "$head; 2000 kernels" -- "$app" kernels 2000
[ "$(field kernels)" = 2000 ] || fail "kernels in the sums: $(field kernels)"
said "$head; 1 kernel, 31 launches of graphs" -- "$app" graphs
[ "$(field graphs)" = 31 ] || fail "graphs in the sums: $(field graphs)"
said "$head; 424 kernels" --cupti default,nodes -- "$app" graphs
said "$head; 0 kernels" -- "$app" without
FAKE_CUPTI=clash said "$head; 0 kernels
$of $clash" -- "$app" without
[ "$(lines "collector: $clash; ")" -ge 1 ] || fail 'the same words in the log'
# What records cost a program that launches much is told.
for _ in 1 2 3; do # a busy machine makes the time longer
    "$bin/gpurt-record" -a -o run.gplog -- "$app" kernels 20000 2>said >out
    ! grep -q 'recording took' said || break
done
grep -q '^gpurt-record: recording took some [0-9]*% of the time: 20000 launches, 1.3 us each on an H200; --cupti sampled costs less$' said || fail "cost: $(cat said)"
# Nothing with -q.
FAKE_CUPTI=clash "$bin/gpurt-record" -q -a -o run.gplog -- "$app" without 2>said >out
[ ! -s said ] || fail "-q: $(cat said)"
# Of several processes.
# shellcheck disable=SC2016 # the inner shell has the variables
for last in 'true' 'for i in 1 2 3 4 5; do FAKE_CUPTI=clash "$0" without; done'; do
    # A line for each is too much.
    [ "$last" = true ] && more="$of $clash
$of on; CUPTI refuses records of overhead" || more="$of $clash
$of $clash
$of $clash
$of $clash
gpurt-record: nor are the collectors of 3 more plainly on"
    said "$head; 30 kernels
$more" -- bash -c 'FAKE_CUPTI=refuse "$0" kernels 10; "$0" kernels 20; FAKE_CUPTI=clash "$0" without; '"$last"'; exit 0' "$app"
    # ... as the log has it: one that is broken does not hide behind one that spoke later.
    broken=$("$bin/gpurt-log" stat run.gplog | grep -c "^collector  cupti_app\[[0-9]*\]: $clash\$")
    told "$("$bin/gpurt-log" stat run.gplog)" '^collector  cupti_app\[[0-9]*\]: on; CUPTI refuses records of overhead$' 'several, stat'
    told "$("$bin/gpurt-log" stat run.gplog)" "^collector  1 of $((broken + 2)) processes plainly on; 0 dropped by CUPTI, " 'several, stat'
    # shellcheck disable=SC2016 # jq's variables
    "$bin/gpurt-log" stat --json run.gplog | jq -e --arg clash "$clash" --argjson broken "$broken" '(.programs | map(.pid)) as $pids | .activity | .collectors_left_out == 0 and
        (.collectors | map(.pid) | sort) == ($pids | sort) and (.collectors[:$broken] | all(.state == $clash and .on == false and .records == 0)) and
        (.collectors[$broken:] | map([.on, .records])) == [[false, 10], [true, 20]]' >/dev/null || fail "several, JSON: $("$bin/gpurt-log" stat --json run.gplog | jq -c .activity.collectors)"
done
began=$SECONDS
FAKE_CUPTI=hang run 0 kernels 5
[ $((SECONDS - began)) -lt 40 ] || fail "a driver that hangs held the program for $((SECONDS - began)) s"
silent='no records of kernels for now: CUPTI has not answered for three seconds'
[ "$(lines " WARN .*$silent")" = 1 ] || fail "hang: $("$bin/gpurt-log" cat run.gplog)"
told "$("$bin/gpurt-log" stat run.gplog)" "^collector  $silent;" 'hang, stat'
FAKE_CUPTI=slow said "$head; 2 kernels" -- "$app" seconds # it is told while the program runs, and that it is over
[ "$(lines " WARN .*$silent")" = 1 ] || fail "slow: $("$bin/gpurt-log" cat run.gplog)"
log_has "collector: $silent; records 0," slow
told "$("$bin/gpurt-log" stat run.gplog)" '^collector  on;' 'slow, stat'
counted slow 2
# Who starts CUDA and does nothing with it has a log that says so.
run 0 without
log_has 'collector: on; records 0,' nothing
began=$SECONDS
rm -f run.gplog
FAKE_CUPTI=hang GPURT_BACKEND=cpu timeout 30 "$bin/gpurt-record" -q -o run.gplog -- "$tests/both_app" early || fail 'hang in gpurt_close'
[ $((SECONDS - began)) -lt 40 ] || fail "a driver that hangs held gpurt_close for $((SECONDS - began)) s"
# A library that the user named and that is not there.
CUDA_INJECTION64_PATH=/nonexistent/profiler.so run 0 kernels 100
counted 'no next library' 100
log_has 'WARN .*the library that CUDA_INJECTION64_PATH named is not run: .*/nonexistent/profiler.so' 'no next library'
# Ranges that go elsewhere.
NVTX_INJECTION64_PATH=/nonexistent/nvtx.so GPURT_CUPTI=all run 0 mixed
log_has 'WARN .*no ranges: NVTX_INJECTION64_PATH gives them to /nonexistent/nvtx.so' 'ranges of another'

# NVML: both GPUs, once a second; one that hangs stops nothing else.
unset GPURT_NVML
GPURT_NVML_LIBRARY=$tests/libfake_nvml.so run 0 seconds
figures=$(lines ' environment ')
((figures >= 8 && figures <= 12)) || fail "$figures figures of two GPUs in 5.5 s"
log_has 'dev1 *environment *GPU 62%, memory 17%, 6442450944 of 161061273600 B used, 123457 of 700000 mW, 44 C, 1980 MHz, memory 3201 MHz' environment
# It is asked when the program has begun, not while CUDA starts.
echo go | GPURT_NVML_LIBRARY=$tests/libfake_nvml.so run 0 rank 5
[ "$(lines ' environment ')" = 2 ] || fail "$(lines ' environment ') figures of two GPUs in half a second"
GPURT_NVML_LIBRARY=$tests/libfake_nvml.so run 0 without
[ "$(lines ' environment ')" = 0 ] || fail "figures before the program has begun"
began=$SECONDS
FAKE_NVML=hang GPURT_NVML_LIBRARY=$tests/libfake_nvml.so run 0 seconds
[ $((SECONDS - began)) -lt 40 ] || fail "NVML held the program for $((SECONDS - began)) s"
[ "$(lines ' environment ')" = 2 ] || fail "$(lines ' environment ') figures before it hung"
[ "$(lines 'WARN .*NVML has not answered')" = 1 ] || fail "a driver that hangs is told of"
log_has 'kernel after: 1000 ns' 'kernels while NVML hangs'
told "$("$bin/gpurt-log" stat run.gplog)" '^collector  on;' 'NVML hangs, CUPTI does not'
"$bin/gpurt-log" stat run.gplog | grep '^collector .*NVML' && fail 'that NVML hangs is a state'
FAKE_NVML=mute GPURT_NVML_LIBRARY=$tests/libfake_nvml.so run 0 seconds
[ "$(lines ' environment ')" = 0 ] || fail "a driver that tells nothing"
export GPURT_NVML=off

# Nobody drains for a while: all of it is counted as lost, by CUPTI or by us.

rm -f run.gplog
env -u GPURT_HOST_RING_BYTES "$bin/gpurt-record" -q -o run.gplog -- "$app" stopped "$many" >out || fail "stopped"
lost=$(field dropped) kept=$(lines ' kernel ')
[ "$lost" -gt 0 ] || fail "stopped: nothing was lost"
[ "$(field starved)" -gt 0 ] || fail "stopped: there was always a buffer"
"$bin/gpurt-log" stat run.gplog | grep >/dev/null "^collector  on; [0-9]* dropped by CUPTI, no buffer $(field starved) times" || fail 'stopped: stat'
[ $((lost + kept)) = "$many" ] || fail "stopped: $kept kept and $lost lost of $many"

# A library that was named before runs first; without a drainer nothing happens at all.
CUDA_INJECTION64_PATH=$tests/libfake_profiler.so run 0 kernels 50
counted chain 50
[ "$(cat out)" = 'the other profiler' ] || fail "the other library: $(cat out)"
status=0
CUDA_INJECTION64_PATH=$bin/../lib/libgpurt-inject.so "$app" kernels 5 || status=$?
[ "$status" = 3 ] || fail "without a drainer: $status"

# A program that opens gpurt: one box, closed with all in it.
for when in early late; do
    rm -f run.gplog
    GPURT_BACKEND=cpu "$bin/gpurt-record" -q -o run.gplog -- "$tests/both_app" "$when" || fail "both, $when"
    "$bin/gpurt-log" stat run.gplog | grep >/dev/null '^back end   cpu' || fail "both, $when: $("$bin/gpurt-log" stat run.gplog)"
    log_has 'kernel inside: 1000 ns' "both, $when"
    log_has 'collector: on; records [12],' "both, $when"
    [ "$when" = early ] || log_has 'kernel early: 1000 ns' "both, $when"
    [ "$(boxes)" = 1 ] || fail "both, $when: $(boxes) boxes"
done

# One that has two boxes: the older one is the place of what the GPU did, and the other when that is closed.
rm -f run.gplog
GPURT_BACKEND=cpu "$bin/gpurt-record" -q -o run.gplog -- "$tests/both_app" two || fail 'two boxes'
log_has 'kernel before: 1000 ns' 'two boxes'
log_has 'kernel inside: 1000 ns' 'two boxes'
[ "$(boxes)" = 2 ] || fail "two boxes: $(boxes) were made"

# A file of its own: children that end close nothing of their parent's, and wait for nobody.
# Where its drainer does not start within three seconds, the machine is busy: the program says what that cost.
for _ in 1 2 3; do
    rm -f run.gplog
    PATH=$bin:$PATH GPURT_LOG=$dir/run.gplog CUDA_INJECTION64_PATH=$bin/../lib/libgpurt-inject.so timeout 30 "$app" fork 2>err
    grep -q 'are not in the log: the program ended before they were read' err || break
done
counted GPURT_LOG 2000
