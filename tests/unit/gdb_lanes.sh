#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gdb commands on a program that stopped in a kernel: gdb_lanes.sh PROGRAM [core]
# PROGRAM is tests/unit/gdb_lanes.c; `core`: look into a core file too, if it is no sanitizer's,
# whose memory is vast. Skipped where there is no gdb with Python, or no tracing.
set -u
program=$1
commands=$(dirname "$0")/../../tools/gdb/gpurt_gdb.py
work=$(mktemp -d)
out=$work/out
trap 'rm -rf "$work"' EXIT
failures=0

skip() {
    echo "skipped: $1"
    exit 77
}

command -v gdb >/dev/null || skip 'no gdb'
gdb -q -nx -batch -ex 'python print("python is here")' 2>&1 | grep -q '^python is here' ||
    skip 'gdb has no Python'

# Each command's output follows a line "== COMMAND".
session=(-ex 'set breakpoint pending on' -ex 'break stop_here' -ex run)
for line in 'gpurt lanes' 'gpurt lanes 1' 'gpurt bt 0 35' 'gpurt bt 0,0,0 0,5,0' 'gpurt bt 0 2' \
    'gpurt bt 0 50' 'gpurt bt 7 0' 'gpurt bt 0 64' 'gpurt bt zero 1' 'gpurt bt 0' \
    'gpurt apply 0 35 frame 2' 'gpurt apply 0 35 continue' 'bt 2'; do
    session+=(-ex "echo == $line\n" -ex "$line")
done
session+=(-ex 'echo == thread 1\n' -ex 'thread 1' -ex 'gpurt bt 0 35 -1' -ex 'echo == after\n'
    -ex thread -ex delete)
if [ "${2-}" = core ]; then
    session+=(-ex "generate-core-file $work/core")
fi
session+=(-ex 'echo == continue\n' -ex continue)
ASAN_OPTIONS=detect_leaks=0 GPURT_BACKEND=cpu timeout 50 \
    gdb -q -nx -batch -x "$commands" "${session[@]}" "$program" >"$out" 2>&1 </dev/null
status=$?
! grep -q 'ptrace: Operation not permitted\|Could not trace the inferior' "$out" ||
    skip 'tracing is not allowed here'

# expect COMMAND PATTERN...: the command's output has these lines, in this order.
expect() {
    local title=$1 text rest pattern
    shift
    text=$(sed -n "/^== $title\$/,/^== /p" "$out")
    rest=$text
    for pattern; do
        if ! grep -qE -- "$pattern" <<<"$rest"; then
            printf "FAILED: '%s' lacks '%s':\n%s\n" "$title" "$pattern" "$text"
            failures=$((failures + 1))
            return
        fi
        rest=$(sed -E "0,/${pattern//\//\\/}/d" <<<"$rest")
    done
}

expect 'gpurt lanes' '^worker 0, thread [0-9]+: 2 blocks resident$' \
    '^  KERNEL +BLOCK +THREADS +STATE +MASK +MISSING +SITE$' \
    '^  held +0 +0\.\.1,3 +in ballot +0000000f +00000004 +.*gdb_lanes\.c:[0-9]+$' \
    '^  held +0 +2 +(can run|spins) +.*gdb_lanes\.c:[0-9]+$' \
    '^  held +0 +4\.\.39 +at block barrier, 36 of 64 +.*gdb_lanes\.c:[0-9]+$' \
    '^  held +0 +40 +runs$' \
    '^  held +0 +41\.\.63 +not begun$' \
    '^  held +1 +0\.\.63 +not begun$'
expect 'gpurt lanes 1' '2 blocks resident' '^  held +1 +0\.\.63 +not begun$'
expect 'gpurt bt 0 35' '^kernel held, block 0 thread 35: at block barrier, 36 of 64' \
    'gpurt_simt_block_barrier' ' in deep' 'simt_lane_entry'
expect 'gpurt bt 0,0,0 0,5,0' '^kernel held, block 0 thread 40: runs' '^#0 .*stop_here'
expect 'gpurt bt 0 2' 'thread 2: (can run|spins)' 'simt_lane_entry'
expect 'gpurt bt 0 50' 'block 0 thread 50 has not begun'
expect 'gpurt bt 7 0' 'block 7 is not resident'
expect 'gpurt bt 0 64' 'block 0 has 64 threads'
expect 'gpurt bt zero 1' "BLOCK is a number or x,y,z, not 'zero'"
expect 'gpurt bt 0' 'gpurt bt BLOCK THREAD'
expect 'gpurt apply 0 35 frame 2' '^#2 '
expect 'gpurt apply 0 35 continue' 'cannot let a lane run'
expect 'bt 2' '^#0 .*stop_here'
expect 'thread 1' 'thread 35: at block barrier' '^#'
expect 'after' '^\[Current thread is 1 '
expect 'continue' 'exited normally'
if [ "${2-}" = core ]; then
    timeout 50 gdb -q -nx -batch -x "$commands" -ex 'echo == core 35\n' -ex 'gpurt bt 0 35' \
        -ex 'echo == core bt\n' -ex 'bt 2' "$program" "$work/core" >>"$out" 2>&1 </dev/null
    expect 'core 35' 'thread 35: at block barrier' '^#0 .*stop_here' 'gpurt_simt_block_barrier' \
        'simt_lane_entry'
    expect 'core bt' '^#0 .*stop_here' '^#1 .*gpurt_(body_of|cpu)_held'
fi
if ((status != 0 || failures)); then
    printf 'gdb ended with %d\n' "$status"
    cat "$out"
fi
((status == 0 && failures == 0))
