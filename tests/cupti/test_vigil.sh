#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_vigil.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: another library of the program takes CUPTI's buffers without a word, or had
# them before: it is noticed and told of, buffers of the one are left alone by the other, and what is only idle, or waits for a
# long kernel, is not taken for that.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"

lines() { "$bin/gpurt-log" cat "$1.gplog" | grep -c "$2" || true; }
record() { GPURT_CUPTI=$3 "$bin/gpurt-record" -q -o "$1.gplog" -- "$tests/cupti_app" "$2" >/dev/null; }
shared="another tool of the program records through CUPTI, too: CUPTI gave us buffers of its, which we leave alone; it lacks them, or we lack ours"
words="no records of kernels that are launched: another tool has taken CUPTI's buffers, or none of them has ended"

# Each takes some ten seconds, of which it sleeps nearly all.
declare -A runs=([stolen]=default [stolen-back]=default [idle]=default [launches]="default,launches" [copies]=copies [stolen-out]=default [taken]=default [launches-back]="default,launches")
declare -A modes=([launches]=stolen [copies]=stolen [launches-back]=stolen-back)
pids=()
for name in "${!runs[@]}"; do
    record "$name" "${modes[$name]:-$name}" "${runs[$name]}" 2>"$name.err" &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "$(cat ./*.err)"; done

for name in stolen launches; do
    [ "$(lines $name " WARN .*$words")" = 1 ] || fail "$name: $("$bin/gpurt-log" cat $name.gplog)"
    "$bin/gpurt-log" stat $name.gplog | grep >/dev/null "^collector  $words;" || fail "$name: $("$bin/gpurt-log" stat $name.gplog)"
    "$bin/gpurt-log" stat --json $name.gplog | jq -e --arg words "$words" '.activity.collector.state == $words' >/dev/null || fail "$name: JSON"
    "$bin/gpurt-top" --replay $name.gplog --once | grep >/dev/null "^collector  no records of kernels that are launched" || fail "$name: picture"
    [ "$(lines $name ' kernel  *kernel ')" = 10 ] || fail "$name: $(lines $name ' kernel  *kernel ') kernels"
done
[ "$(lines launches ' launch  *launch ')" = 75 ] || fail "launches: $(lines launches ' launch  *launch ')"
[ "$(lines launches-back ' launch  *launch ')" = 90 ] || fail "launches that are told of anyway end: $(lines launches-back ' launch  *launch ')"
[ "$(lines stolen " collector: $words")" = 2 ] || fail "stolen, the state as it changes and at the end: $("$bin/gpurt-log" cat stolen.gplog)"
[ "$(lines stolen ' launch ')" = 0 ] || fail 'stolen: launches that nobody asked for'
# Back again: the state is what it was.
[ "$(lines stolen-back " WARN .*$words")" = 1 ] || fail "stolen-back: $("$bin/gpurt-log" cat stolen-back.gplog)"
"$bin/gpurt-log" stat stolen-back.gplog | grep >/dev/null '^collector  on;' || fail "stolen-back: $("$bin/gpurt-log" stat stolen-back.gplog)"
[ "$(lines stolen-back ' kernel  *kernel ')" = 25 ] || fail "stolen-back: $(lines stolen-back ' kernel  *kernel ') kernels"
# A buffer of each that the other is given is left alone, and told of: theirs to us, ours to them.
[ "$(lines stolen-out " WARN .*$words")" = 1 ] || fail "stolen-out: $("$bin/gpurt-log" cat stolen-out.gplog)"
for name in stolen-out taken; do
    [ "$(lines $name " WARN .*$shared")" = 1 ] || fail "$name: $("$bin/gpurt-log" cat $name.gplog)"
    "$bin/gpurt-log" stat $name.gplog | grep >/dev/null "^collector  on; $shared;" || fail "$name: $("$bin/gpurt-log" stat $name.gplog)"
done
[ "$(lines stolen-out ' kernel  *kernel ')" = 15 ] || fail "stolen-out: $(lines stolen-out ' kernel  *kernel ') kernels"
[ "$(lines taken ' kernel  *kernel ')" = 40 ] || fail "taken: $(lines taken ' kernel  *kernel ') kernels"
# A library that is run before ours and records goes on, and ours stays away.
FAKE_PROFILER=on CUDA_INJECTION64_PATH=$tests/libfake_profiler.so "$bin/gpurt-record" -q -o chained.gplog -- "$tests/cupti_app" chained 12 >chained.out || fail "chained: $?"
[ "$(grep -c '^the other profiler has [1-9][0-9]* bytes$' chained.out)" -ge 1 ] || fail "chained: $(cat chained.out)"
[ "$(lines chained ' kernel  *kernel ')" = 0 ] || fail "chained: $(lines chained ' kernel  *kernel ') kernels"
"$bin/gpurt-log" stat chained.gplog | grep >/dev/null '^collector  no records of kernels: CUPTI serves one tool, and .*/libfake_profiler.so, which CUDA_INJ' || fail "chained: $("$bin/gpurt-log" stat chained.gplog)"
[ "$(lines idle ' WARN ')" = 0 ] || fail "idle: $("$bin/gpurt-log" cat idle.gplog)"
[ "$(lines idle ' kernel  *kernel ')" = 87 ] || fail "idle: $(lines idle ' kernel  *kernel ') kernels"
[ "$(lines copies ' WARN ')" = 0 ] || fail "copies, kernels were not asked for: $("$bin/gpurt-log" cat copies.gplog)"
exit 0
