#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_lines.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: where kernels are while they run, over a stand-in for CUPTI; what is
# said where that is refused; and that sampling is never stopped while a kernel runs (the stand-in aborts the program).
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
export GPURT_CUPTI=default,lines
unset FAKE_PC GPURT_CUPTI_LINES_PERIOD GPURT_CUPTI_LINES_MS

# run MODE [N]: and what the log says of it.
run() {
    local began=$SECONDS
    setting=${FAKE_PC:+$FAKE_PC: }
    recorded -- "$@"
    took=$((SECONDS - began))
    "$bin/gpurt-log" lines run.gplog >shown
    "$bin/gpurt-log" lines --json run.gplog >json
    [ "$(grep -c 'kernel beside' text)" = 1 ] || fail "$setting$*: the kernel beside is not recorded"
    lacks 'CUPTI refuses' text # lines are asked for behind all kinds of records
}
samples() { grep -o '^{"samples":[0-9]*' json | cut -d: -f2; }

# shares: of the kernels of lines_app.c, exactly; shares_shown: in text alone.
shares_shown() {
    has '^ 90.0%  spin(unsigned int\*)$' shown
    has '^   88.9%  /src/app/spin.cu:12  waits for global memory 100%$' shown
    has '^   11.1%  /src/app/spin.cu:13  waits at a barrier 70%, issues 30%$' shown
    has '^ 10.0%  copy_plain$' shown
    has '^   80.0%  +0x100  sleeps 100%$' shown
    has '^   20.0%  +0x110  a_new_one 100%$' shown # in CUPTI's words
    has 'nvcc -lineinfo has them' shown
    has '^waits at a barrier: ' shown
}
shares() {
    shares_shown
    has '"function":"spin(unsigned int\*)","percent":90.00,' json
    has '"reason":"barrier","words":"waits at a barrier"' json
    has '"reason":"a_new_one","words":null' json
    [ $(($(samples) % 10000)) = 0 ] || fail "$(samples) samples are no whole looks"
}

run lines 700
shares
lacks WARN text
has 'dev0 .*in spin(unsigned int\*) at /src/app/spin.cu:12, long_scoreboard, in [0-9]* ns: instruction 0x20, samples [0-9]*, ' text
has '"idle":' json
python3 -c 'import json,sys; d=json.load(open("json")); assert d["idle"]*2 == d["samples"] == sum(f["samples"] for f in d["functions"]), d' || fail "sums of the JSON"
"$bin/gpurt-log" lines --folded run.gplog >folded
has '^spin(unsigned int\*);/src/app/spin.cu:13;barrier [0-9]*$' folded
[ "$(awk '{ n += $NF } END { print n }' folded)" = "$(samples)" ] || fail "folded stacks have another sum"
"$bin/gpurt-log" lines --kernel copy run.gplog >one
has copy_plain one
lacks 'spin(' one
"$bin/gpurt-log" lines -F 'kind=line copy_plain' run.gplog >one 2>/dev/null || "$bin/gpurt-log" lines -F 'copy_plain' run.gplog >one
has copy_plain one
lacks 'spin(' one
"$bin/gpurt-log" export --to csv run.gplog -o - | grep >/dev/null '"line"' || fail export
# The text of instructions, as a stand-in for cuobjdump has it, and without one.
mkdir tools
PATH=$PWD/tools:/usr/bin:/bin "$bin/gpurt-log" lines --code app run.gplog >code 2>err
has '^gpurt-log: no text of instructions: cuobjdump: ' err
has '^   66.7%  /\*0020\*/    spin.cu:12 ' code
ln -s "$here/../tui/fake_cuobjdump.sh" tools/cuobjdump
PATH=$PWD/tools:$PATH "$bin/gpurt-log" lines --code app run.gplog >code 2>err
[ ! -s err ] || fail "lines --code: $(cat err)"
has '^   80.0%  /\*0100\*/  NANOSLEEP R5  *sleeps 100%$' code
has 'several versions, and the log does not tell' code # spin, of two architectures
# The machine code of the modules that were loaded, kept in a folder, once for each.
GPURT_CUPTI_CODE=kept/not run lines 300
has 'WARN .*GPURT_CUPTI_CODE=kept/not: No such file or directory: no machine code is kept' text
touch plain
GPURT_CUPTI_CODE=plain run lines 300
has 'WARN .*GPURT_CUPTI_CODE=plain: Not a directory: no machine code is kept' text
GPURT_CUPTI=default GPURT_CUPTI_CODE=kept run lines-none
has 'WARN .*GPURT_CUPTI_CODE=kept keeps no machine code without lines: add the word lines to GPURT_CUPTI' text
for again in 1 2; do
    GPURT_CUPTI_CODE=kept run lines 300
    lacks WARN text
    [ "$(find kept -type f | wc -l)" = 2 ] || fail "kept, $again: $(find kept)"
    [ "$(find kept -regex 'kept/[0-9a-f]*\.cubin' -size +1 | wc -l)" = 2 ] || fail "kept, $again: $(find kept -ls)"
