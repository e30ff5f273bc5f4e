#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_ranks.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: two processes that are recorded at once into one log, each with its
# device 0, context 1, stream 7 and graph 3: as a launcher starts them that gives each a GPU of its own, or one to both.
# shellcheck disable=SC2016 # jq and the inner shell have variables of their own
set -euo pipefail
bin=$1 tests=$2
dir=$(mktemp -d)
recorder=
clean() {
    [ -z "$recorder" ] || kill -KILL "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
export GPURT_CUPTI_LIBRARY=$tests/libfake_cupti.so GPURT_NVML_LIBRARY=$tests/libfake_nvml.so
export FAKE_GRAPHS=$tests/libfake_graphs.so ASAN_OPTIONS=detect_leaks=0 APP=$tests/cupti_app
unset GPURT_CUPTI GPURT_NVML CUDA_INJECTION64_PATH FAKE_CUPTI FAKE_DRIVER FAKE_NVML FAKE_VISIBLE

fail() { echo "FAIL: $*" >&2; exit 1; }

# ranks ONE OTHER: the GPU that each sees. The first has 10 kernels `even`, the other 20 `odd`; one more each when both are there.
ranks() {
    rm -f run.gplog go.* out.*
    mkfifo go.0 go.1
    "$bin/gpurt-record" -q -o run.gplog -- bash -c '
        FAKE_VISIBLE=$0 "$APP" rank 10 even <go.0 >out.0 & even=$!
        FAKE_VISIBLE=$1 "$APP" rank 20 odd <go.1 >out.1 & odd=$!
        echo "$even $odd" >pids
        wait "$even" && wait "$odd"' "$1" "$2" &
    recorder=$!
    exec 8>go.0 9>go.1
    until_true 'both are there' grep -q ready out.0
    until_true 'both are there' grep -q ready out.1
    echo go >&8
    echo go >&9
    exec 8>&- 9>&-
    wait "$recorder" || fail "gpurt-record: $?"
    recorder=
    read -r even odd <pids
    "$bin/gpurt-log" verify run.gplog >/dev/null || fail verify
}

# holds WHAT FILTER: of gpurt-log stat --json.
holds() {
    "$bin/gpurt-log" stat --json run.gplog | jq -e --argjson even "$even" --argjson odd "$odd" ".activity | $2" >/dev/null ||
        fail "$1: $("$bin/gpurt-log" stat --json run.gplog | jq -c '.activity | .gpus, .gpus_left_out, .graph_list, .kernel_list')"
}

# A GPU each: two GPUs, told apart in all that is told of them, and the second place says whose 0 it is.
ranks 0 1
zero='map(select(.uuid == "67707572-7420-7374-616e-642d696e2030")) | .[0]' one='map(select(.uuid == "67707572-7420-7374-616e-642d696e2031")) | .[0]'
holds 'two GPUs' '.gpus_left_out == 0 and (.gpus | map(.device)) == [0, 1]'
holds 'time of each' "(.gpus | $zero | .kernels_ns) < (.gpus | $one | .kernels_ns)"
holds 'kernels of the first' "(.gpus | $zero | .kernels_ns) >= 11000 + 5000 and (.gpus | $zero | .kernels_ns) < 20000"
holds 'figures of each' "(.gpus | $zero | .environment.gpu_percent) == 61 and (.gpus | $one | .environment.gpu_percent) == 62"
holds 'whose is 0' '(.gpus[0].called == null) and .gpus[1].called.device == 0 and .gpus[1].called.more == 0'
holds 'whose is the other' 'if .gpus[1].uuid[-2:] == "31" then .gpus[1].called.pid == $odd else .gpus[1].called.pid == $even end'
holds 'occupancy by GPU' '(.kernel_list | map({(.name): .occupancy_percent}) | add) as $k | $k.even == 75 and $k.odd == 100'
holds 'kernels by name' '.kernels == 32 and (.kernel_list | map({(.name): .count}) | add) == {"even": 10, "odd": 20, "saxpy(float*, float const*, int)": 2}'
holds 'graphs by process' '(.graph_list | map({graph, pid, nodes, count, total_ns}) | sort_by(.nodes)) ==
    [{graph: 3, pid: $even, nodes: 10, count: 1, total_ns: 5000}, {graph: 3, pid: $odd, nodes: 20, count: 1, total_ns: 5000}]'
stat=$("$bin/gpurt-log" stat run.gplog)
grep >/dev/null "^GPU 1 (0 of process \($even\|$odd\)) of " <<<"$stat" || fail "stat: $stat"
grep >/dev/null "  graph 3 (10 nodes) of $even\$" <<<"$stat" || fail "stat: $stat"

# One GPU for both: it is one.
ranks 1 1
holds 'one GPU' '(.gpus | length) == 1 and .gpus[0].device == 0 and .gpus[0].called == null'
# What both run at once counts once: as much as the longer one, at least, and no more than both.
time_of_both='.gpus[0].kernels_ns >= 21000 + 5000 and .gpus[0].kernels_ns <= 32 * 1100 + 10000'
holds 'time of both' "$time_of_both"

# A driver that tells no UUID: numbers are all that is known.
FAKE_DRIVER=nameless ranks 0 1
holds 'no UUID' "($time_of_both) and all(.gpus[]; .uuid == null and .called == null)"
