/* SPDX-License-Identifier: Apache-2.0 */
/* malloc.h - malloc and free of kernels that exist, from the default heap of gpurt.
 *
 *     nvcc -DGPURT_REPLACE_MALLOC -include gpurt/malloc.h ...      no line changes; or
 *     #define GPURT_REPLACE_MALLOC
 *     #include <gpurt/malloc.h>                                    last of the includes
 *
 * In device code malloc, free, new and delete become requests of the default heap (heap.h,
 * make_default), plain or with std::. That holds for new and delete of arrays, of over-aligned
 * types (up to 64 KiB), and with std::nothrow_t{}. gpurt_open makes such a heap, of 256 MiB,
 * where the program has none; it gives way to one that the host makes later. A kernel that
 * runs without a heap gets NULL, and says so once on standard output. On the CPU back end new and
 * delete stay the C++ library's: to replace them would replace the host's. So a heap there neither
 * holds nor checks what kernels make with new.
 *
 * -DGPURT_REPLACE_NOTHROW gives kernels the object std::nothrow, which is the host's otherwise.
 * It needs CUDA 13, C++17, and a program that links the C++ library. There is no calloc and no
 * realloc: CUDA has none, and on the CPU back end those of a kernel stay the C library's, so
 * that what they gave must not go to this free. Host code keeps its own functions: on a GPU by
 * the compiler's two passes, on the CPU back end because no lane runs. There free() of the host asks
 * which heap that exists the pointer is of. What a kernel allocated ends with its heap, and so with
 * gpurt_close: it must not be freed after that. Memory that CUDA's own malloc gave must not be freed by this free:
 * it is counted as foreign.
 *
 * On a GPU these are functions, so methods and overloads of the same names, as in Thrust and
 * CUB, are left alone. A heap that checks then knows no line of a request. -DGPURT_MALLOC_LINES
 * makes malloc and free macros, which know the line; code with methods of those names does not
 * compile so. On the CPU back end they are macros always. */
#ifndef GPURT_MALLOC_H
#define GPURT_MALLOC_H

#if defined(GPURT_REPLACE_MALLOC)

#    include <stdlib.h>
#    if defined(__cplusplus)
#        include <cstdlib>
#        include <new>
#    endif

#    include <gpurt/alloc.h>

/* gpurt_open makes a default heap for a program that has this. Weak: what is linked without
 * gpurt has none. */
GPURT_BEGIN_DECLS
void gpurt_heap_want(void) GPURT_WEAK;
/* Whether the memory is of a heap's chunks, and of which. */
bool gpurt_heap_find(const void *memory, gpurt_heap_t *out) GPURT_WEAK;
GPURT_END_DECLS
static __attribute__((constructor)) void gpurt_malloc_enter(void)
{
    if (gpurt_heap_want)
        gpurt_heap_want();
}

#    if GPURT_ON_CUDA
#        include <stdio.h>

static __device__ unsigned gpurt_malloc_told;

/* A kernel that ran before gpurt_open, or a heap that could not be made: said once. */
GPURT_DEVN void gpurt_malloc_missing(void)
{
    if (!gpurt_heap_default.chunks &&
        gpurt_xchg_relaxed_dev_u32(&gpurt_malloc_told, 1) == 0)
        printf("gpurt: malloc and new of kernels answer NULL: there is no heap. Call "
               "gpurt_open "
               "before the first launch, or make one (gpurt_heap_create, make_default).\n");
}
GPURT_DEV void *gpurt_malloc_get(size_t size, size_t align, const char *here)
{
    void *object = gpurt_alloc_at(size, align, here);

    if (GPURT_UNLIKELY(!object))
        gpurt_malloc_missing();
    return object;
}

#        if defined(GPURT_MALLOC_LINES)
static __host__ __device__ __forceinline__ void *gpurt_malloc_at(size_t size,
                                                                 const char *here)
{
#            if GPURT_IN_DEVICE
    return gpurt_malloc_get(size, 16, here);
#            else
    (void)here;
    return malloc(size);
#            endif
}
static __host__ __device__ __forceinline__ void gpurt_mfree_at(void *object,
                                                               const char *here)
{
#            if GPURT_IN_DEVICE
    gpurt_heap_free_at(&gpurt_heap_default, object, here);
#            else
    (void)here;
    free(object);
#            endif
}
#        endif

/* Functions and no macros: headers of other people have methods and overloads called malloc. In
 * the pass for the device ours takes the place of the one that CUDA declares. */
