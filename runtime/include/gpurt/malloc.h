/* SPDX-License-Identifier: Apache-2.0 */
/* malloc.h - malloc and free of kernels that exist, from the default heap of gpurt.
 *
 *     nvcc -DGPURT_REPLACE_MALLOC -include gpurt/malloc.h ...      no line changes; or
 *     #define GPURT_REPLACE_MALLOC
 *     #include <gpurt/malloc.h>                                    last of the includes
 *
 * In device code malloc(size) and free(p), plain or with std::, become requests of the
 * heap that the host made the default one (heap.h, make_default); so do new and delete
 * in CUDA C++, of arrays, over-aligned types (up to 64 KiB) and with std::nothrow_t{},
 * too. The object std::nothrow is the host's; -DGPURT_REPLACE_NOTHROW gives kernels one,
 * from CUDA 13 and C++17 on, in programs that link the C++ library. Without such a heap
 * the answer is NULL; a constructor is then only left out with nothrow.
 * There is no calloc and no realloc: CUDA has none, and on the CPU back end those of a
 * kernel stay the C library's, so that what they gave must not go to this free. Host
 * code of the same file keeps its own: on a GPU by the compiler's two passes, on the CPU
 * back end because no lane runs. There free() asks which heap the pointer is of.
 *
 * They are macros with arguments, so a method of that name that is called with one argument is
 * renamed, too; a function's address is not. Memory that CUDA's own malloc gave must not be
 * freed by this free: it is counted as foreign. Without GPURT_REPLACE_MALLOC the file does
 * nothing. With GPURT_HEAP_CHECKS the lines that ask are known, but for new and delete. */
#ifndef GPURT_MALLOC_H
#define GPURT_MALLOC_H

#if defined(GPURT_REPLACE_MALLOC)

#    include <stdlib.h>
#    if defined(__cplusplus)
#        include <cstdlib>
#        include <new>
#    endif

#    include <gpurt/alloc.h>

#    if GPURT_ON_CUDA
static __host__ __device__ __forceinline__ void *gpurt_malloc_at(size_t size,
                                                                 const char *here)
{
#        if GPURT_IN_DEVICE
    return gpurt_alloc_at(size, 16, here);
#        else
    (void)here;
    return malloc(size);
#        endif
}
static __host__ __device__ __forceinline__ void gpurt_mfree_at(void *object,
                                                               const char *here)
{
#        if GPURT_IN_DEVICE
    gpurt_heap_free_at(&gpurt_heap_default, object, here);
#        else
    (void)here;
    free(object);
#        endif
}

/* Only in the pass for the device: in the other one they would take the host's place.
 * Inline, because every file of a program may have them, and nvcc drops `weak`. Of each
 * operator all forms: one that is left out would be CUDA's, from CUDA's own heap, or a
 * function of the host. */
#        if GPURT_IN_DEVICE
#            define GPURT_NEW_ inline __device__
/* new and new[] with those parameters, of which one is `size`. */
#            define GPURT_NEW_PAIR_(align, quiet, ...)                                \
                GPURT_NEW_ void *operator new(__VA_ARGS__) quiet                      \
                {                                                                     \
                    return gpurt_alloc_at(size, (size_t)(align), "operator new:0");   \
                }                                                                     \
                GPURT_NEW_ void *operator new[](__VA_ARGS__) quiet                    \
                {                                                                     \
                    return gpurt_alloc_at(size, (size_t)(align), "operator new[]:0"); \
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
    size_t offset = (size_t)((char *)object - gpurt_heap_default.chunks);

    if (gpurt_simt_in_kernel() ||
        (object && offset >> GPURT_CHUNK_SHIFT < gpurt_heap_default.chunk_count))
        gpurt_heap_free_at(&gpurt_heap_default, object, here);
    else
        free(object);
}
#    endif

#    if defined(__cplusplus)
namespace std
{
using ::gpurt_malloc_at;
using ::gpurt_mfree_at;
} // namespace std
#    endif

#    define malloc(size) gpurt_malloc_at(size, GPURT_HERE)
#    define free(object) gpurt_mfree_at(object, GPURT_HERE)

#endif

#endif
