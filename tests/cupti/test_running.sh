#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_running.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: launches that have not ended, over a stand-in for CUPTI: what is
# known to have ended and how, what waits behind, and a hang of a plain program explained, with lines and without.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
unset FAKE_PC GPURT_CUPTI_LINES_PERIOD GPURT_CUPTI_LINES_MS

# What ends is not told of, however it ends: by its record, by a later one of its stream, by a wait of the host's; nor is
# what failed to launch. A kernel that stays is, with what waits behind it; so is one of another stream.
recorded --cupti default,running -- running-ends 900
lacks ' running ended' text
lacks ' running failed' text
has ' running stays(int): grid 4,3,2 block 96,2,1, stream 0x77, launched [0-9]* ns ago; of its stream 3 have not ended, number 0 of them' text
has ' running behind_it: .* of its stream 3 have not ended, number 2 of them' text
has ' running elsewhere: .*, stream 0x99, ' text
has '^running    stays(int) for at most [0-9.]* m*s, grid 4,3,2 block 96,2,1, stream 0x77 of GPU 1; it or one of 2 behind it$' sums
has '^running    elsewhere for [0-9.]* m*s, .* stream 0x99 of GPU 1$' sums
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity.running|length == 4 and .[0].name == "stays(int)" and
    .[0].queued == 3 and .[0].gpu == 1 and .[0].sampled == false' >/dev/null || fail "JSON: $("$bin/gpurt-log" stat --json run.gplog | jq -c .activity.running)"
COLUMNS=150 "$bin/gpurt-top" -b -v gpu --replay run.gplog >top
has 'running stays(int) for at most ' top

# When it has ended, nothing runs.
recorded --cupti default,running -- running-late 900
has ' running stays(int): ' text
has ' running (none): ' text
lacks '^running ' sums

recorded --cupti default,running -- running-last 900
has ' running last(int): ' text
lacks '^running ' sums

# Where CUPTI takes long to be had, who looks has begun: a race, for who watches for one.
FAKE_CUPTI=late recorded --cupti default,running -- running-last 700
has ' running last(int): ' text

# Nobody asked, so no call of the driver is told of; with default neither.
for words in default kernels all; do
    recorded --cupti $words -- running-ends 900
    lacks ' running ' text
done

# More launches at once than there is room for are told as such.
recorded --cupti default,running -- running-many 40000
has 'WARN .*what runs is not known of each launch: more than' text

# What lines cost a program that launches all the time is told, once.
recorded --cupti counted,lines -- running-busy 300000
[ "$(grep -c 'WARN .*lines cost a launch about a microsecond: at [0-9]* launches a second some [0-9]*% of the time' text)" = 1 ] || fail "cost of lines: $(grep WARN text)"
recorded --cupti counted,lines -- running-busy 2000
lacks 'lines cost a launch' text

# A hang of a plain program, explained within a second of its limit, and once: kernel, lines, reasons, what waits.
# hang N: a program that stays so long, under a recorder with a limit of a second.
hang() {
    rm -f hang.gplog
    "$bin/gpurt-record" -q -o hang.gplog --hang-after 1 -- "$app" running-hang "$1" >out 2>err || fail "hang: $?: $(cat err)"
}
began=$(date +%s%N)
hang 2600
[ $((($(date +%s%N) - began) / 1000000)) -lt 8000 ] || fail 'the hang held its recorder'
has '^gpurt-record: a kernel has not ended for 1 s:$' err
[ "$(grep -c 'has not ended for 1 s' err)" = 1 ] || fail "told again: $(cat err)"
has '^  spin(unsigned int\*) for 1\.[0-9]* s, grid 4,3,2 block 96,2,1, stream 0x77 of GPU 1, 1 behind it$' err
has '^  behind it: waits_behind$' err
has '^  its warps, by [0-9]* samples of the last 2 s:$' err
has '^   88.9%  /src/app/spin.cu:12  waits for global memory 100%$' err
has '^  instructions are issued (in 50% of the samples): it polls, or works$' err
has '^  thread [0-9]* of process [0-9]* launched it; its stack: gdb -p [0-9]* ' err
# Without counters it says why, and what is next.
FAKE_PC=forbidden hang 3000
has '^  spin(unsigned int\*) for at most [0-9.]* s, ' err
has 'where its warps stand is not known: .*its driver shows counters to administrators alone' err
has '^  next: --gpu-core with --hang-after asks for a core dump' err
# Lines were not asked for by name: the collector is plainly on, a warning says why they are not there.
"$bin/gpurt-log" stat hang.gplog | grep -q '^collector  on;.*no lines' && fail 'a set of words makes a trouble of lines'
has 'collector  on; 0 dropped' <("$bin/gpurt-log" stat hang.gplog)
# Who says what to record has that.
GPURT_CUPTI=default hang 1500
lacks 'has not ended' err
