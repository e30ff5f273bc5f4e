/* SPDX-License-Identifier: Apache-2.0 */
#include "faultkind.h"

#include <stddef.h>

#define SANITIZER "compute-sanitizer names the array"
#define NEWER     "Update driver and toolkit; if it stays, report it with this dump."
#define BARRIER                                                                \
    "Look at which blocks of the cluster have ended: one that others read or " \
    "signal must stay until a last cluster barrier."

/* The numbers are those of CUDBGException_t, up to CUDA 13. */
static const faultkind_t kinds[] = {
    {1, "illegal-address", "illegal address", "A lane used an address that is not mapped.",
     "Check the index against the size of the array; " SANITIZER "."},
    {2, "stack-overflow", "stack overflow", "A lane's calls need more stack than it has.",
     "Bound the recursion, make local arrays smaller, or raise "
     "cudaDeviceSetLimit(cudaLimitStackSize)."},
    {3, "stack-overflow", "stack overflow", "The stack of the device is exhausted.",
     "Bound the recursion, or raise cudaDeviceSetLimit(cudaLimitStackSize)."},
    {4, "illegal-instruction", "illegal instruction",
     "The warp met an instruction that this GPU does not have.",
     "Build for this GPU (-arch=native), and look for a call through a bad pointer."},
    {FAULT_OUT_OF_RANGE, "out-of-range-address", "address out of range",
     "An address lies outside of shared or local memory.",
     "Check the index against the size of the shared or local array."},
    {FAULT_MISALIGNED, "misaligned-address", "misaligned address",
     "An address is no multiple of the size of what is read or written there.",
     "Look for a cast to a wider type (float4, uint64_t) of a pointer whose offset is not "
     "a "
     "multiple of its size."},
    {7, "address-space", "invalid address space",
     "An instruction for one memory was given an address of another.",
     "Look for a pointer to shared or local memory that left its block or its lane."},
    {8, "invalid-pc", "invalid program counter", "A call or jump went where no code is.",
     "Check function pointers: they are of one module and one device, and never of the "
     "host."},
    {9, "stack-overflow", "call stack overflow", "The hardware's call stack is exhausted.",
     "Bound the recursion."},
    {10, "illegal-address", "illegal address",
     "An address is not mapped; the GPU does not say which warp used it.",
     "Run it under compute-sanitizer, which finds the access."},
    {11, "misaligned-address", "misaligned address",
     "An address is no multiple of the size of what is read or written there.",
     "Look for a cast to a wider type."},
    {FAULT_ASSERT, "assert", "assertion failed", "A device assert() did not hold.",
     "The program's standard error has the condition. GPURT_ASSERT keeps the values too."},
    {13, "syscall", "system call failed", "A device function of CUDA failed.",
     "Look at the call in this line: device malloc, free, printf or launch."},
    {FAULT_ILLEGAL_ADDRESS, "illegal-address", "illegal address",
     "A lane used an address that is not mapped.",
     "Check the index against the size of the array; " SANITIZER "."},
    {15, "atomic-system", "atomic on memory that cannot move",
     "A system-wide atomic was used on memory where it is not possible.",
     "Use pinned or device memory for it."},
    {16, "atomic-system", "invalid system atomic",
     "A system-wide atomic was used where it is not possible.",
     "Use pinned or device memory for it."},
    {17, "cluster-range", "address out of the cluster's range",
     "An address of a neighbour's shared memory lies outside of it.",
     "Check the rank and the offset given to map_shared_rank or mapa."},
    {18, "cluster-block-gone", "block of the cluster is gone",
     "Shared memory of a block was used that had ended or not begun.", BARRIER},
    {19, "stack-canary", "stack smashed", "A local array was written beyond its end.",
     "Check the indices of local arrays in this function."},
    {20, "tensor-memory", "tensor memory misused", "Tensor memory was used without right.",
     "Check allocation and ownership of tensor memory."},
    {21, "tensor-memory", "tensor memory leaked", "A block ended with tensor memory.",
     "Give back what was allocated before the block ends."},
    {22, "newer-driver", "driver too old", "A call needs a newer driver.",
     "Update the driver."},
    {23, "invalid-pc", "misaligned program counter", "A call went between instructions.",
     "Check function pointers."},
    {24, "invalid-pc", "program counter overflow", "Execution ran beyond all code.",
     "Check function pointers."},
    {25, "illegal-instruction", "misaligned register", "Code is not for this GPU.", NEWER},
    {26, "illegal-instruction", "illegal encoding", "Code is not for this GPU.", NEWER},
    {27, "illegal-instruction", "illegal parameter", "Code is not for this GPU.", NEWER},
    {28, "illegal-instruction", "register out of range", "Code is not for this GPU.",
     NEWER},
    {29, "constant-address", "invalid constant address",
     "A constant was read beyond its bank.", "Check indices into __constant__ arrays."},
    {30, "illegal-address", "memory fault", "A lane used an address that is not mapped.",
     "Check the index against the size of the array; " SANITIZER "."},
    {31, "mbarrier", "mbarrier misused",
     "More arrivals than expected, or a locked transaction count.",
     "Compare the count given at mbarrier init with the lanes that arrive in a phase."},
    {32, "cluster-poison", "cluster memory error", "An uncorrectable memory error.",
     "Check the GPU with nvidia-smi -q -d ECC."},
    {33, "stack-overflow", "stack limit exceeded", "A lane's calls need more stack.",
     "Raise cudaDeviceSetLimit(cudaLimitStackSize)."},
    {34, "cluster-block-gone", "block is gone", "A block was used that had ended.",
     BARRIER},
    {35, "stack-overflow", "stack overflow", "A lane's calls need more stack than it has.",
     "Bound the recursion, or raise cudaDeviceSetLimit(cudaLimitStackSize)."},
    {36, "tma", "TMA failed", "A bulk copy was told something that cannot be.",
     "Check the tensor map, the box and the alignment of the copy in this line."},
    {FAULT_TRAP, "trap", "trap", "The code ran into __trap(), or a check that ends in one.",
     "Look at the condition that leads here. GPURT_PANIC says why before it stops, and "
     "leaves the context alive."},
    {FAULT_STACK, "stack-overflow", "stack overflow",
     "A local variable lies beyond the end of the lane's stack.",
     "Bound the recursion, make local arrays smaller, or raise "
     "cudaDeviceSetLimit(cudaLimitStackSize)."},
    {FAULT_SHARED_RANGE, "shared-out-of-range", "shared memory out of range",
     "An address lies beyond the shared memory of the block.",
     "Check the index against the array, and the launch's shared_bytes against what the "
     "kernel expects."},
    {FAULT_SNAPSHOT, "snapshot", "stopped while it ran",
     "No warp had failed: a dump of the running kernel was asked for.",
     "Look at where its warps stand, and at what those that stand alone wait for."},
};

const faultkind_t *faultkind_at(uint32_t i)
{
    return i < sizeof kinds / sizeof kinds[0] ? &kinds[i] : NULL;
}

const faultkind_t *faultkind_of(uint32_t number)
{
    static const faultkind_t unknown = {
        0, "unknown", "a fault of a kind that is not known",
        "This GPU reports a number that gpurt has no word for.",
        "Run it under compute-sanitizer, and open the dump with cuda-gdb."};
    const faultkind_t *k;

    for (uint32_t i = 0; (k = faultkind_at(i)) != NULL; i++)
        if (k->number == number)
            return k;
    return &unknown;
}
