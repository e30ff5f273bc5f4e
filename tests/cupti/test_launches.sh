#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_launches.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: launches of a plain program, on request, over a stand-in for
# CUPTI: what a program that was killed inside a kernel leaves behind is the kernel's name and the line that launched it.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
unset GPURT_SYMBOLIZE GPURT_LEVEL

gently=()
run() {
    local status=0 want=$1
    shift
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "${gently[@]}" "$app" "$@" >out || status=$?
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want"
    "$bin/gpurt-log" verify run.gplog >/dev/null || fail "'$*': verify"
}

# Nobody asked: no callbacks, no records, and nothing is said of them.
for kinds in default all kernels; do
    GPURT_CUPTI=$kinds run 137 launches 20
    [ "$(lines ' launch ')" = 0 ] || fail "$kinds: $(lines ' launch ') launches"
    [ "$("$bin/gpurt-panic" list run.gplog)" = '0 panics at 0 sites' ] || fail "$kinds: $("$bin/gpurt-panic" list run.gplog)"
done

# Each launch once, before it is made, whichever way; other calls of the driver are none.
GPURT_CUPTI=default,launches run 137 launches 20
[ "$(lines ' launch ')" = 27 ] || fail "$(lines ' launch ') launches"
[ "$(field launches)" = 27 ] || fail "$(field launches) launches in the sums"
[ "$(field dropped)" = 0 ] || fail 'dropped'
log=$("$bin/gpurt-log" cat run.gplog)
told "$log" 'dev1 .* launch saxpy(float\*, float const\*, int) from /.*/cupti_app+0x[0-9a-f]* < .*, grid 4,3,2 block 96,2,1, 128 B shared, stream 0x77, call [0-9]*$' 'cuLaunchKernel'
for name in by_config:7,1,1:64,1,1 by_config_p:7,1,1:64,1,1 coop:9,1,1:32,1,1 coop_p:9,1,1:32,1,1; do
    IFS=: read -r kernel grid block <<<"$name"
    [ "$(grep -c " launch $kernel from /.*/cupti_app+0x.*, grid $grid block $block, " <<<"$log")" = 1 ] || fail "no $kernel in: $log"
done
[ "$(grep -c ' launch graph 12 from ' <<<"$log")" = 2 ] || fail "graphs: $log"
grep >/dev/null 'from [^,]*\(libfake_cupti\|libgpurt-inject\)' <<<"$log" && fail "calls that are not the program's: $log"
[ "$(grep -o ' \(launch\|kernel\)  *\(launch\|kernel\) coop[ :]' <<<"$log" | grep -o 'launch\|kernel' | uniq | tr '\n' ' ')" = 'launch kernel ' ] || fail 'a launch is told of before its kernel'

calls=$(grep -o ' \(launch\|kernel\) coop[ :].* call [0-9]*' <<<"$log" | grep -o '[0-9]*$' | uniq | wc -l)
[ "$calls" = 1 ] || fail "a launch and its kernel have $calls numbers: $log"

# A record without times is no end: CUPTI has one of what failed.
FAKE_FAILED=1 GPURT_CUPTI=default,launches run 137 launches 20
[ "$("$bin/gpurt-log" cat run.gplog | grep -c ' kernel doomed(int\*): unknown ns')" = 1 ] || fail 'no record of what failed'
told "$("$bin/gpurt-panic" list run.gplog)" '^last launch: doomed(int\*), .*; its end is not recorded$' 'what failed'
GPURT_CUPTI=default,launches run 137 launches 20

# What it died in: with no core dump.
site='cupti_app+0x[0-9a-f]*'
command -v addr2line >/dev/null && site="hard_app.c:$(grep -n '_Z6doomedPi' "$(dirname "$0")/hard_app.c" | cut -d: -f1) in launch_last < hard_app.c:[0-9]* in hard_launches"
list=$("$bin/gpurt-panic" list run.gplog)
told "$list" "^last launch: doomed(int\*), grid 1,1,1 block 1,1,1 from $site.*; its end is not recorded$" list
status=0
show=$("$bin/gpurt-panic" show run.gplog 2>errors) || status=$?
[ "$status" = 1 ] || fail "show without a panic: $status"
told "$(cat errors)" 'no panics' show
[ "$(grep -c ' from ' <<<"$show")" = 8 ] || fail "show: $show"
told "$(sed -n 2p <<<"$show")" " doomed(int\*), grid 1,1,1 block 1,1,1 from $site.*; its end is not recorded$" 'show, the newest'
told "$show" 'plain_kernel, grid 4,3,2 block 96,2,1 from [a-z]*_app.*; it has ended$' 'show, one that has ended'
told "$show" ' graph 12 from [a-z]*_app.*; its end is not recorded$' 'show, a graph'
"$bin/gpurt-panic" list --json run.gplog | jq -e '.sources[0].last_launches | length == 8 and .[0].kernel == "doomed(int*)" and .[0].ended == false
    and (.[0].from[0] | test("^(cupti|hard)_app")) and .[0].device == 1 and .[7].kernel == "plain_kernel" and .[7].ended and .[7].stream == 119 and .[7].grid == [4, 3, 2]' >/dev/null || fail "list --json: $("$bin/gpurt-panic" list --json run.gplog)"
