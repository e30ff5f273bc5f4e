#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_gpu_loss.sh BIN GPU_LOSS [RUNS]: programs end in traps, illegal addresses, asserts and SIGKILL in the middle of a
# storm, RUNS times each; not one record that was in the black box is missing from the log, and none is there twice.
# loss_check, beside the program, says so; a log that is wrong is kept in KEEP, or beside it in lost.
set -euo pipefail
bin=$1 program=$2 check=${2%/*}/loss_check keep=${KEEP:-${2%/*}/lost} runs=${3:-5}
nvidia-smi -L >/dev/null 2>&1 || exit 77

work=$(mktemp -d -p /dev/shm) # memory that CUDA can register
trap 'rm -rf "$work"' EXIT
export GPURT_POLICY=block GPURT_BACKEND=cuda GPURT_CUPTI=off
unset GPURT_LOG GPURT_DRAIN GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF

# shellcheck disable=SC2317 # xargs calls it
one() { # MODE SEED
    local name=$work/$1.$2 status=0 want=0 try
    [[ $1 != kill ]] || want=137
    for try in 1 2 3; do # several programs fail at once: a failure may hit one whose kernel has not begun
        status=0
        rm -f "$name".*
        timeout 30 "$bin/gpurt-record" -q -o "$name.gplog" -- "$program" "$1" "$name.said" "$2" \
            >"$name.out" 2>&1 || status=$?
        ((status == 3)) || break
        echo "$1 $2, try $try: $(grep -v '^/' "$name.out" | head -n 1)" >>"$work/again"
    done
    if ((status == 124)); then # docs/RELIABILITY.md
        echo "FAIL $1, seed $2: stood still until it was ended after 30 s; its log: $("$bin/gpurt-log" cat --jsonl "$name.gplog" | "$check" "$name.said")"
        return 1
    fi
    if ((status != want)); then
        echo "FAIL $1, seed $2: status $status: $(grep -v '^/' "$name.out" | head -n 3)"
        return 1
    fi
    "$bin/gpurt-log" cat --jsonl "$name.gplog" | "$check" "$name.said" >"$name.check" || {
        grep -v '^/' "$name.out" | head -n 3 | cat "$name.check" - | sed "s/^/FAIL $1, seed $2: /"
        mkdir -p "$keep" && cp "$name.gplog" "$name.said" "$keep/" && echo "FAIL $1, seed $2: its log is in $keep"
        return 1
    }
    printf '%s %s\n' "$1" "$(cat "$name.check")"
    rm -f "$name".*
}
export -f one
export bin program check keep work

failed=0
for mode in end trap illegal assert kill; do
    for ((seed = 1; seed <= runs; seed++)); do
        printf '%s %s\n' "$mode" "$seed"
    done
done | xargs -P 4 -L 1 bash -c 'one "$@"' bash >"$work/all" || failed=1
grep FAIL "$work/all" || true
awk '!/FAIL/ { runs[$1]++; records[$1] += $2; promised[$1] += $4 }
    END { for (m in runs) printf "%-8s %4d runs, %9d records, %9d promised, 0 lost, 0 twice\n", m, runs[m], records[m], promised[m] }' \
    "$work/all"
if [[ -e $work/again ]]; then
    echo 'run again, because their kernels had not begun:'
    cat "$work/again"
fi
exit "$failed"
