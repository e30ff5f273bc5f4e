#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_no_cupti.sh CMAKE CTEST: where CUPTI's headers are missing, or of another CUDA, the tests of the collector are seen to
# be skipped, each by its name and with the reason.
set -euo pipefail
cmake=$1 ctest=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }

mkdir "$dir/old" "$dir/none"
echo '#define CUPTI_API_VERSION 26' >"$dir/old/cupti_version.h"
for where in old none; do
    "$cmake" -S . -B "$dir/$where-build" -G Ninja -DGPURT_CUDA=OFF -DGPURT_BENCH=OFF -DGPURT_EXAMPLES=OFF -DGPURT_CUPTI_INCLUDE="$dir/$where" >"$dir/log" 2>&1 ||
        fail "$where: $(tail -n 20 "$dir/log")"
    grep >/dev/null 'the CUPTI collector is left out' "$dir/log" || fail "$where: $(cat "$dir/log")"
    "$ctest" --test-dir "$dir/$where-build" -R '^test_(collector|launches|vigil|hard_programs|sampling|crowd|contexts|pool)$' -V >"$dir/out" 2>&1 || fail "$where: $(cat "$dir/out")"
    [ "$(grep -c '\*\*\*Skipped' "$dir/out")" = 8 ] || fail "$where: $(cat "$dir/out")"
    [ "$(grep -c 'skipped: no cupti.h of CUDA 13' "$dir/out")" = 8 ] || fail "$where: $(cat "$dir/out")"
done
"$cmake" -B "$dir/none-build" -DGPURT_CUPTI=OFF >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
"$ctest" --test-dir "$dir/none-build" -N | grep test_collector && fail 'who leaves the collector out hears of its tests'
exit 0
