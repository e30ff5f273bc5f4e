#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_gpu_panic.sh BIN PROGRAMS: a panic in existing CUDA C++ hung its kernel for ever in the grid barrier of cooperative
# groups. Each kernel ends, its record is in the log, the line on standard error says whether it was trapped, and the context
# lives where it can. PROGRAMS has panic_groups, panic_own (no cooperative groups in it), panic_never and panic_always
# (GPURT_PANIC_TRAP 0 and 2), panic_barrier (<cuda/barrier> first).
set -euo pipefail
bin=$(realpath "$1") programs=$(realpath "$2")
# shellcheck source=tests/scratch.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scratch.sh"
unset GPURT_LOG GPURT_DRAIN GPURT_LEVEL GPURT_OFF GPURT_PANICS
export GPURT_CUPTI=off GPURT_BACKEND=cuda

failed=0
complain() {
    printf 'FAIL: %s\n' "$*" >&2
    failed=1
}

ended() { # WHAT COMMAND...: within 30 s; said and error hold what it printed
    local status=0
    timeout --kill-after=5 30 "${@:2}" >said 2>error || status=$?
    case $status in
    0) return 0 ;;
    77) exit 77 ;;
    esac
    complain "$1: status $status (124 hangs): $(tail -n 3 said error)"
    return 1
}

holds() { # WHAT SAID TRAPPED: 1, the line is there, or 0
    grep -qxF "$2" said || complain "$1: expected '$2', got '$(<said)'"
    grep -q '^gpurt: panic at .*panic_plain\.cu:.*block 3 thread 40: .*block 3, on purpose' error ||
        complain "$1: no line of the panic: $(<error)"
    [[ $(grep -c '^gpurt: that panic trapped its kernel' error) == "$3" ]] ||
        complain "$1: expected $3 lines of a trap: $(<error)"
}

trapped='panicked cudaErrorLaunchFailure, sync GPURT_E_TRAP, next cudaErrorLaunchFailure, wrote 0'
lives='panicked cudaSuccess, sync GPURT_E_PANIC, next cudaSuccess, wrote 8'

ends_as() { # PROGRAM CASE SAID TRAPPED: bare, and with a log
    local what="$1 $2"
    ended "$what" "$programs/$1" "$2" || return 0
    holds "$what" "$3" "$4"
    ended "$what, recorded" "$bin/gpurt-record" -q -o run.gplog -- "$programs/$1" "$2" || return 0
    holds "$what, recorded" "$3" "$4"
    "$bin/gpurt-panic" show run.gplog >shown 2>&1 || true
    grep -q 'block 3, on purpose' shown || complain "$what: not in its log: $(head -n 5 shown)"
    rm -f run.gplog
}

ends_as panic_groups groups "$trapped" 1
ends_as panic_groups alone "$lives" 0 # no cooperative launch
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
((${capability%%.*} < 9)) || ends_as panic_groups cluster "$lives" 0
ends_as panic_own grid "$lives" 0
ends_as panic_own threads "$lives" 0 # the barrier counts who is left
ends_as panic_never grid "$lives" 0
ends_as panic_always barrier "$trapped" 1
# Its header comes before gpurt's.
ends_as panic_barrier barrier "$trapped" 1
grep -q 'its file includes <cuda/barrier>' error || complain "panic_barrier: no reason: $(<error)"

# It hung for ever and in silence: a line says so, and a limit ends it.
hangs='^gpurt: 2 s after that panic its GPU still works on what ran then'
GPURT_PANIC_LIMIT=4 ends_as panic_own barrier "$trapped" 0
for line in "$hangs" '^gpurt: GPURT_PANIC_LIMIT=4: what ran at that panic is ended'; do
    [[ $(grep -c "$line" error) == 1 ]] || complain "limit: no line '$line': $(<error)"
done
timeout --signal=KILL 6 "$programs/panic_own" barrier >said 2>error || true
[[ $(grep -c "$hangs" error) == 1 ]] || complain "no limit: no line of the hang: $(<error)"
exit "$failed"
