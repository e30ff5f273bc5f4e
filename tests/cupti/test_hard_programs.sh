#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_hard_programs.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: programs that fork after CUDA has started, and go on or start
# another, and kernels that launch kernels, over a stand-in for CUPTI.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
unset GPURT_LOG

# whole WORDS KERNELS: the log is closed, has so many kernels, and nothing was lost.
whole() {
    "$bin/gpurt-log" verify run.gplog >verified || fail "$1: verify"
    grep >/dev/null 'not closed' verified && fail "$1: $(cat verified)"
    [ "$(lines ' kernel  *kernel ')" = "$2" ] || fail "$1: $(lines ' kernel  *kernel ') kernels, not $2"
    [ "$(field dropped)" = 0 ] || fail "$1: dropped"
}
run() {
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog -- "$app" "$@" || fail "'$*': exit status $?"
}

# A child that goes on without another program: it is not watched, harms nothing, and its parent's records are whole.
for kinds in default default,launches; do
    GPURT_CUPTI=$kinds run fork-on
    whole "a child that goes on, $kinds" 2000
    [ "$(lines ' launch ')" = 0 ] || fail "a launch of a child is in the log"
done

# One that starts another program of CUDA's: both are in the log, each by its own process.
# Exports keep them apart, too: both number their device and their stream alike.
for mode in fork-exec fork-exec-on; do
    run $mode
    whole "$mode" 2700
    [ "$(grep -ao 'cupti_app' run.gplog | wc -l)" -ge 2 ] || fail "$mode: one process"
    "$bin/gpurt-log" export --to jsonl run.gplog -o - | jq -s -e '[.[] | select(.kind == "kernel")] |
        group_by(.pid) | map(length) | sort == [700, 2000]' >/dev/null || fail "$mode: pids of lines"
    "$bin/gpurt-log" export --to chrome run.gplog -o - | jq -e '.traceEvents |
        ([.[] | select(.name == "process_name") | {key: "\(.pid)", value: .args.name}] | from_entries) as $names |
        [.[] | select(.cat == "kernel")] | group_by(.pid) | map([length, $names["\(.[0].pid)"]]) | sort |
        map(.[0]) == [700, 2000] and all(.[]; .[1] | test("^GPU 0.* of cupti_app \\(pid [0-9]+\\)$")) and
        .[0][1] != .[1][1]' >/dev/null || fail "$mode: processes of a timeline"
done
# The same without a recorder: each process has a drainer of its own, and the child a file beside its parent's.
rm -f run.gplog
PATH=$bin:$PATH GPURT_LOG=$dir/run.gplog CUDA_INJECTION64_PATH=$bin/../lib/libgpurt-inject.so "$app" fork-exec
whole 'GPURT_LOG, the parent' 2000
shopt -s nullglob
beside=(run.*.gplog)
[ ${#beside[@]} = 1 ] || fail "GPURT_LOG: files ${beside[*]}"
mv "${beside[0]}" run.gplog
# Nobody waits for the child's drainer.
for ((i = 0; i < 200; i++)); do
    "$bin/gpurt-log" verify run.gplog >verified || true
    grep -q 'not closed' verified || break
    sleep 0.05
done
whole 'GPURT_LOG, the child' 700
# A log that cannot be had: the program runs, and one line says why.
refused() { # WORDS PATH FILE
    PATH=$2 GPURT_LOG=$3 CUDA_INJECTION64_PATH=$bin/../lib/libgpurt-inject.so "$app" seconds 2>told || fail "GPURT_LOG=$3: status $?"
    [ "$(grep -c "^gpurt: no log of what the GPU does: .*$1" told)/$(wc -l <told)" = 1/1 ] || fail "GPURT_LOG=$3: $(cat told)"
}
refused '/sys/run.gplog: Permission denied' "$bin:$PATH" /sys/run.gplog
refused 'gpurt-drain: .*put it in PATH' /nowhere "$dir/none.gplog"
# What root runs is not for a recorder of somebody else's, whatever its name, and one line says so.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" = 0 ] && "${nobody[@]}" true; then
    chmod 711 .
    mkdir theirs
    cp "$bin/gpurt-record" theirs
    chown -R 65534 theirs
    mkfifo -m 666 name stay
    # shellcheck disable=SC2016 # the inner shell's
    (cd theirs && exec "${nobody[@]}" ./gpurt-record -q -o run.gplog -- sh -c 'echo "$GPURT_DRAIN" >../name; cat ../stay') &
    started+=("$!")
    read -r drainer <name
    GPURT_DRAIN=$drainer CUDA_INJECTION64_PATH=$bin/../lib/libgpurt-inject.so "$app" seconds 2>told || fail "a recorder of another user's: $?"
    : >stay
    wait "${started[-1]}" || fail "the recorder of another user's: $?"
    [ "$(cat told)" = "gpurt: no log of what the GPU does: the drainer is user 65534's; this program, of user 0, gives its log to its own user and root alone" ] ||
        fail "a recorder of another user's: $(cat told)"
    mv theirs/run.gplog .
    [ "$(lines .)" = 0 ] || fail "a recorder of another user's has $(lines .) records"
fi

# Kernels that a kernel launched count as kernels; the device was busy once.
run nested
whole nested 5
[ "$(lines 'kernel child(int): 3000 ns, .* call 1234$')" = 3 ] || fail 'nested: children'
"$bin/gpurt-log" stat --json run.gplog | jq -e '.activity | .kernels == 5 and .kernel_ns == 20000 and (.gpus[0] | .ns == 30000 and .kernels_ns == 11000 and .copying_ns == 0)' >/dev/null || fail "nested: $("$bin/gpurt-log" stat --json run.gplog)"
"$bin/gpurt-log" export --to chrome run.gplog -o - | jq -e '[.traceEvents[] | select(.ph == "X" and (.name | test("child|parent")))] | length == 4 and (map(.tid) | unique | length) > 1' >/dev/null || fail 'nested: those that overlap share a lane'
exit 0