done
PATH=$PWD/tools:$PATH "$bin/gpurt-log" lines --code kept run.gplog >code 2>err
[ ! -s err ] || fail "lines --code FOLDER: $(cat err)"
has '^   80.0%  /\*0100\*/  NANOSLEEP R5  *sleeps 100%$' code
PATH=$PWD/tools:$PATH "$bin/gpurt-log" lines --code app --json run.gplog >code
PATH=$PWD/tools:$PATH "$bin/gpurt-log" lines --kernel copy --code kept run.gplog >/dev/null 2>err
has 'none of the 2 files \*.cubin in kept has these functions' err
jq -e '(.functions[0].code[0] | .offset == 32 and .text == null and .line == 12) and
    .functions[1].code[0].text == "NANOSLEEP R5"' code >/dev/null || fail "JSON of code: $(head -c 600 code)"
# gpurt-top has the same sums, in replay and live, and draws them.
"$bin/gpurt-top" --once --json --replay run.gplog >top
jq -S .lines top >a
jq -S . json >b
cmp a b || fail "gpurt-top and gpurt-log disagree on lines"
COLUMNS=120 "$bin/gpurt-top" -b -v lines --replay run.gplog >top
has '^  90.0% .* waits for global memory 89% .* spin.cu:12 .* spin(unsigned int\*)$' top
"$bin/gpurt-top" --once --json -- "$app" lines 700 >top 2>/dev/null
jq -e '.lines.functions[0].percent == 90 and .lines_left_out == 0 and .lines.samples > 0' top >/dev/null || fail "gpurt-top: $(tail -c 300 top)"
# First lines come at once, and then one write a second.
[ "$(grep -c 'spin.cu:13, barrier' text)" -ge 2 ] || fail "lines came late: $(grep -c 'spin.cu:13, barrier' text) writes"

# Lines that are inlined: one line, by the calls that it stands in, in each format and on the screen.
run lines-inlined 400
has '^  100.0%  /src/app/spin.cu:14  ' shown
has '^             40%  outer<3> < spin.cu:14 Walk::step < spin.cu:14 outer<3> < spin.cu:14$' shown
has '^                  and 1 more$' shown
has 'outer<3> < /src/app/spin.cu:14 Walk::step < /src/app/spin.cu:14 outer<3> < /src/app/spin.cu:14$' text
jq -e '.functions[0].lines[0].callers | .[0].function == "outer<3>" and (.[0].calls | length) == 3 and
    .[0].calls[0] == {file: "/src/app/spin.cu", line: 14, function: "Walk::step"} and
    .[0].calls[2].function == "nested(unsigned int*, unsigned int)" and .[3].function == null and
    ([.[].samples] | add) == ([.[].samples] | max) * 2.5' json >/dev/null || fail "callers: $(head -c 900 json)"
