#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_cupti_budget.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: --budget on a GPU. Each launch counts once, totals that are
# estimated by windows are near those of a run with all records, and CUPTI lets records be turned on and off while the
# program launches.
set -euo pipefail
bin=$(realpath "$1") app=$(realpath "$2")/cupti_lines
pairs=5000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_CUPTI GPURT_CUPTI_BUDGET CUDA_INJECTION64_PATH

fail() {
    echo "FAIL: $*" >&2
    "$bin/gpurt-log" stat run.gplog >&2 || true
    exit 1
}
# run OPTION... : and of each kernel its count, launches without times, and the total, recorded or estimated.
run() {
    rm -f run.gplog
    timeout 100 "$bin/gpurt-record" -q -o run.gplog "$@" -- "$app" pairs $pairs >out 2>err || fail "'$*': exit status $?: $(cat err)"
    ! "$bin/gpurt-log" cat run.gplog | grep WARN || fail "'$*': a warning"
    "$bin/gpurt-log" stat --json run.gplog >stat.json
    jq -r '.activity.kernel_list[] | select(.name | startswith("stand_")) |
        "\(.name) \(.count) \(.untimed) \(.estimated_total_ns // .total_ns)"' stat.json | sort
}
run --cupti default >exact
run --budget 5 >windows
[[ $(wc -l <exact) -eq 2 && $(wc -l <windows) -eq 2 ]] || fail "two kernels: $(cat exact windows)"
paste -d ' ' exact windows | awk -v pairs=$pairs '
    { n = NF / 2 }
    $(n - 2) != pairs || $(2 * n - 2) != pairs { print "count: " $0; bad = 1 }
    $(n - 1) != 0 || $(2 * n - 1) == 0 || $(2 * n - 1) == pairs { print "untimed: " $0; bad = 1 }
    { ratio = $(2 * n) / $n }
    ratio < 0.9 || ratio > 1.1 { print "total: " $0; bad = 1 }
    END { exit bad }' >bad || fail "$(cat bad)"
jq -e '.activity | .windows.cost_percent <= 5.2 and .windows.off_ns > 0 and .windows.window_ms == 200' stat.json >/dev/null ||
    fail "windows: $(jq -c .activity.windows stat.json)"
