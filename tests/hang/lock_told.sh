#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two mutexes taken in opposite order are told from outside while their lanes stand, with names, owners and lines; and the log
# knows both as objects. Arguments: folder of the programs, folder of the example's kernels.
set -eu
bin=$1
source=$2/deadlock_kernels.c
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail()
{
    echo "lock_told: $1" >&2
    cat "$folder/told" >&2
    exit 1
}

line() { grep -n "$1" "$source" | head -n 1 | cut -d: -f1; }
first=$(line 'gpurt_mutex_lock_for(first')
second=$(line 'gpurt_mutex_lock_for(second')
export GPURT_CUPTI=off GPURT_BACKEND=cpu
"$bin/gpurt-record" -q --hang-after 0.2 -o "$folder/run.gplog" -- "$bin/deadlock" 2500 2>"$folder/told" || fail 'the program failed'
grep -q 'deadlock: 2 wait for one another in a circle' "$folder/told" || fail 'no circle'
for pair in '0 journal 1' '1 accounts 0'; do
    # shellcheck disable=SC2086 # three words
    set -- $pair
    grep -q "block $1 warp 0 lane 0 waits for lock \"$2\" at deadlock_kernels.c:$second (takes a mutex)" "$folder/told" || fail "who waits for $2"
    grep -A1 "waits for lock \"$2\"" "$folder/told" | grep -q "held by block $3 warp 0 lane 0 since deadlock_kernels.c:$first" || fail "who holds $2"
done
"$bin/gpurt-log" stat --json "$folder/run.gplog" >"$folder/stat"
for name in accounts journal; do
    jq -e --arg name "$name" '.objects.list[] | select(.class == "lock" and .fields.name == $name) | .ended and .fields.kind == "mutex" and .peaks.holders == 1 and .peaks.waiters == 1 and .fields.contended == 1' \
        "$folder/stat" >/dev/null || fail "$name is no object of the log"
done
