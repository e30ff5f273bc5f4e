#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ports.sh PORT CC [LIBRARY] - the executor on what this machine is not: PORT ucontext (the C library's contexts instead
# of our switch; all but the executor is LIBRARY's) or aarch64 (cross-compiled, run by qemu-user). Runs the semantics
# suite and compares a seeded schedule's hash with the one of this machine; of PORT native the hash alone, with LIBRARY,
# which the suite has been run with. Ends with 77 when the tools are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

port=$1 cc=${2:-cc} library=${3:-} run=() flags=()
case $port in
ucontext) flags=(-DGPURT_FIBER_UCONTEXT=1) ;; # which runtime/simt alone reads
aarch64)
    cc=aarch64-linux-gnu-gcc run=(qemu-aarch64) flags=(-static)
    for tool in "$cc" "${run[0]}"; do
        command -v "$tool" >/dev/null || {
            echo "SKIP: no $tool (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"
            exit 77
        }
    done
    ;;
native) ;;
*) echo "ports.sh: PORT is ucontext, aarch64 or native" >&2 && exit 2 ;;
esac
[[ $port == aarch64 || $library ]] || { echo "ports.sh $port: name a libgpurt.a" >&2 && exit 2; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
rooms=(runtime/base runtime/box runtime/simt runtime/host/*/ kernels)
common=(-std=gnu11 -O1 -D_GNU_SOURCE -Iruntime/include "${rooms[@]/#/-I}" "${flags[@]}")

objects=()
if [[ $port != native ]]; then
    sources=(runtime/simt/*.[cS])
    [[ $port == ucontext ]] ||
        sources+=(runtime/base/*.c runtime/box/*.c runtime/host/*/*.c kernels/{channel_close,gc,sweep}_kernels.c)
    for source in "${sources[@]}"; do
        [[ $source != *cuda* ]] || continue
        object=$out/$(basename "$source").o
        extra=()
        [[ $source != runtime/simt/* ]] || extra=(-DGPURT_NO_POINTS=1)
        "$cc" "${common[@]}" "${extra[@]}" -c "$source" -o "$object"
        objects+=("$object")
    done
fi
[[ $port == aarch64 ]] || objects+=("$library")
if [[ $port != native ]]; then
    "$cc" "${common[@]}" -Itests -Itests/kernels tests/unit/test_semantics.c tests/unit/semantics_*.c \
        tests/kernels/semantics*_kernels.c "${objects[@]}" -o "$out/suite" -lpthread -ldl -lm
    GPURT_BACKEND=cpu "${run[@]}" "$out/suite" | tail -n 3
fi
"$cc" "${common[@]}" -Itests tests/unit/port_hash.c "${objects[@]}" -o "$out/hash" -lpthread -ldl

# One seed is one schedule on every processor. The constants belong to port_hash.c's kernel.
for seed in 1 2 3; do
    GPURT_SEED=$seed "${run[@]}" "$out/hash" "$seed"
done
echo "$port: the schedules are the same"