"$bin/gpurt-log" lines --folded run.gplog >folded
call='(/src/app/spin.cu:14)'
has "^nested(unsigned int\*, unsigned int);outer<3> $call;Walk::step $call;outer<3> $call;/src/app/spin.cu:14;barrier [0-9]*\$" folded
"$bin/gpurt-log" lines --speedscope run.gplog >scope
python3 "$here/speedscope_rules.py" scope >stacks || fail "speedscope: $(head -c 900 scope)"
has '^nested(unsigned int\*, unsigned int)@;outer<3>@14;Walk::step@14;outer<3>@14;/src/app/spin.cu:14@14;waits at a barrier@ [0-9]*$' stacks
[ "$(awk '{ n += $NF } END { print n }' stacks)" = "$(samples)" ] || fail "speedscope has another sum"
"$bin/gpurt-top" --once --json --replay run.gplog >top
jq -S .lines top >a
jq -S . json >b
cmp a b || fail "gpurt-top and gpurt-log disagree on inlined lines"

# A kernel that was shorter than a look, and a program that ends with it.
run lines 20
shares
# On a busy machine it lasts longer, and is looked at more than once.
(($(samples) >= 10000 && $(samples) % 10000 == 0)) || fail "a kernel of 20 ms has $(samples) samples"
# A kernel that never ends: its lines are there, and neither the end of the program nor that of its context stops sampling.
run lines-hang 600
[ "$took" -lt 6 ] || fail "a kernel that hangs held the program for $took s"
shares
run lines-leave 600
shares

# What runs now, and not what ran before; also while the log is being written.
run lines-turns 500
has 'past(' shown
"$bin/gpurt-log" lines --last 1 run.gplog >one
has '^ 90.0%  spin(unsigned int\*)$' one
lacks 'past(' one
rm -f run.gplog
"$bin/gpurt-record" -q -o run.gplog -- "$app" lines-hang 2500 >out &
started+=($!)
for ((i = 0; i < 100; i++)); do
    "$bin/gpurt-log" lines run.gplog >shown 2>/dev/null && grep -q spin shown && break
    sleep 0.05
done
pgrep -P "${started[-1]}" cupti_app >/dev/null || fail "the program ended before its lines were to be seen"
shares_shown
wait "${started[-1]}"

# One context a GPU, the first; the next one when that has ended.
run lines-contexts
[ "$(grep -c 'WARN .*lines of GPU 0 are those of its first context' text)" = 1 ] || fail "contexts: $(grep WARN text)"
lacks 'lines of GPU 1' text
has 'dev1 .*spin.cu:13, barrier' text
has 'dev0 .*spin.cu:13, barrier' text
shares

# One program a GPU: who has it is told, until it has ended; what CUPTI was not told to end is still held; and
# a child does not keep what its parent had.
export FAKE_GRAPHS=$tests/libfake_graphs.so
run lines-taken 300
[ "$(grep -c 'WARN .*no lines of GPU 0: process [0-9]* has them, and CUPTI samples one program at a time; end it' text)" = 1 ] || fail "taken: $(grep WARN text)"
has 'collector: on; no lines of GPU 0: process' text
grep 'collector: ' text | tail -n 1 >last
lacks 'no lines' last
shares
run lines-refused 300
run lines-forked 300
shares
started+=("$(<child)")
kill -0 "${started[-1]}" || fail 'the child that was to live on is gone'
run lines 300
lacks WARN text
shares
kill "${started[-1]}"
unset FAKE_GRAPHS

# Modules that come and go.
run lines-modules 1000
[ "$(grep -o 'jit_[0-9]*' text | sort -u | wc -l)" -gt 16 ] || fail "modules: $(grep -c jit_ text) lines"
lacks 'jit_[0-9]* at ?' text
# Names come again in each look. Whole looks, of several calls each: some six in 1.3 s, fewer where the machine is busy.
run lines-many 5000
has '(no room for more lines)' shown # what is written of a second, and the rest as one
(($(samples) > 100 * 5049 && $(samples) % (100 * 5049) == 0)) || fail "many: $(samples) samples"

