#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_cupti_sampled.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS SOURCE: the set `sampled` on a GPU, where the library that stands
# before the driver tells of launches: exact counts, shares by samples, a lock that is held, and a plain hang with its line.
# Skipped where the driver shows no counters.
set -euo pipefail
bin=$1 app=$2/cupti_lines source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_CUPTI CUDA_INJECTION64_PATH

fail() {
    echo "FAIL: $*" >&2
    head -n 20 shown text >&2
    exit 1
}
has() { grep -q -e "$1" "$2" || fail "no '$1' in $2: $(tail -n 12 "$2")"; }
mark() { grep -n "MARK $1 " "$source" | cut -d: -f1; }

# run OPTION... -- ARGUMENT...: recorded.
run() {
    rm -f run.gplog
    timeout 60 "$bin/gpurt-record" -q -o run.gplog --cupti sampled "$@" >out 2>err || fail "'$*': exit status $?: $(cat err)"
    "$bin/gpurt-log" cat run.gplog >text
    "$bin/gpurt-log" lines run.gplog >shown
    ! grep 'lines of GPU 0: its driver shows counters' text || exit 77
    ! grep 'WARN' text || fail "'$*': a warning"
}

# launched NAME N: by all its records, and no kernel has one of its own.
launched() {
    local sum
    sum=$({ grep -F " counted $1: launches " text || true; } | sed 's/.*: launches //' | awk '{ n += $1 } END { print n + 0 }')
    [ "$sum" = "$2" ] || fail "'$1' $sum times, not $2"
}
run -- "$app" pairs 500
launched 'stand_work(float*, int)' 500
launched 'stand_more(float*, int)' 500
! grep -q ' kernel stand_' text || fail 'a record of a kernel'
share=$("$bin/gpurt-log" stat --json run.gplog | grep -o '"name":"stand_more[^}]*' | grep -o '"sampled_percent":[0-9]*' | cut -d: -f2)
[[ $share -ge 70 && $share -le 80 ]] || fail "stand_more has $share% of the samples, and 75% of the time"

run -- "$app" lock 2000
# The innermost line is the toolkit's, which the program's has called.
sed -n 3p shown | grep -q 'device_atomic_functions.hpp:[0-9]*  waits for global memory' || fail 'a lock that is held'
sed -n 4p shown | grep -q "atomicCAS < cupti_lines.cu:$(mark lock)$" || fail 'who waits for a lock that is held'

# A plain hang: told once, with its shape, its line, and which thread launched it.
run --hang-after 1 -- "$app" spin 3500
[ "$(grep -c 'a kernel has not ended for 1 s' err)" = 1 ] || fail "the hang: $(cat err)"
has '^  stand_spin(unsigned int volatile\*, unsigned long long) for 1\.[0-9]* s, grid 2,1,1 block 32,1,1, ' err
has "^ *[0-9.]*%  .*cupti_lines.cu:$(mark spin)  waits for global memory" err
has '^  thread [0-9]* of process [0-9]* launched it; ' err
