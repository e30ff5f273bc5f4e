#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_vigil.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: another library of the program takes CUPTI's buffers without a word: it is
# noticed and told of, and what is only idle, or waits for a long kernel, is not taken for that.
set -euo pipefail
bin=$1 tests=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GPURT_CUPTI_LIBRARY=$tests/libfake_cupti.so GPURT_NVML=off
export ASAN_OPTIONS=detect_leaks=0
unset GPURT_CUPTI CUDA_INJECTION64_PATH FAKE_CUPTI

fail() { echo "FAIL: $*" >&2; exit 1; }
lines() { "$bin/gpurt-log" cat "$1.gplog" | grep -c "$2" || true; }
record() { GPURT_CUPTI=$3 "$bin/gpurt-record" -q -o "$1.gplog" -- "$tests/cupti_app" "$2" >/dev/null; }
words="no records of kernels that are launched: another tool has taken CUPTI's buffers, or none of them has ended"

# Each takes some ten seconds, of which it sleeps nearly all.
declare -A runs=([stolen]=default [stolen-back]=default [idle]=default [launches]="default,launches" [copies]=copies [launches-back]="default,launches")
declare -A modes=([launches]=stolen [copies]=stolen [launches-back]=stolen-back)
pids=()
for name in "${!runs[@]}"; do
    record "$name" "${modes[$name]:-$name}" "${runs[$name]}" 2>"$name.err" &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "$(cat ./*.err)"; done

for name in stolen launches; do
    [ "$(lines $name " WARN .*$words")" = 1 ] || fail "$name: $("$bin/gpurt-log" cat $name.gplog)"
    "$bin/gpurt-log" stat $name.gplog | grep >/dev/null "^collector  ${words:0:70}" || fail "$name: $("$bin/gpurt-log" stat $name.gplog)"
    "$bin/gpurt-log" stat --json $name.gplog | jq -e --arg words "$words" '.activity.collector.state == $words' >/dev/null || fail "$name: JSON"
    "$bin/gpurt-top" --replay $name.gplog --once | grep >/dev/null "^collector  no records of kernels that are launched" || fail "$name: picture"
    [ "$(lines $name ' kernel  *kernel ')" = 10 ] || fail "$name: $(lines $name ' kernel  *kernel ') kernels"
done
[ "$(lines launches ' launch  *launch ')" = 75 ] || fail "launches: $(lines launches ' launch  *launch ')"
[ "$(lines launches-back ' launch  *launch ')" = 90 ] || fail "launches that are told of anyway end: $(lines launches-back ' launch  *launch ')"
[ "$(lines stolen ' launch ')" = 0 ] || fail 'stolen: launches that nobody asked for'
# Back again: the state is what it was.
[ "$(lines stolen-back " WARN .*$words")" = 1 ] || fail "stolen-back: $("$bin/gpurt-log" cat stolen-back.gplog)"
"$bin/gpurt-log" stat stolen-back.gplog | grep >/dev/null '^collector  on;' || fail "stolen-back: $("$bin/gpurt-log" stat stolen-back.gplog)"
[ "$(lines stolen-back ' kernel  *kernel ')" = 25 ] || fail "stolen-back: $(lines stolen-back ' kernel  *kernel ') kernels"
# Nothing of the kind.
[ "$(lines idle ' WARN ')" = 0 ] || fail "idle: $("$bin/gpurt-log" cat idle.gplog)"
[ "$(lines idle ' kernel  *kernel ')" = 87 ] || fail "idle: $(lines idle ' kernel  *kernel ') kernels"
[ "$(lines copies ' WARN ')" = 0 ] || fail "copies, kernels were not asked for: $("$bin/gpurt-log" cat copies.gplog)"
exit 0