# What is refused is one line with the remedy, and part of the state; kernels are recorded.
declare -A says=(
    [forbidden]='its driver shows counters to administrators alone; load it with NVreg_RestrictProfilingToAdminUsers=0'
    [virtual]='it is a virtual GPU whose host allows no profiling'
    [mig]='it is a part of a GPU (MIG), which CUPTI does not sample'
    [busy]='another tool has its counters'
    [strange]='start: CUPTI says CUPTI_ERROR_OF_THE_STAND_IN'
    [reasonless]='why warps stand: CUPTI says'
    [unset]='how to sample: CUPTI says')
for FAKE_PC in "${!says[@]}"; do
    export FAKE_PC
    run lines 300
    [ "$(grep -c "WARN .*no lines of GPU 0: ${says[$FAKE_PC]}" text)" = 1 ] || fail "$FAKE_PC: $(grep WARN text)"
    has "collector: on; no lines of GPU 0: ${says[$FAKE_PC]}" text
    has '^no samples of lines' shown
    lacks ' at /src' text
done
FAKE_PC=forbidden run lines 300 # where lines would stand, the reason does
COLUMNS=70 LINES=20 "$bin/gpurt-top" -b -v lines --replay run.gplog >screen
grep -A 3 'No kernel was sampled' screen | grep -q '^     alone; load it with NVreg_RestrictProfilingToAdminUsers=0, or$' || fail "the view of lines: $(cat screen)"
FAKE_PC=placeless run lines 300
has 'WARN .*no lines of a context: which GPU it is of: CUPTI says' text
# A look that fails once is no end; one that goes on failing is, and is not asked again.
FAKE_PC=once run lines 900
shares
lacks WARN text
FAKE_PC=torn run lines 1200
has 'WARN .*no lines of GPU 0: what it has: CUPTI says' text
# A buffer that is full: what came before is told, and nothing is turned off under a kernel that runs.
FAKE_PC=full run lines-hang 900
shares
has "WARN .*lines of GPU 0 end: CUPTI's buffer was full; GPURT_CUPTI_LINES_PERIOD sets a longer period than 2^20" text
# Likewise while the program is stopped, which no period helps against.
FAKE_PC=fills run lines-stopped 900
shares
has "WARN .*lines of GPU 0 end: CUPTI's buffer was full when the program went on; it was stopped for [2-9][.0-9]* s" text
# More places than one call takes: the rest comes by the next one.
FAKE_PC=parts run lines-hang 700
shares
FAKE_PC=drops run lines 500
shares
[ "$(grep -c 'WARN .*samples of lines of GPU 0 are missing: they came faster' text)" = 1 ] || fail "drops: $(grep WARN text)"
unset FAKE_PC

GPURT_CUPTI_LINES_PERIOD=23 GPURT_CUPTI_LINES_MS=50 run lines 1500 # at most 8 looks in that time, unless it is heard
shares
[ "$(samples)" -ge 100000 ] || fail "a look each 50 ms gave $(samples) samples"

GPURT_CUPTI_LINES_PERIOD=11 run lines 300
shares
has 'WARN .*GPURT_CUPTI_LINES_PERIOD=11 is not from 16 to 31: it is 20' text

# Counters take what lines need.
GPURT_CUPTI=default,samples,lines run lines 300
has 'WARN .*no lines: CUPTI reads either counters (samples) or lines' text
has '^no samples of lines' shown
# Nobody asked: nothing of it is touched, not even with all.
GPURT_CUPTI=all run lines-none
has '^0$' out
run lines-none
has '^1$' out

# A program that opens gpurt and closes it: what was summed up until then is in its box.
GPURT_BACKEND=cpu GPURT_CUPTI=default,lines,counted "$bin/gpurt-record" -q -o last.gplog -- "$tests/both_app" last || fail last
"$bin/gpurt-log" cat last.gplog >text
has ' in first at ' text
has ' in second at ' text
has ' launched_last' text