told "$(GPURT_SYMBOLIZE=0 "$bin/gpurt-panic" list run.gplog)" 'from cupti_app+0x' 'without lines'
"$bin/gpurt-log" export --to chrome run.gplog -o - | jq -e '[.traceEvents[] | select(.name == "doomed(int*)" and (.args.from | contains("cupti_app+0x")) and .args.grid)] | length == 1' >/dev/null || fail 'export'

# Two processes that died at once: each has its own, though their calls have the same numbers.
rm -f run.gplog
GPURT_CUPTI=default,launches "$bin/gpurt-record" -q -o run.gplog -- sh -c "$app launches 20 & $app launches 5 & wait" >out
list=$("$bin/gpurt-panic" list run.gplog)
[ "$(grep -o '^last launch of cupti_app\[[0-9]*\]: doomed(int\*), .*; its end is not recorded$' <<<"$list" | cut -d: -f1 | sort -u | wc -l)" = 2 ] || fail "two processes: $list"
"$bin/gpurt-panic" list --json run.gplog | jq -e '.sources[0] | (.programs | length) == 2 and
    [.last_launches[].pid] == [.programs[].pid as $pid | range(8) | $pid] and
    [.last_launches[] | select(.kernel == "doomed(int*)") | .ended] == [false, false]' >/dev/null || fail "two processes: $("$bin/gpurt-panic" list --json run.gplog)"
GPURT_CUPTI=default,launches run 137 launches 20

# Many threads at a time. They wait 50 ms for a drainer: on a machine where that one does not run for so long launches are
# lost, and counted; not each time. The ring is so small that all who do not wait lose some, each time. Beside much else the
# drainer has to come first.
gently=(nice -n 19)
for try in 1 2 3 4 5 6; do
    GPURT_HOST_RING_BYTES=$((64 << 10)) GPURT_CUPTI=launches run 137 launches 0
    [ $(($(lines ' launch ') + $(field dropped))) = 12007 ] || fail "threads: $(lines ' launch ') launches, $(field dropped) lost"
    [ "$(field dropped)" != 0 ] || break
    [ "$try" != 6 ] || fail "threads: $(field dropped) lost"
done
gently=()

# The box of a program that stands.
mkfifo pid
FAKE_STANDS=1 GPURT_CUPTI=kernels,launches "$bin/gpurt-record" -q -o stands.gplog -- "$app" launches 5 >pid &
recorder=$!
read -r number <pid
show=$("$bin/gpurt-panic" show -p "$number" 2>/dev/null) || true
told "$(sed -n 2p <<<"$show")" " doomed(int\*), .*; its end is not recorded$" 'a program that stands'
told "$("$bin/gpurt-panic" list -p "$number")" '^last launch: doomed' 'list of a program that stands'
kill -KILL "$number"
wait "$recorder" && fail 'it was killed'

# CUPTI that calls nobody back is told of.
FAKE_CUPTI=no-callbacks GPURT_CUPTI=default,launches run 137 launches 5
[ "$(lines ' launch ')" = 0 ] || fail 'no callbacks'
told "$("$bin/gpurt-log" cat run.gplog)" 'WARN .*CUPTI tells of no launches' 'no callbacks'
[ "$(lines ' kernel ')" = 9 ] || fail "no callbacks: $(lines ' kernel ') kernels"

# A program that opens gpurt: its box is the place, one after another; what comes before the first is counted.
export GPURT_CUPTI=default,launches GPURT_BACKEND=cpu
for when in early late two; do
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "$tests/both_app" "$when" || fail "both, $when"
    [ "$(lines ' launch launched_inside from /.*both_app+0x')" = 1 ] || fail "both, $when: $("$bin/gpurt-log" cat run.gplog)"
    [ "$when" = late ] && [ "$(field dropped)" != 1 ] && fail "late: $(field dropped) lost"
    [ "$when" = two ] && [ "$(field dropped)/$(lines ' launch launched_between ')" != 1/0 ] && fail "between two boxes: $("$bin/gpurt-log" cat run.gplog)"
    [ "$when" = two ] && [ "$(lines ' launch launched_before ')" != 1 ] && fail 'two boxes'
    [ "$when" = two ] && [ "$(lines ' launch launched_twice from /.*both_app+0x')" != 2 ] && fail 'two boxes, the same kernel'
    [ "$when" = early ] && [ "$(field dropped)" != 0 ] && fail "early: $(field dropped) lost"
done
exit 0
