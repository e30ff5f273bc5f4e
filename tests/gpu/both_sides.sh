#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# both_sides.sh NVCC LIBRARY CUDA_LIBRARY [BIN]: words of logs and assertions did not compile in functions for host and device. They do,
# without a warning, and the host's side does what the host would: a message of its log, one line and abort(). Also held: in
# which files a panic traps, and that a mistake is told in few words. Needs no GPU.
set -euo pipefail
nvcc=$1 library=$(realpath "$2") cuda=$(realpath "$3") bin=${4:+$(realpath "$4")}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=${here%/*/*}
# shellcheck source=tests/scratch.sh
. "$root/tests/scratch.sh"
compile() { "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -Xcompiler=-Wall,-Wextra "-I$root/runtime/include" "$@"; }

# ---- what the host's side says --------------------------------------------------------------------------------------
compile --extended-lambda "$here/both_sides.cu" -o both
./both 0 >said 2>&1 || fail "no assertion fails, but: $(<said)"
[[ ! -s said ]] || fail "nothing is to be said: $(<said)"
aborts() { # CASE TEXT
    local status=0
    bash -c './both "$1" >said 2>&1; exit $?' both "$1" 2>/dev/null || status=$?
    ((status == 134)) || fail "case $1 ends with $status"
    grep -q "both_sides\.cu:[0-9]*: " said || fail "case $1: no place: $(<said)"
    [[ $(<said) == *": $2" && $(wc -l <said) == 1 ]] || fail "case $1: expected '$2', got: $(<said)"
}
ulimit -c 0
aborts 1 'clamped: v >= 0 does not hold: value -1'
aborts 2 'clamped: v <= most does not hold: 9 and 7'
aborts 3 'told: panic: value 3'
aborts 4 'kinds: t does not hold: 0 7 0.50 2.5 0 -5000000000 [  text] x ff 1099511627776 100%'
aborts 5 'kinds: c == Color::red does not hold: 1 and 0: color'
aborts 6 'at: 0 <= i < 4 does not hold: -1 and 4: of four'
aborts 7 'operator(): v does not hold'
aborts 9 'twice: n > 0 does not hold: twice -1'
aborts 8 'add: 0 <= v < 100 does not hold: 100 and 100'

compile --extended-lambda -DBOTH_SIDES_LOG "$here/both_sides.cu" -Xlinker -u,gpurt_backend_cuda "$cuda" "$library" -lpthread -ldl -o logs
if [[ $bin ]]; then
    "$bin/gpurt-record" -q -o run.gplog -- ./logs 0 || fail "logs ends with $?"
    "$bin/gpurt-log" cat run.gplog >told
    for text in 'clamp 3 of 40, as text' '0 7 1' '0.50 2.500000' 'lambda 1 of 1'; do
        grep -qF "$text" told || fail "the host's log has no '$text': $(<told)"
    done
fi

# ---- which panics trap ----------------------------------------------------------------------------------------------
cat >coop.cu <<'END'
#if WHERE == 1
#include <cooperative_groups.h>
#elif WHERE == 3
#include <cuda/barrier>
#elif WHERE == 4
#include <cuda/pipeline>
#elif WHERE == 5
#include <cuda_awbarrier.h>
#elif WHERE == 6
#include <cub/cub.cuh>
#include <cuda/atomic>
#endif
#include <gpurt/device.h>
#ifdef CHOSEN
static_assert(GPURT_PANIC_TRAP == CHOSEN, "by the headers before");
#endif
static __device__ __noinline__ void early(int v) { GPURT_ASSERT(v == 1); }
#if WHERE == 2
#include <cooperative_groups.h>
#endif
__global__ void k(int *p)
{
    early(p[0]);
    p[1] = 3;
}
END
fences() { # EXPECTED FLAG...: one more than in a trap that only a guard asks for
    compile "${@:2}" -ptx coop.cu -o coop.ptx
    [[ $(grep -cE '(fence|membar).*sys' coop.ptx) == "$1" ]] || fail "with ${*:2} a panic does not do what is said"
}
fences 1 -DWHERE=0
fences 2 -DWHERE=1
fences 2 -DWHERE=2
fences 1 -DWHERE=2 -DGPURT_PANIC_TRAP=0
fences 2 -DWHERE=0 -DGPURT_PANIC_TRAP=2
fences 2 -DWHERE=0 -rdc=true
# Barriers that count arrivals, known of by their headers.
fences 2 -DWHERE=3 -DCHOSEN=3
fences 2 -DWHERE=4 -DCHOSEN=3
fences 1 -DWHERE=5 -DCHOSEN=1 # Thrust brings it along, and does not use it
fences 2 -DWHERE=6 -DCHOSEN=1 # CUB brings cooperative groups along
fences 1 -DWHERE=3 -DGPURT_PANIC_TRAP=1

# ---- mistakes, in few words -----------------------------------------------------------------------------------------
refused() { # TEXT STATEMENT: by nvcc, of which each line is one of the program
    printf '#include <gpurt/device.h>\n#include <string>\n__global__ void k(int *p)\n{\n    %s\n}\n' "$2" >wrong.cu
    ! compile -c wrong.cu -o wrong.o >said 2>&1 || fail "$2 compiles"
    grep -q "error: .*$1" said || fail "$2: no '$1': $(cut -c 1-200 said)"
    (($(wc -c <said) <= 4000 && $(grep -c error: said) == 1)) || fail "$2: $(wc -c <said) bytes: $(cut -c 1-200 said)"
}
many=$(seq -s, 1 60)
refused 'format and arguments do not match' 'GPURT_INFO("%s", p[0]);'
refused 'format and arguments do not match' 'GPURT_ASSERT_LT(p[0], p[1], "%s %d", p[0], p[1]);'
refused 'a message has at most 12 arguments' "GPURT_INFO(\"x\", ${many%%,14,*});"
refused 'a message has at most 12 arguments' "GPURT_INFO(\"x\", $many);"
refused 'a message has at most 12 arguments' "GPURT_ASSERT(p[0], \"x\", $many);"