#        if GPURT_IN_DEVICE
#            pragma nv_diagnostic push
#            pragma nv_diag_suppress 20039
extern "C" {
inline __host__ __device__ void *malloc(size_t size) noexcept
{
    return gpurt_malloc_get(size, 16, "malloc:0");
}
inline __host__ __device__ void free(void *object) noexcept
{
    gpurt_heap_free_at(&gpurt_heap_default, object, "free:0");
}
}
#            pragma nv_diagnostic pop
#        endif

/* Only in the pass for the device: in the other one they would take the host's place.
 * Inline, because every file of a program may have them, and nvcc drops `weak`. Of each
 * operator all forms: one that is left out would be CUDA's, from CUDA's own heap, or a
 * function of the host. */
#        if GPURT_IN_DEVICE
#            define GPURT_NEW_ inline __device__
/* new and new[] with those parameters, of which one is `size`. */
#            define GPURT_NEW_PAIR_(align, quiet, ...)                                  \
                GPURT_NEW_ void *operator new(__VA_ARGS__) quiet                        \
                {                                                                       \
                    return gpurt_malloc_get(size, (size_t)(align), "operator new:0");   \
                }                                                                       \
                GPURT_NEW_ void *operator new[](__VA_ARGS__) quiet                      \
                {                                                                       \
                    return gpurt_malloc_get(size, (size_t)(align), "operator new[]:0"); \
                }
/* delete and delete[] with those, of which one is `object`. */
#            define GPURT_DELETE_PAIR_(...)                                               \
                GPURT_NEW_ void operator delete(__VA_ARGS__) noexcept                     \
                {                                                                         \
                    gpurt_heap_free_at(&gpurt_heap_default, object, "operator delete:0"); \
                }                                                                         \
                GPURT_NEW_ void operator delete[](__VA_ARGS__) noexcept                   \
                {                                                                         \
                    gpurt_heap_free_at(&gpurt_heap_default, object,                       \
                                       "operator delete[]:0");                            \
                }
/* nvcc knows those with nothrow_t, and the object of that type, as the host's. */
#            pragma nv_diagnostic push
#            pragma nv_diag_suppress 20039
#            pragma nv_diag_suppress 2620
#            if defined(GPURT_REPLACE_NOTHROW) && __CUDACC_VER_MAJOR__ >= 13 && \
                __cplusplus >= 201703L /* nvcc registers it by the host's */
#                pragma nv_diag_suppress 20042
namespace std
{
static __device__ const nothrow_t nothrow{};
}
#            endif
GPURT_NEW_PAIR_(16, , size_t size)
GPURT_NEW_PAIR_(16, noexcept, size_t size, const std::nothrow_t &)
GPURT_DELETE_PAIR_(void *object)
GPURT_DELETE_PAIR_(void *object, size_t)
GPURT_DELETE_PAIR_(void *object, const std::nothrow_t &)
#            if defined(__cpp_aligned_new)
GPURT_NEW_PAIR_(align, , size_t size, std::align_val_t align)
GPURT_NEW_PAIR_(align, noexcept, size_t size, std::align_val_t align,
                const std::nothrow_t &)
GPURT_DELETE_PAIR_(void *object, std::align_val_t)
GPURT_DELETE_PAIR_(void *object, size_t, std::align_val_t)
GPURT_DELETE_PAIR_(void *object, std::align_val_t, const std::nothrow_t &)
#            endif
#            pragma nv_diagnostic pop
#        endif
#    else
static inline void *gpurt_malloc_at(size_t size, const char *here)
{
    if (gpurt_simt_in_kernel())
        return gpurt_alloc_at(size, 16, here);
    return malloc(size);
}
static inline void gpurt_mfree_at(void *object, const char *here)
{
    gpurt_heap_t heap;

    if (gpurt_simt_in_kernel())
        gpurt_heap_free_at(&gpurt_heap_default, object, here);
    else if (object && gpurt_heap_find && gpurt_heap_find(object, &heap))
        gpurt_heap_free_at(&heap, object, here);
    else
        free(object);
}
#    endif

#    if !GPURT_ON_CUDA || defined(GPURT_MALLOC_LINES)
#        if defined(__cplusplus)
namespace std
{
using ::gpurt_malloc_at;
using ::gpurt_mfree_at;
} // namespace std
#        endif

#        define malloc(size) gpurt_malloc_at(size, GPURT_HERE)
#        define free(object) gpurt_mfree_at(object, GPURT_HERE)
#    endif

#endif

#endif
