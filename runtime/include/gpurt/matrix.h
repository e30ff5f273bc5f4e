/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h - rows, and where they begin: in memory aligned for what a warp loads at once, in
 * shared memory padded so that no bank is asked twice.
 *
 *     gpurt_matrix_t m;
 *     gpurt_matrix_alloc(&p->heap, rows, columns * sizeof(float), 0, &m);      a pitch of 128 bytes
 *     float *e = (float *)gpurt_matrix_at(&m, row, column * sizeof(float));
 *
 *     gpurt_lanes_t v = gpurt_alloc_lanes(&p->heap, n, sizeof(float4));        a warp's vectors:
 *     v.base + i * v.stride                                                    this lane's i-th
 *
 *     pitch = gpurt_bank_pitch(32 * sizeof(float), sizeof(float));             a tile of 32 rows
 *
 * A warp's access to shared memory is served in phases: all 32 lanes when each wants up to 4
 * bytes, half of them at 8, a quarter at 16. In a phase a bank, 4 bytes wide, 32 of them,
 * serves one word; lanes that want different words of one bank wait for each other.
 * Context: device code; what is GPURT_HD also the host. */
#ifndef GPURT_MATRIX_H
#define GPURT_MATRIX_H

#include <gpurt/alloc.h>

enum {
    GPURT_LINE_BYTES = 128, /* what one request of a warp loads at least */
    GPURT_BANKS = 32,
    GPURT_BANK_BYTES = 4
};

typedef struct gpurt_matrix {
    char *base;
    size_t pitch; /* bytes from one row to the next */
    size_t row_bytes;
    size_t rows;
} gpurt_matrix_t;

/* ---- in memory ----------------------------------------------------------------------- */

/* Row bytes rounded up to a power of two. Returns: 0 when that is too large. */
GPURT_HD size_t gpurt_pitch(size_t row_bytes, size_t align)
{
    size_t pitch = (row_bytes + align - 1) & ~(align - 1);

    return pitch < row_bytes ? 0 : pitch;
}

/* rows of row_bytes each, every one at a multiple of align: a power of two up to 64 KiB; 0:
 * 128. 0 bytes or rows count as 1. Any lanes. Returns: GPURT_ALLOC_OK, or why there is
 * none; out->base is NULL then. gpurt_heap_free(h, out->base) gives it back. */
GPURT_DEVN uint32_t gpurt_matrix_alloc(const gpurt_heap_t *h, size_t rows, size_t row_bytes,
                                       size_t align, gpurt_matrix_t *out GPURT_ASKED_BY)
{
    uint32_t why = GPURT_ALLOC_TOO_LARGE;

    out->base = NULL;
    out->rows = rows ? rows : 1;
    out->row_bytes = row_bytes ? row_bytes : 1;
    align = align ? align : (size_t)GPURT_LINE_BYTES;
    out->pitch = align & (align - 1) ? 1 : gpurt_pitch(out->row_bytes, align);
    if (out->pitch && out->rows <= ~(size_t)0 / out->pitch)
        out->base = (char *)gpurt_heap_alloc_at(h, out->rows * out->pitch, align, &why,
                                                GPURT_ASKER);
    else
        gpurt_heap_refused(h, why);
    return why;
}

/* here: as of gpurt_heap_alloc_at. */
GPURT_DEV uint32_t gpurt_matrix_alloc_at(const gpurt_heap_t *h, size_t rows,
                                         size_t row_bytes, size_t align,
                                         gpurt_matrix_t *out, const char *here)
{
    (void)here;
    return gpurt_matrix_alloc(h, rows, row_bytes, align, out GPURT_ASKS);
}

GPURT_HD char *gpurt_matrix_at(const gpurt_matrix_t *m, size_t row, size_t byte)
{
    return m->base + row * m->pitch + byte;
}

/* ---- a warp's vectors ---------------------------------------------------------------- */

/* This lane's elements: the i-th at base + i * stride. Those of one i lie side by side, so
 * that the warp loads whole lines. base: NULL when there was no memory. */
typedef struct gpurt_lanes {
    char *base;
    size_t stride;
} gpurt_lanes_t;

/* count elements of so many bytes (a power of two up to 16) for each lane. Context: all 32
 * lanes, with the same arguments. Lane 0's base is what is freed. */
GPURT_DEVN gpurt_lanes_t gpurt_alloc_lanes(const gpurt_heap_t *h, size_t count,
                                           uint32_t bytes GPURT_ASKED_BY)
{
    gpurt_lanes_t out;
    uint64_t base = 0;

    out.stride = (size_t)bytes * GPURT_WARP_SIZE;
    if (gpurt_lane() == 0 && bytes && bytes <= 16 && !(bytes & (bytes - 1)) &&
        count <= ~(size_t)0 / out.stride)
        base = (uint64_t)(uintptr_t)gpurt_heap_alloc_aligned_at(
            h, count * out.stride, GPURT_LINE_BYTES, GPURT_ASKER);
    gpurt_syncwarp(GPURT_FULL_MASK); /* what lane 0 has acquired holds for all */
    base = gpurt_shfl_u64(GPURT_FULL_MASK, base, 0);
    out.base = base ? (char *)(uintptr_t)base + gpurt_lane() * bytes : NULL;
    return out;
}

/* here: as of gpurt_heap_alloc_at. */
GPURT_DEV gpurt_lanes_t gpurt_alloc_lanes_at(const gpurt_heap_t *h, size_t count,
                                             uint32_t bytes, const char *here)
{
    (void)here;
    return gpurt_alloc_lanes(h, count, bytes GPURT_ASKS);
}

#if GPURT_HEAP_CHECKS
#    define gpurt_matrix_alloc(h, rows, row_bytes, align, out) \
        gpurt_matrix_alloc_at(h, rows, row_bytes, align, out, GPURT_HERE)
#    define gpurt_alloc_lanes(h, count, bytes) \
        gpurt_alloc_lanes_at(h, count, bytes, GPURT_HERE)
#endif

/* ---- in shared memory ---------------------------------------------------------------- */

/* Bytes from one row to the next, at least row_bytes, so that lanes that walk down a column,
 * each in a row of its own, meet no bank twice in a phase, and those along a row neither.
 * bytes: of an element, a power of two up to 16. An odd number of elements, or of words. */
GPURT_HD uint32_t gpurt_bank_pitch(uint32_t row_bytes, uint32_t bytes)
{
    uint32_t unit = bytes > GPURT_BANK_BYTES ? bytes : (uint32_t)GPURT_BANK_BYTES;

    return ((row_bytes + unit - 1) / unit | 1u) * unit;
}

/* The same without padding, for rows of a power of two of at least 128 bytes: the column to
 * take instead, another one in each row. column: an element of `bytes`, 4, 8 or 16. */
GPURT_HD uint32_t gpurt_bank_swizzle(uint32_t row, uint32_t column, uint32_t bytes)
{
    return column ^ (row & (GPURT_BANKS * GPURT_BANK_BYTES / bytes - 1));
}

/* For lanes that go through a list in steps of a power of two up to 128 bytes: the index to
 * take instead; one element is left out after each 128 bytes. bytes: 4, 8 or 16. */
GPURT_HD uint32_t gpurt_bank_skip(uint32_t index, uint32_t bytes)
{
    return index + index / (GPURT_BANKS * GPURT_BANK_BYTES / bytes);
}

#endif
