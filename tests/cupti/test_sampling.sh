#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_sampling.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: samples of counters while one kernel runs, over a stand-in for
# CUPTI; and what is said where there are none.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
export GPURT_CUPTI=kernels,samples FAKE_PM_LEFT=$dir/left
unset FAKE_PM GPURT_CUPTI_SAMPLE_US

# run MS: one kernel that runs until the program ends, after so long.
run() {
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "$tests/cupti_app" sampled "$1" || fail "exit status $?"
    "$bin/gpurt-log" cat run.gplog >text
    "$bin/gpurt-log" stat --json run.gplog >sums
}
has() { grep -q -e "$1" "$2" || fail "${FAKE_PM-}: no '$1' in $2: $(tail -n 3 "$2" | cut -c1-900)"; }
lacks() { ! grep -e "$1" "$2" >&2 || fail "${FAKE_PM-}: '$1' in $2"; }

# The kernel has no end when its samples come. Both devices; what a chip does not know is unknown, not 0.
run 800
has 'dev0 *sample *sample of 1000000 ns, in 1/100 %: SM active 9150, issued 1013, memory 4225, tensor 3300, warps -1' text
has 'dev1 *sample ' text
lacks WARN text
lacks 'sample of [0-9]\{8\}' text # the first one is as long as the others
has '"device":0,.*"samples":{"count":[0-9]*,"sm_active_percent":91.50,"issued_percent":10.13,"memory_percent":42.25,"tensor_percent":33.00,"warps_percent":null}' sums
[ "$(cat left)" = 0 ] || fail "$(cat left) things of CUPTI were left on"
first=$(grep -n ' sample ' text | head -n 1 | cut -d: -f1) kernel=$(grep -n 'kernel persistent' text | cut -d: -f1)
[ "$kernel" -lt "$first" ] || fail "the kernel began before the first sample: lines $kernel, $first"
"$bin/gpurt-log" export --to csv run.gplog -o - | grep >/dev/null '"sample"' || fail export

# Neighbours do not overlap and leave nothing out: each begins where the last one ended.
"$bin/gpurt-log" export --to csv run.gplog -o - | awk -F, '$23 == "\"sample\"" && $5 == 0 { n++; if (n > 1 && $1 - last < 999000) { print "samples " $1 - last " ns apart"; bad = 1 } last = $1 } END { if (n < 10) { print n " samples"; bad = 1 } exit bad }' || fail "the samples' times"

GPURT_CUPTI_SAMPLE_US=5000 FAKE_PM=passes run 600
has 'sample of 5000000 ns' text
has 'memory 4225, tensor -1, warps -1' text
FAKE_PM=strange run 700 # times of another clock: counted back from the look
has ' sample of 1000000 ns' text
[ "$(grep -c ' sample ' text)" -gt 10 ] || fail "samples of another clock are gone"
"$bin/gpurt-log" export --to csv run.gplog -o - | awk -F, '$23 == "\"kernel\"" { k = $1 } $23 == "\"sample\"" && ($1 < k || $1 > k + 60e9) { bad = 1 } END { exit bad || !k }' || fail "samples of another clock lie outside of the program's life"

FAKE_PM=backwards run 700 # those are left out, and counted
left=$(grep -o 'samples left out [0-9]*' text | tail -n 1 | cut -d' ' -f4) kept=$(grep -c ' sample of ' text)
((left > 10 && kept > left && kept < 4 * left)) || fail "backwards: $left left out, $kept kept"
has "\"samples_left_out\":$left," sums
lacks 'sample of [0-9]\{8\}' text
FAKE_PM=none run 300
has ', samples left out 0' text

# What is refused is told in one line, and the rest goes on.
FAKE_PM=forbidden run 600
[ "$(grep -c 'WARN .*no samples of GPU [01]: its driver shows counters to administrators alone.*NVreg_RestrictProfilingToAdminUsers=0' text)" = 2 ] || fail "forbidden: $(grep WARN text)"
lacks ' sample ' text
has 'kernel persistent' text
# ... also where the log comes after it.
rm -f run.gplog
FAKE_PM=forbidden GPURT_BACKEND=cpu "$bin/gpurt-record" -q -o run.gplog -- "$tests/both_app" late || fail "both: $?"
"$bin/gpurt-log" cat run.gplog >text
[ "$(grep -c 'WARN .*no samples of GPU [01]: its driver shows counters to administrators alone' text)" = 2 ] || fail "forbidden, late: $(cat text)"
FAKE_PM=second run 700
has 'WARN .*no samples of GPU 1: another tool has its counters' text
has 'dev0 *sample ' text
lacks 'dev1 *sample ' text
[ "$(cat left)" = 0 ] || fail "$(cat left) things of CUPTI were left on"
FAKE_GRAPHS=$tests/libfake_graphs.so FAKE_DRIVER=one FAKE_PM=second run 700 # the second is not the program's to see
has 'dev0 *sample ' text
lacks 'WARN' text
FAKE_PM=flood run 1000
[ "$(grep -c 'WARN .*samples of GPU 0 are missing' text)" = 1 ] || fail "flood: $(grep WARN text)"
[ "$(grep -c 'dev0 *sample ' text)" -gt 160 ] || fail "flood: counting ended with it: $(grep -c 'dev0 *sample ' text) samples"
# A program that ends before counting has begun, and while CUPTI loads what it needs.
for ms in 1 350 500 700; do
    FAKE_PM=slow run "$ms"
    has 'kernel persistent' text
    [ "$(cat left)" = 0 ] || fail "slow, $ms ms: $(cat left) things of CUPTI were left on"
done
began=$SECONDS
FAKE_PM=hang run 600
[ $((SECONDS - began)) -lt 40 ] || fail "a driver that hangs held the program for $((SECONDS - began)) s"
has 'kernel persistent' text

# Nobody asked: nothing of it is touched, not even with all.
GPURT_CUPTI=all run 300
lacks ' sample ' text
