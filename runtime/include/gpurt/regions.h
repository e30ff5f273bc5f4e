/* SPDX-License-Identifier: Apache-2.0 */
/* regions.h - the host's side of regions: make one, look into it, take it apart.
 *
 *     gpurt_region_options_t o = {.bytes = 64 << 20, .fit = GPURT_FIT_BEST};
 *     gpurt_region_t region;
 *     gpurt_region_create(rt, &o, &region, &err);
 *     struct args a = {.region = region, ...};     kernels: gpurt_region_alloc(&p->region, n)
 *     ...
 *     gpurt_region_destroy(rt, &region, &err);
 *
 * region.h is what kernels call. The description may be copied freely and dies with
 * the memory: a copy of one that was destroyed is recognised, GPURT_E_HANDLE, unless
 * the memory was the caller's and it had no name. A region that a kernel made
 * (gpurt_region_init) can be looked into likewise, once its description has been
 * copied to the host. Context of all calls: host, any thread. */
#ifndef GPURT_REGIONS_H
#define GPURT_REGIONS_H

#include <gpurt/gpurt.h>
#include <gpurt/region.h>

enum {
    GPURT_REGIONS =
        4096 /* that have memory of their own, or a name, at a time in a process */
};

typedef struct gpurt_region_options {
    uint32_t struct_size; /* sizeof(gpurt_region_options_t), or 0 */
    uint32_t fit;         /* gpurt_region_fit_t; first */
    uint64_t bytes;       /* of device memory, tables included; default 64 MiB */
    uint64_t granule;     /* a power of two from 16 on; default at least 256, by size */
    void *memory;         /* device memory of the caller's; default: the region's own */
    const char *name;     /* what the log and gpurt-top call it; copied. In the caller's
                             memory they tell of it only with a name, and the memory must
                             then stay until gpurt_region_destroy */
} gpurt_region_options_t;

typedef struct gpurt_region_stats {
    uint64_t bytes, live_bytes; /* of all granules, of those in blocks */
    uint64_t live;              /* blocks */
    uint64_t holes;             /* rows of free granules */
    uint64_t largest;           /* bytes of the longest of them */
    uint64_t tables;            /* bytes of the region's own tables */
    uint32_t granule;
    gpurt_region_counts_t counts;
} gpurt_region_stats_t;

/* Returns: false to stop. */
typedef bool (*gpurt_region_visit_fn)(void *context, void *block, size_t bytes);

GPURT_BEGIN_DECLS

/* options: NULL for defaults. */
gpurt_status_t gpurt_region_create(gpurt_t *rt, const gpurt_region_options_t *options,
                                   gpurt_region_t *out, gpurt_error_t *err);

/* Ends all blocks; memory of the caller's is not freed. When it is refused (GPURT_E_HANDLE:
 * destroyed before, or another device's) *region stays as it was. Context: no kernel uses it.
 * NULL and a description of zeros: nothing. */
gpurt_status_t gpurt_region_destroy(gpurt_t *rt, gpurt_region_t *region,
                                    gpurt_error_t *err);

/* Reads the tables. While kernels allocate, its parts may be of different moments. */
gpurt_status_t gpurt_region_stats(gpurt_t *rt, const gpurt_region_t *region,
                                  gpurt_region_stats_t *out, gpurt_error_t *err);

/* Calls visit for every block, by rising address. Context: no kernel allocates. */
gpurt_status_t gpurt_region_walk(gpurt_t *rt, const gpurt_region_t *region,
                                 gpurt_region_visit_fn visit, void *context,
                                 gpurt_error_t *err);

/* Looks whether every granule is free or in one block. Returns: GPURT_E_FAULT and what it
 * is, when a kernel has broken the tables. Context: no kernel allocates. */
gpurt_status_t gpurt_region_check(gpurt_t *rt, const gpurt_region_t *region,
                                  gpurt_error_t *err);

GPURT_END_DECLS

#endif
