#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_hook.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: launches of a program over a stand-in for the driver, told by
# libgpurt-launch.so: however the program finds its calls, each is counted once; what runs and what has ended; and the
# program is as it was.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
app=$tests/hook_app

# run WORDS MODE [MS]: and what the log says of it.
run() { recorded --cupti "$1" -- "${@:2}"; }
# launched NAME N: so often by all its records.
launched() {
    local sum
    sum=$({ grep -F " counted $1: launches " text || true; } | sed 's/.*: launches //' | awk '{ n += $1 } END { print n + 0 }')
    [ "$sum" = "$2" ] || fail "'$1' $sum times, not $2"
}

# By link, by dlsym, by cuGetProcAddress and for streams of a thread's own; in the other forms; what failed does not
# count, nor what was captured for a graph. No CUPTI takes part.
GPURT_CUPTI_LIBRARY=/nowhere run counted ways
launched 'link(int)' 5
launched 'name(int)' 4
launched 'proc(int)' 5
launched 'own(int)' 6
launched 'ex(int)' 7
launched 'grid(int)' 8
launched '(graphs)' 9
lacks WARN text
has '^kernels    44 of 7 names, 0 ns on GPUs, 44 without times$' sums
has '^      -         8 .* -      -    -  grid(int)$' sums
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.kernel_list[] | select(.name == "grid(int)") |
    .count == 8 and .mean_ns == null and .sampled_percent == null and .registers == null' >/dev/null || fail 'JSON of a counted kernel'

# An address that comes again has another name.
run counted modules
launched first 1
launched second 2

# What ends is not told for long, however it ends; what stays is, with what waits behind it. A stream that is gone, or a
# capture that is open, is not asked about: the program would see that.
GPURT_CUPTI_LIBRARY=/nowhere run counted,running runs 900
has ' running stays(int): grid 4,3,2 block 96,2,1, .*; of its stream 2 have not ended, number 0 of them' text
has ' running behind_it: .* number 1 of them' text
for ended in wait context; do lacks " running ended_by_$ended" text; done
lacks ' running ended_with' text
lacks ' running captured' text
has '^running    stays(int) for at most [0-9.]* m*s, .* of GPU 1; it or the one behind it$' sums
lacks '^running    ended' sums

# A launch that takes long has not ended while it is made, whatever its stream says. A wait ends nothing that was made
# while it lasted, and a question that is refused nothing at all. What cannot be asked about is told.
run counted,running beside 900
has ' running slowly_made: ' text
has ' running made_beside_a_wait: ' text
has ' running nobody_knows: ' text
has 'WARN .*default streams of single threads is not watched: GPURT_CUPTI=live does' text
lacks ' running own: ' text

# Streams that ended are not asked about, however many there were: the stand-in ends the program that asks.
run counted,running streams 600
launched short_one 1200

# A stream that is never empty: its newest launches are known, and not more than a driver lets wait.
run counted,running busy
launched short_one 50000
has ' running newest: .* of its stream 20[0-9][0-9] have not ended' text
lacks WARN text

# The driver is asked for each function's name once.
run counted functions
launched of_many_7 80

# Waits have records without CUPTI, from the first on, which comes before there is a log; and only if they are asked for.
GPURT_CUPTI_LIBRARY=/nowhere run host-waits waits 10
has ' wait for an event: [0-9]\{7,\} ns, .* of device 1$' text
[ "$(grep -c ' wait for an event: ' text)" = 2 ] || fail "waits for events: $(cat text)"
has ' wait for a stream: [0-9]\{8,\} ns, .* of device 1$' text
[ "$(grep -c ' wait for the context: [0-9]\{8,\} ns' text)" = 1 ] || fail "waits for contexts: $(cat text)"
lacks ' counted ' text
GPURT_CUPTI_LIBRARY=/nowhere run counted waits 10
lacks ' wait for ' text
run budget waits 10
has ' wait for a stream: ' text

# Watching a flood of launches would break a budget: it stops for as long, and says so.
run budget flood 900
has 'WARN .*what runs is not watched for now: to watch launches costs the program more than the budget' text
grep ' running ' text | tail -n 2 >last || true
has ' running seen_again: ' last
lacks ' running flooded' last

# A child that goes on without exec says nothing, and is not held up.
run counted,running forks
launched parents 1
lacks childs text

# Who calls dlsym is who called it, with the library before the C library's.
HOOK_ALONE=1 "$app" next && fail 'the library is there unasked'
run counted next
run counted local "$tests/libhook_local.so"

# Without a collector the library only goes on.
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=$(realpath "$bin/../lib/libgpurt-launch.so") HOOK_ALONE=1 "$app" ways || fail "alone: $?"
# Without the library CUPTI tells, which says what that costs.
rm run.gplog
"$bin/gpurt-record" -q --cupti counted -o run.gplog -- env -u LD_PRELOAD "$tests/cupti_app" running-ends 10
"$bin/gpurt-log" cat run.gplog >text
launched ended_by_wait 1
launched failed 0
has 'WARN .*CUPTI tells of each launch, which costs it 1.7 us: .*LD_PRELOAD=libgpurt-launch.so' text
rm run.gplog
"$bin/gpurt-record" -q --cupti kernels,host-waits -o run.gplog -- env -u LD_PRELOAD "$tests/cupti_app" running-ends 10
"$bin/gpurt-log" cat run.gplog >text
has 'WARN .*waits of the host are not recorded: .*LD_PRELOAD=libgpurt-launch.so; or ask for waits, which CUPTI has' text

# gpurt-top watches so unless it is told else, and does not start a program with words that are none.
rm -f run.gplog
"$bin/gpurt-top" -b --record run.gplog -- "$app" ways >out 2>err || fail "gpurt-top: $(cat err)"
"$bin/gpurt-log" cat run.gplog >text
launched '(graphs)' 9
rm -f run.gplog
GPURT_CUPTI=kernels "$bin/gpurt-top" -b --record run.gplog -- "$app" ways >out 2>err || fail "gpurt-top, kernels: $(cat err)"
"$bin/gpurt-log" cat run.gplog >text
launched '(graphs)' 0
status=0
"$bin/gpurt-top" -b --cupti counted,kernel -- touch begun >out 2>err || status=$?
[[ $status = 125 && ! -e begun ]] || fail "gpurt-top --cupti with a word that is none: $status"
has "^gpurt-top: --cupti: 'kernel' is not known; it takes off, default, " err
