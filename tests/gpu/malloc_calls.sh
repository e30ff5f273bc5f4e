#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# malloc_calls.sh NVCC: kernels of which nothing but the compiler's flags is said call no allocator of CUDA's, whatever
# form of malloc and new they use; two files of them can be linked on the device; and a heap that is a kernel's argument is not
# copied to each thread's stack.
set -euo pipefail
nvcc=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compile() { # WHAT... : with gpurt's malloc
    "$nvcc" -arch=sm_90 -Werror all-warnings "-I$root/runtime/include" -DGPURT_REPLACE_MALLOC \
        -DGPURT_REPLACE_NOTHROW -include gpurt/malloc.h "$@"
}

compile -std=c++17 -ptx "$root/tests/gpu/malloc_plain.cu" -o "$folder/plain.ptx"
grep -q '^\.visible \.entry' "$folder/plain.ptx" || { echo "no kernel was compiled" >&2; exit 1; }
# vprintf says that there is no heap.
if grep -n -A1 '^\.extern \.func' "$folder/plain.ptx" | grep -v vprintf | grep -q func; then
    echo "a kernel calls what is CUDA's" >&2
    exit 1
fi

cat > "$folder/unit.cu" <<'END'
__global__ void KERNEL(void **o)
{
    struct alignas(64) Line { int words[16]; };
    o[0] = new (std::nothrow) int;
    o[1] = new Line[3];
    delete[] static_cast<Line *>(o[1]);
}
END
for kernel in first second; do
    compile -std=c++17 -rdc=true "-DKERNEL=$kernel" -c "$folder/unit.cu" -o "$folder/$kernel.o"
done
"$nvcc" -arch=sm_90 -rdc=true -dlink "$folder/first.o" "$folder/second.o" -o "$folder/linked.o"
compile -std=c++14 -ptx "$root/tests/gpu/hello_plain.cu" -o "$folder/older.ptx" # nothing newer is needed

cat > "$folder/heap.cu" <<'END'
#include <gpurt/alloc.h>
#include <gpurt/kernel.h>
struct args { gpurt_heap_t heap; void **out; };
GPURT_KERNEL(by_macro, struct args, p) { p->out[0] = gpurt_heap_alloc(&p->heap, 24); }
__global__ void by_word(const __grid_constant__ gpurt_heap_t heap, void **o) { o[0] = gpurt_heap_alloc(&heap, 24); }
__global__ void by_copy(const gpurt_heap_t heap, void **o) { o[0] = gpurt_heap_alloc(&heap, 24); }
END
"$nvcc" -std=c++17 -arch=sm_90 "-I$root/runtime/include" -ptx "$folder/heap.cu" -o "$folder/heap.ptx"
stack_of() { # KERNEL: bytes that nvcc keeps on the stack
    awk -v kernel="$1" '/\.entry/ { inside = index($0, kernel) } inside && /__local_depot[0-9]*\[/ {
        gsub(/.*\[|\].*/, ""); bytes = $0; inside = 0 } END { print bytes + 0 }' "$folder/heap.ptx"
}
copied=$(stack_of by_copy)
for kernel in by_macro by_word; do
    (($(stack_of "$kernel") + 64 <= copied)) || {
        echo "$kernel keeps $(stack_of "$kernel") bytes on the stack, a copy $copied: its heap is copied" >&2
        exit 1
    }
done
