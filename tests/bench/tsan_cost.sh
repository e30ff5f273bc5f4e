#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ThreadSanitizer costs on the CPU back end: one bench in the host build and in the tsan build, run in turn, the
# plain one as the peer. Rows like every bench's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for preset in host tsan; do
    [[ -e build/$preset/build.ninja ]] || cmake --preset "$preset" >/dev/null
    cmake --build "build/$preset" --target bench_simt >/dev/null
done
run=()
# clang before 18 cannot place its shadow memory under the widest address randomisation.
if setarch "$(uname -m)" -R true 2>/dev/null; then
    run=(setarch "$(uname -m)" -R)
fi
plain=$(mktemp) tsan=$(mktemp)
trap 'rm -f "$plain" "$tsan"' EXIT
GPURT_BACKEND=cpu build/host/bin/bench_simt sanitized >"$plain"
GPURT_BACKEND=cpu "${run[@]}" build/tsan/bin/bench_simt sanitized >"$tsan"
awk -F'\t' -v OFS='\t' '
    $1 == "bench" { if (NR == FNR) print; next }
    NR == FNR { value[$2] = $3; next }
    { print $1, $2 ".tsan", $3, $4, "plain", value[$2], sprintf("%.3f", $3 / value[$2]) }' "$plain" "$tsan"
