#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [tests | benches [NAME...] | litmus | soak [SECONDS]]: everything that needs a GPU, in one go: build for it, the
# tests on it, the machine code of the wrappers, the benches; or one half, or these benches; or the rows of the litmus
# tests; or what takes long: the tests of memory under compute-sanitizer; and for two minutes each a service beside all
# that a host does, and memory that is taken, filled and given back. For a fresh checkout on a machine without a network;
# needs nvcc, cmake, ninja and a C compiler.
#
# Leaves in ${OUT:-build/gpu-rows}: BENCH.tsv for each bench (rows under a head that names machine, date and commit),
# and gpu.log. Ends with a table of the rows and "N passed, N failed". Each program has a time limit; the GPU's settings are
# left as they are. GPURT_COMMIT names the commit where there is no git.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
PATH=$PATH:/usr/local/cuda/bin

case ${1:-all} in
all | tests | benches | litmus | soak) part=${1:-all} ;;
*) echo "gpu $1: there are tests and benches, or both, litmus and soak" >&2 && exit 2 ;;
esac
wanted=" ${*:2} "
out=${OUT:-build/gpu-rows}
build=build/gpu
mkdir -p "$out" || exit 1
log=$out/gpu.log
passed=0 failed=0
may_skip=' test_cupti_lines test_cupti_modules test_cupti_sampled test_torch bench_torch bench_torch_words bench_sampled test_two_gpus test_devices.gpu test_devices_log.gpu ' # counters may be for administrators, PyTorch is no part of a toolkit, a second GPU no part of a machine
: >"$log"

note() { printf '%s\n' "$*" | tee -a "$log"; }

# stage NAME SECONDS COMMAND...: one line on the terminal, all output in the log.
stage() {
    local name=$1 limit=$2 start=$SECONDS status
    shift 2
    printf '\n==== %s: %s\n' "$name" "$*" >>"$log"
    timeout --kill-after=10 "$limit" "$@" >>"$log" 2>&1
    status=$?
    [[ $status != 77 || $may_skip != *" $name "* ]] || {
        note "skipped $name: $(tail -n 1 "$log")"
        return 0
    }
    case $status in
    0) passed=$((passed + 1)) && note "ok      $name ($((SECONDS - start)) s)" ;;
    *) failed=$((failed + 1)) && note "FAILED  $name: status $status ($((SECONDS - start)) s)" ;;
    esac
    return "$status"
}

give_up() {
    note "$1"
    tail -n 40 "$log"
    printf '%d passed, %d failed\n' "$passed" "$failed"
    exit 1
}

# ---- the machine -------------------------------------------------------------------------------------------------
gpu=$(timeout 60 nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
if [[ ! $gpu ]]; then
    note 'no NVIDIA GPU on this machine (nvidia-smi shows none): nothing was run'
    exit 77
fi
IFS=, read -r device driver capability <<<"${gpu//, /,}"
arch=${capability/./}
commit=${GPURT_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
toolkit=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
head_lines=$(
    printf '# device: %s (sm_%s), driver %s, CUDA %s\n' "$device" "$arch" "$driver" "$toolkit"
    printf '# host: %s, %s processors, %s\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
        "$(uname -r)"
    printf '# date: %s\n# commit: %s\n' "$(date -u +%Y-%m-%dT%H:%MZ)" "$commit"
)
note "$head_lines"

# ---- build -------------------------------------------------------------------------------------------------------
# A compiler newer than ours may warn of more: that is no reason not to measure.
stage configure 60 cmake --preset cuda -B "$build" "-DGPURT_CUDA_ARCHS=$arch" -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF ||
    give_up 'configure failed'
targets=(all benches)
[[ $part != litmus ]] || targets=(test_litmus)
stage build 300 cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" || give_up 'build failed'

# ---- tests: with a GPU here, one that skips has failed, unless it may ----------------------------------------------
run_tests() {
    local name verdict word
    printf '\n==== tests\n' >>"$log"
    timeout --kill-after=10 400 ctest --test-dir "$build" --timeout 120 --parallel 4 --output-on-failure --no-tests=error \
        --tests-regex '(\.gpu$|^hello_|^cancel_plain|^malloc_|^hostcall_plain|^segring_plain|^two_units|^kernel_halves|^test_cuda|^test_gpu|^test_cupti|^test_two_gpus|^test_torch|^sass_|_cost$)' \
        >"$out/ctest.txt" 2>&1
    cat "$out/ctest.txt" >>"$log"
    # "1/9 Test #18: NAME ....   Passed  0.1 sec"
    while read -r name verdict; do
        word=FAILED
        [[ $verdict != Passed* ]] || word=ok
        [[ $verdict != Skipped* || $may_skip != *" $name "* ]] || word=skipped
        case $word in
        ok) passed=$((passed + 1)) ;;
        FAILED) failed=$((failed + 1)) ;;
        esac
        note "$(printf '%-7s %s' "$word" "$name ($verdict)")"
    done < <(sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) \.*[ *]*\(.*\)$/\1 \2/p' "$out/ctest.txt" | tr -s ' ')
    if ! grep -q 'tests passed' "$out/ctest.txt"; then
        failed=$((failed + 1))
        note 'FAILED  the tests did not come to their end'
    fi
    rm -f "$out/ctest.txt"
}
[[ $part != all && $part != tests ]] || run_tests

