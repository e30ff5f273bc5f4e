# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# standin.sh - a folder of its own, in which programs run over the stand-in for CUPTI, and words for what is in run.gplog.
# Sourced with the folders of programs ($1) and of tests ($2).
bin=$1 tests=$2
# shellcheck disable=SC2034 # of who sources this
app=$tests/cupti_app
# shellcheck source=tests/scratch.sh
. "${BASH_SOURCE[0]%/*}/../scratch.sh"
export GPURT_CUPTI_LIBRARY=$tests/libfake_cupti.so GPURT_NVML=off
export ASAN_OPTIONS=detect_leaks=0
# With room for all that a program here says while its drainer is held up.
export GPURT_HOST_RING_BYTES=$((64 << 20))
unset GPURT_CUPTI CUDA_INJECTION64_PATH FAKE_CUPTI

told() { grep >/dev/null -e "$2" <<<"$1" || fail "$3: no '$2' in: $1"; }
field() { "$bin/gpurt-log" stat --json run.gplog | grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d: -f2; }
lines() { "$bin/gpurt-log" cat run.gplog | grep -c "$1" || true; }
log_has() { "$bin/gpurt-log" cat run.gplog | grep >/dev/null -e "$1" || fail "$2: no '$1' in: $("$bin/gpurt-log" cat run.gplog | tail -n 5)"; }

# recorded OPTION... -- MODE [N]: a run of $app, what it said in out and err, the log's records in text, its sums in sums.
recorded() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog "${options[@]}" -- "$app" "$@" >out 2>err || fail "$*: exit status $?: $(cat err)"
    "$bin/gpurt-log" cat run.gplog >text
    "$bin/gpurt-log" stat run.gplog >sums
}
# has PATTERN FILE, lacks PATTERN FILE. $setting: what a failure says first.
has() { grep -q -e "$1" "$2" || { tail -n 12 "$2" | cut -c1-900 >&2; fail "${setting:-}no '$1' in $2"; }; }
lacks() { ! grep -e "$1" "$2" >&2 || fail "${setting:-}'$1' in $2"; }

# counted WHO N: every kernel once, whatever the end; the collector says the same number.
counted() {
    [ "$(lines ' kernel ')" = "$2" ] || fail "'$1': $(lines ' kernel ') kernels, not $2"
    [ "$(field dropped)" = 0 ] || fail "'$1': dropped"
}
