#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_windows.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: --budget over a stand-in for CUPTI. Each launch is counted once,
# whether it has a record or not; totals are estimates, and say so; windows are as rare as the budget asks for; a GPU is
# not idle where nobody looked. What cannot be done is told.
# shellcheck disable=SC2016 # the variables are of jq
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
unset FAKE_PC GPURT_CUPTI_BUDGET

# The same as recorded, and the sums of the GPU.
run() {
    recorded "$@"
    "$bin/gpurt-log" stat --json run.gplog | jq .activity >json
}
holds() { jq -e "$@" json >/dev/null || fail "${*: -1}: $(jq -c '{windows, gpus, kernel_list}' json)"; }

# A program that is a third slower in windows has few of them, with 5 %. Each kernel of the stand-in takes 1 us. In the
# windows launches follow one another closely, and what lies between windows is nobody's idle time.
run --budget 5 -- running-windows 3500
launches=$(sed 's/ .*//' out)
holds --argjson n "$launches" '(.kernel_list | map(.count) | add) == $n and .kernels == $n and (.kernel_list | length) == 2'
holds '.kernel_list | all(.untimed > 0 and .untimed < .count and .mean_ns == 1000 and .estimated_error_ns == 0 and
    .estimated_total_ns == 1000 * .count and .total_ns == 1000 * (.count - .untimed))'
holds '.kernel_ns == ([.kernel_list[].estimated_total_ns] | add) and ([.kernel_list[].share_percent] | add) > 99.9'
holds '.windows | .budget_percent == 5 and .window_ms == 200 and .pause_ms >= 200 and .cost_percent < 5.1 and
    .slowdown_percent > 0 and .off_ns > 150000000'
holds '.windows.off_ns as $off | (.gpus | map(select(.ns > 0)) | length == 1 and all(.ns + $off < 3700000000 and .kernels_ns > 0))'
has '^kernels    [0-9]* of 2 names, ~[0-9.]* ms on GPUs, [1-9][0-9]* without times$' sums
has '^windows    200 ms of records in each [0-9.]* m*s, o[nf]*f* now; that and counting take ~[0-9.]*% of the time, budget 5.0%$' sums
has '^ *~[0-9.]*% *[0-9]* *~[0-9.]* ms .* oftenx(int)$' sums
has '^  ~ by the [0-9]* launches with records; totals of kernels with 1% and more are true to 0%$' sums
COLUMNS=150 "$bin/gpurt-top" -b -v gpu --replay run.gplog >top
has '^ windows: 200 ms of records in each ' top
has '~[0-9.]*% .*oftenx(int)' top
lacks 'WARN .*windows' text

# Graphs are counted. Of their nodes CUPTI gives no times to be believed; asked for, each graph has its own.
run --budget 5 -- running-graphs 1500
graphs=$(sed 's/ .*//' out)
holds --argjson n "$graphs" '.graphs == 0 and (.kernel_list | map({(.name): [.count, .untimed]}) | add) as $k |
    ($k | keys) == ["(graphs)", "alone"] and $k["(graphs)"] == [$n, $n] and $k.alone[0] == $n and $k.alone[1] < $n'
has "WARN .*graphs are counted and have no times: .*'budget,graphs', or --cupti graphs beside --budget, has them" text
run --budget 5 --cupti graphs -- running-graphs 700
graphs=$(sed 's/ .*//' out)
holds --argjson n "$graphs" '.graphs == $n and (.kernel_list | map(.name)) == ["alone"]'
lacks 'graphs are counted' text

# Waits would slow each call of CUDA down, also between windows. Asked for, they are recorded all the time.
run --budget 5 -- running-mixed 900
has ' copy host to device: ' text
lacks ' wait for ' text
run --budget 5 --cupti waits,graphs -- mixed
has ' wait for a stream: 10000 ns, ' text

# Where to count launches costs more than that, none opens, and it is told. What the first one costs stays: it opens once
# there is room.
run --budget 0.1 -- running-busy 700000
has 'WARN .*no windows of records for now: to count launches costs the program more than the budget' text
lacks 'WARN .*what runs is not watched' text # CUPTI tells of launches here, and goes on
has '^windows    none now: to count launches takes ~[0-9.]*% of the time, and the budget is 0\.1%$' sums
holds '.windows | .window_ms == 0 and .pause_ms == 0 and .cost_percent == .counting_percent and .cost_percent > 0.1'

# The environment says so, too; a budget that is none is the usual one.
GPURT_CUPTI_BUDGET=two run --cupti budget -- running-windows 1000
has 'WARN .*GPURT_CUPTI_BUDGET=two is not from 0.1 to 50 percent: it is 2' text
holds '.windows.budget_percent == 2'

# What excludes windows is told, and the rest goes on.
FAKE_PC=1 run --cupti budget,lines -- running-windows 300
has 'WARN .*no windows of records: CUPTI does not take them beside lines' text
holds '.windows == null and .kernels > 0'
run --cupti budget,kernels -- running-windows 700
has 'WARN .*no windows of records: kernels, copies or fills are asked for all the time, too' text
holds '.windows == null and .kernels > 0 and .untimed == 0'
run --cupti windows -- running-windows 300
has 'WARN .*no windows of records: their cost is seen by launches that are counted' text
FAKE_CUPTI=stands run --budget 5 -- running-windows 5000
has 'collector: .*windows of records stand still: CUPTI has not come back' text
FAKE_CUPTI=stays run --budget 5 -- running-windows 1200
has 'WARN .*records stay on, whatever they cost: CUPTI does not turn them off' text
holds '.kernels > 0 and .untimed > 0 and .untimed < .kernels / 2' # before the first window

# Where all kernels have records, those that were counted count once.
run --cupti kernels,counted -- running-windows 500
launches=$(sed 's/ .*//' out)
holds --argjson n "$launches" '.kernels == $n and .untimed == 0 and .windows == null and (.kernel_list | all(.estimated_total_ns == null))'

# Options that make no sense are refused before anything starts.
refused() {
    ! "$bin/gpurt-record" -q -o none.gplog "${@:2}" -- "$app" without 2>err || fail "${*:2} is taken"
    has "$1" err
    [ ! -e none.gplog ] || fail "${*:2} leaves a file"
}
refused "--budget: '0' is not from 0.1 to 50 percent" --budget 0
refused "--budget: '2%' is not from 0.1 to 50 percent" --budget 2%
refused "--budget chooses what is recorded: leave out --cupti, or name 'graphs' or 'waits' there" --budget 2 --cupti full
