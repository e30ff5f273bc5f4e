/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - kernels: one name, one argument struct, two bodies of machine code.
 *
 *     struct scale_args { float factor; float *v; uint32_t n; };
 *
 *     GPURT_KERNEL(scale, struct scale_args, p)
 *     {
 *         uint32_t i = gpurt_global_id();
 *         if (i < p->n)
 *             p->v[i] *= p->factor;
 *     }
 *
 * A C compiler makes the CPU half of it, nvcc the CUDA half, in two objects of one program;
 * `gpurt_kernel_scale` describes both. A host file that only launches it writes
 * GPURT_KERNEL_DECLARE(scale, struct scale_args) and calls gpurt_launch (gpurt.h). In CUDA C++
 * `scale<<<grid, block>>>(args)` works as ever.
 * The body returns nothing; `return;` ends the lane. The struct is the only parameter; it is
 * copied at launch, read-only in the kernel, and its pointers point to device memory (or host
 * memory of gpurt_host_create). A kernel's name has C linkage and is unique in the program. It
 * is not `t`: gpurt_kernel_t is a type.
 *
 * GPURT_KERNEL_FIT(kernel, args_type, p, threads, blocks): the same, for blocks of `threads` at
 * most, with so few registers that `blocks` of them are resident together on a multiprocessor.
 * GPURT_KERNEL_LEAN(kernel, args_type, p, registers): with so many registers a lane at most. */
#ifndef GPURT_KERNEL_H
#define GPURT_KERNEL_H

#include <gpurt/base.h>

/* A declaration with C linkage, never a definition. */
#if defined(__cplusplus)
#    define GPURT_EXTERN_C_ extern "C"
#else
#    define GPURT_EXTERN_C_ extern
#endif

/* Owner: the program (static). Shared with: everybody, read-only.
 * Both halves of a kernel define the same descriptor, weakly, and refer weakly to each other:
 * with one of them missing its pointer is NULL. */
typedef struct gpurt_kernel {
    const char *name;
    uint32_t args_bytes, args_align;
    void (*cpu)(const void *args); /* one lane's run on the CPU back end */
    const void *const *cuda; /* where nvcc's host stub is named, for cudaLaunchKernel */
    uint32_t args_offset;    /* of the struct behind a ticket (guard.h); 0: no ticket */
} gpurt_kernel_t;

#define GPURT_KERNEL_DECLARE(kernel, args_type) \
    typedef args_type gpurt_args_of_##kernel;   \
    GPURT_EXTERN_C_ const gpurt_kernel_t gpurt_kernel_##kernel

/* The descriptor itself: the same text in both halves. */
#define GPURT_KERNEL_DESCRIBE_(kernel, offset)                             \
    GPURT_STATIC_ASSERT(sizeof(gpurt_args_of_##kernel) > 0 &&              \
                            sizeof(gpurt_args_of_##kernel) + (offset) <=   \
                                GPURT_MAX_ARGS_BYTES,                      \
                        "kernel arguments: 1 to 4,064 bytes");             \
    GPURT_EXTERN_C_ const gpurt_kernel_t gpurt_kernel_##kernel GPURT_WEAK; \
    const gpurt_kernel_t gpurt_kernel_##kernel = {                         \
        #kernel,                                                           \
        (uint32_t)sizeof(gpurt_args_of_##kernel),                          \
        (uint32_t)GPURT_ALIGNOF(gpurt_args_of_##kernel),                   \
        gpurt_cpu_##kernel,                                                \
        &gpurt_cuda_##kernel,                                              \
        (uint32_t)(offset)}

#include <gpurt/impl/dialect.h> /* GPURT_KERNEL(kernel, args_type, parameter) { body } */

#endif