# ---- benches ------------------------------------------------------------------------------------------------------
bench_rows() { # FILE PROGRAM [ARGUMENT...]
    printf '%s\n' "$head_lines" >"$1"
    "${@:2}" >>"$1"
}
export -f bench_rows
export head_lines
for bench in "$build"/bin/bench_*; do
    limit=200
    [[ $bench != */bench_torch* ]] || limit=500 # some thirty programs that load PyTorch first
    name=${bench##*/}
    [[ ($part == all || $part == benches) && -x $bench && ! -d $bench && ($wanted == "  " || $wanted == *" $name "*) ]] || continue
    stage "$name" "$limit" bash -c 'bench_rows "$@"' bash "$out/$name.tsv" "$bench"
done

# ---- litmus tests: how often each form shows its weak outcome ------------------------------------------------------
[[ $part != litmus ]] ||
    GPURT_BACKEND=cuda stage litmus 300 bash -c 'bench_rows "$@"' bash "$out/litmus.tsv" "$build/tests/test_litmus" rows

# ---- what takes long ----------------------------------------------------------------------------------------------
memcheck_parts() { # PROGRAM: what its -l names, side by side
    local part pid status=0 running=()
    for part in $("$1" -l); do
        compute-sanitizer --tool memcheck --error-exitcode 9 "$1" "$part" &
        running+=($!)
    done
    for pid in "${running[@]}"; do
        wait "$pid" || status=$?
    done
    return "$status"
}
export -f memcheck_parts

run_soak() { # SECONDS
    local name
    export GPURT_BACKEND=cuda GPURT_CUPTI=off
    for name in test_alloc_served test_alloc_refused test_region test_heap_checks test_heap_checks_served; do
        stage "memcheck $name" 300 bash -c 'memcheck_parts "$@"' bash "$build/tests/$name"
    done
    for name in test_places test_arena; do
        stage "memcheck $name" 300 compute-sanitizer --tool memcheck --error-exitcode 9 "$build/tests/$name"
    done
    stage service_soak $(($1 + 120)) "$build/tests/test_service_soak" "$1"
    stage soak $(($1 + 120)) bash -c 'bench_rows "$@"' bash "$out/bench_alloc_soak.tsv" "$build/bin/bench_alloc" soak "$1"
}
[[ $part != soak ]] || run_soak "${2:-120}"

# ---- summary ------------------------------------------------------------------------------------------------------
printf '\n'
# The first line of each file that is no remark names the columns: shown once.
cat "$out"/*.tsv 2>/dev/null | awk -F'\t' '/^#/ { next } $1 == "bench" && head++ { next }
    { printf "%-8s %-28s %10s %-7s %-24s %10s %7s\n", $1, $2, $3, $4, $5, $6, $7 }' | tee -a "$log"
printf '\n'
note "$passed passed, $failed failed"
((failed == 0 && passed > 0))
