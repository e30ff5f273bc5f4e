#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo_check.sh BUILD - finding bugs on the CPU, shown with the programs of BUILD/bin: one kernel on either back end, a
# hang that explains itself, and a schedule bug hunted down to a seed that shows it every time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${1:?build folder}/bin

step() { printf '\n\033[1m%s\033[0m\n$ %s\n\n' "$1" "$2"; }
[[ -t 1 && ! ${NO_COLOR:-} ]] || step() { printf '\n%s\n$ %s\n\n' "$1" "$2"; }

step '1. One source, two back ends: the GPU if there is one, otherwise the CPU.' "$bin/saxpy"
"$bin/saxpy"

step '2. A warp operation that one lane never reaches. Where a GPU hangs, the CPU back end tells.' "$bin/stuck"
"$bin/stuck"

step '3. A lost update. The test passes, as such tests do...' "$bin/tally wrong"
GPURT_BACKEND=cpu "$bin/tally" wrong || true

step '...until the schedule is the adversary:' "$bin/gpurt-check -- $bin/tally wrong"
if "$bin/gpurt-check" -- "$bin/tally" wrong; then
    echo 'demo_check: gpurt-check found nothing where there is something' >&2
    exit 1
fi

step '4. The corrected kernel stands the same schedules.' "$bin/gpurt-check -- $bin/tally right"
"$bin/gpurt-check" -- "$bin/tally" right
