#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dumps.sh PACKER FOLDER [NVCC...]: makes the GPU core dumps of dumps/ anew, with what the programs say of themselves.
# PACKER is the build's dump_pack. Needs a GPU and nvcc. fault_plain is compiled under its own path in the tree, so
# that the dumps name no other folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
packer=$1 folder=$2
shift 2
nvcc=("${@:-nvcc}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,skip_constbank_memory

arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
declare -A build=([lines]=-lineinfo [plain]=-O2 [debug]=-G)
for kind in "${!build[@]}"; do
    "${nvcc[@]}" -std=c++17 -O2 "-arch=sm_$arch" "${build[$kind]}" tests/gpu/fault_plain.cu -o "$work/$kind" 2>"$work/nvcc.txt" &
done
wait

# dump NAME KIND CAUSE
dump() {
    CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_GENERATION_FLAGS=$flags CUDA_COREDUMP_FILE=$work/$1.core \
        timeout 30 "$work/$2" "$3" >"$folder/$1.txt" 2>"$work/$1.err" || true
    "$packer" pack "$work/$1.core" "$folder/$1.core.zst"
    printf '%-14s %7d bytes  %s\n' "$1" "$(stat -c %s "$folder/$1.core.zst")" "$(cat "$folder/$1.txt")"
}
for cause in trap address misaligned shared stack assert inlined cluster; do
    dump "$cause" lines "$cause"
done
dump without_lines plain address
dump debug debug address

# A kernel that waits for what never comes is asked for a dump through a pipe.
CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 CUDA_COREDUMP_GENERATION_FLAGS=$flags CUDA_COREDUMP_FILE=$work/hang.core \
    CUDA_COREDUMP_PIPE=$work/hang.pipe timeout 30 "$work/lines" hang >"$folder/hang.txt" 2>"$work/hang.err" &
for ((i = 0; i < 100; i++)); do
    [[ -p $work/hang.pipe ]] && break
    sleep 0.1
done
sleep 1
timeout 5 dd if=/dev/zero of="$work/hang.pipe" bs=1k count=1 conv=notrunc status=none
wait || true
"$packer" pack "$work/hang.core" "$folder/hang.core.zst"
