#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_cupti_modules.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS SOURCE: modules that come and go, two contexts, and two programs of
# one GPU, under the set `sampled` on a GPU: exact counts, lines, and the program unharmed. Skipped where the driver shows no counters.
set -euo pipefail
bin=$1 tests=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_CUPTI GPURT_CUPTI_CODE CUDA_INJECTION64_PATH

fail() {
    echo "FAIL: $*" >&2
    head -n 20 shown text >&2
    exit 1
}

# run ARGUMENT...: of cupti_modules, recorded.
run() {
    rm -f run.gplog
    timeout 60 "$bin/gpurt-record" -q -o run.gplog --cupti sampled -- "$tests/cupti_modules" "$tests/cupti_modules.fatbin" "$@" \
        >out 2>err || fail "'$*': exit status $?: $(cat err)"
    "$bin/gpurt-log" cat run.gplog >text
    "$bin/gpurt-log" lines run.gplog >shown
    ! grep 'lines of GPU 0: its driver shows counters' text || exit 77
}

# launched N: by all records of counts. stands: most samples are of the marked line.
launched() {
    local sum
    sum=$({ grep -F ' counted module_work: launches ' text || true; } | sed 's/.*: launches //' | awk '{ n += $1 } END { print n + 0 }')
    [ "$sum" = "$1" ] || fail "$sum launches, not $1"
}
stands() {
    local line
    line=$(grep -n 'MARK module' "$source" | cut -d: -f1)
    sed -n 3p shown | grep -q "cupti_modules_code.cu:$line  " || fail "most samples are not of line $line"
}

run modules 1000
launched 1000
stands
run contexts 500
launched 1000
stands
[ "$(grep -c 'WARN .*lines of GPU 0 are those of its first context' text)" = 1 ] || fail 'the second context is not told'

# Two programs at once: the second is told which has the lines, and runs to its end; behind the first one's end the next has them.
"$bin/gpurt-record" -q -o first.gplog --cupti sampled -- "$tests/cupti_lines" spin 4000 >first 2>&1 &
for ((i = 0; i < 200; i++)); do
    [[ ! -s first ]] || break
    sleep 0.05
done
run modules 20
launched 20
grep -q 'WARN .*no lines of GPU 0: process [0-9]* has them' text || fail 'another program has the lines, and nothing says so'
wait $! || fail "the first program: $(cat first)"
"$bin/gpurt-log" lines first.gplog >shown
grep -q stand_spin shown || fail 'the first program has no lines'
run modules 200
stands

# The machine code of modules, once where it is the same, with the text of its instructions where the tools are.
GPURT_CUPTI_CODE=kept run modules 100
files=$(find kept -name '*.cubin' | wc -l)
[ "$files" = 1 ] || fail "$files files, and all modules have the same code"
! command -v cuobjdump >/dev/null || ! command -v nvdisasm >/dev/null || {
    "$bin/gpurt-log" lines --code kept run.gplog >code 2>err || fail "lines --code: $(cat err)"
    grep -Eq '/\*[0-9a-f]{4}\*/  @?[A-Z]' code || fail "no text of instructions: $(head code err)"
}
