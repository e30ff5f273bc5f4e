/* SPDX-License-Identifier: Apache-2.0 */
/* gpucore.h - a CUDA GPU core dump, whole or lightweight, as tables.
 *
 * The dump is an ELF64 file whose sections form a tree: a section's sh_link names the table
 * it belongs to and sh_info the row in it. Devices have contexts, grids and SMs; SMs have
 * blocks, blocks warps, warps lanes, lanes registers, predicates and calls. Rows grow with
 * drivers: the stride is the section's, and what is missing reads as 0. The file may be
 * cut or hostile. A reader is one thread's. */
#ifndef GPURT_POSTMORTEM_GPUCORE_H
#define GPURT_POSTMORTEM_GPUCORE_H

#include "elfview.h"

#include <gpurt/status.h>

enum {
    GPUCORE_LANES = 32,
    GPUCORE_NONE = -1,
    GPUCORE_REGISTERS_MAX = 256,
    GPUCORE_CALLS_MAX = 64
};

typedef struct gpucore_about {
    const char *generator;
    uint32_t driver_major, driver_minor, cuda_major, cuda_minor;
    uint32_t flags;  /* CU_COREDUMP_*: what was left out */
    uint32_t time_s; /* real time, 0: not told */
    bool cut;        /* parts of the file are missing */
} gpucore_about_t;

typedef struct gpucore_device {
    const char *name, *type;
    uint32_t id, sm_count, warps_per_sm, sm_major, sm_minor, instruction_bytes;
} gpucore_device_t;

typedef struct gpucore_grid {
    uint64_t id, parent_id, entry;
    uint32_t device, registers;
    uint32_t grid[3], block[3], cluster[3];
} gpucore_grid_t;

typedef struct gpucore_sm {
    uint64_t error_pc;
    uint32_t device, id, exception;
    bool has_error_pc;
} gpucore_sm_t;

typedef struct gpucore_block {
    uint64_t grid_id;
    int32_t grid; /* its place in grids, or GPUCORE_NONE */
    uint32_t sm;  /* its place in sms */
    uint32_t index[3], cluster[3];
    uint32_t warp, warp_count; /* the first of its warps in warps */
} gpucore_block_t;

typedef struct gpucore_warp {
    uint64_t error_pc;
    uint32_t block;         /* its place in blocks */
    uint32_t slot;          /* of the SM */
    uint32_t valid, active; /* masks of lanes */
    uint32_t registers, shared_bytes;
    uint32_t row,
        lanes;        /* in the table of warps; number of the section of lanes, 0: none */
    uint32_t section; /* of the table of warps */
    bool has_error_pc;
} gpucore_warp_t;

typedef struct gpucore_lane {
    uint64_t pc;
    uint32_t row; /* in the section of lanes */
    uint32_t lane, thread[3], exception, depth;
} gpucore_lane_t;

/* Machine code that was loaded, as an ELF file with true addresses. */
typedef struct gpucore_image {
    bytes_t file;
    elfview_t elf;
} gpucore_image_t;

/* Global or managed memory that the dump holds; light ones hold none. */
typedef struct gpucore_span {
    uint64_t address, bytes;
} gpucore_span_t;

/* Owner: whoever opened it. Everything points into it; read only. */
typedef struct gpucore {
    bytes_t file;
    elfview_t elf;
    gpucore_about_t about;
    gpucore_device_t *devices;
    gpucore_grid_t *grids;
    gpucore_sm_t *sms;
    gpucore_block_t *blocks;
    gpucore_warp_t *warps;
    gpucore_image_t *images;
    gpucore_span_t *spans;
    uint32_t device_count, grid_count, sm_count, block_count, warp_count, image_count,
        span_count;
    bytes_t names;  /* private: texts of devices */
    void *children; /* private: sections by table, kind and row */
    uint32_t child_count;
    bool mapped;
} gpucore_t;

/* Whether a file that begins so may be one. head: at least 20 bytes. */
bool gpucore_looks_like(const uint8_t *head, size_t size);

gpurt_status_t gpucore_open(const char *path, gpucore_t **out, gpurt_error_t *err);
/* file: borrowed until close. name: for messages. */
gpurt_status_t gpucore_open_bytes(bytes_t file, const char *name, gpucore_t **out,
                                  gpurt_error_t *err);
void gpucore_close(gpucore_t *core); /* NULL is allowed */

/* Lane `row` of a warp, zeroed where there is none. Returns: whether there is, and it is a
 * valid one. */
bool gpucore_lane(const gpucore_t *core, const gpucore_warp_t *warp, uint32_t row,
                  gpucore_lane_t *out);

/* Returns: how many there are, at most GPUCORE_REGISTERS_MAX. */
uint32_t gpucore_registers(const gpucore_t *core, const gpucore_warp_t *warp,
                           const gpucore_lane_t *lane, uint32_t out[GPUCORE_REGISTERS_MAX]);
uint32_t gpucore_uniform(const gpucore_t *core, const gpucore_warp_t *warp,
                         uint32_t out[GPUCORE_REGISTERS_MAX]);
/* Returns: a bit a predicate. */
uint32_t gpucore_predicates(const gpucore_t *core, const gpucore_warp_t *warp,
                            const gpucore_lane_t *lane);

/* Return addresses, the innermost first. Returns: how many, at most GPUCORE_CALLS_MAX. */
uint32_t gpucore_calls(const gpucore_t *core, const gpucore_warp_t *warp,
                       const gpucore_lane_t *lane, uint64_t out[GPUCORE_CALLS_MAX]);

#endif
