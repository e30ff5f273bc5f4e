/* SPDX-License-Identifier: Apache-2.0 */
/* boxmap.h - a mapping of a black box: made by the application, attached by everyone
 * else.
 *
 * A box is a sealed memfd: its size cannot change under a reader's feet, it has no name
 * that could be left behind, and it lives as long as anyone holds its descriptor. Where
 * memfd is refused it is a 0600 file in /dev/shm. What an attacher reads is checked
 * first, and the table of sections is copied, so that later changes by the other side
 * move no bounds. A bare box has neither: it is memory of its process. Never touches a device: registering a box with a GPU is the back end's
 * work. boxes.h finds the boxes of a process. */
#ifndef GPURT_BOXMAP_H
#define GPURT_BOXMAP_H

#include <gpurt/impl/box.h>
#include <gpurt/impl/ringput.h>
#include <gpurt/impl/state.h>
#include <gpurt/status.h>

#include "taskpage.h"
#include "threadpage.h"

#define GPURT_BOX_MEMFD_NAME "gpurt-box"

/* What one section should hold. Zero means the default everywhere but in kind. */
typedef struct gpurt_section_plan {
    uint32_t kind, device;
    uint32_t sm_count, warp_slots; /* default 1 and 1 */
    /* Rounded up to a power of two; default 16 KiB on a GPU, 4 KiB on the CPU, 512 KiB for
     * the host. */
    uint32_t ring_bytes;
    uint32_t policy;
    uint32_t floor;     /* lowest level for kernels that run; 0: the lowest of the rules */
    uint32_t def_count; /* slots; default 4,096 */
    uint32_t panic_count; /* default 256 */
    uint32_t state_bytes; /* default as state.h has it, for the host both pages */
    const char *name;
    const uint8_t *uuid; /* 16 bytes, or NULL */
} gpurt_section_plan_t;

typedef struct gpurt_box_plan {
    uint32_t struct_size;
    uint32_t section_count;
    const gpurt_section_plan_t *sections;
    uint32_t level;       /* lowest recorded; default INFO */
    uint32_t shelf_bytes; /* rounded up to a power of two; default 2 MiB */
    const char *folder;   /* of the fallback file; default /dev/shm */
    bool no_memfd; /* use the fallback: for tests and for machines that forbid memfd */
    bool bare;     /* nobody attaches: no descriptor; a core dump has it all the same */
} gpurt_box_plan_t;

/* Owner: the caller. Shared with: nobody; a handle is used by one thread at a time, the
 * mapping by all. Fixed after create or attach. */
typedef struct gpurt_boxmap {
    gpurt_box_t *box;
    size_t bytes;
    int fd; /* -1: attached to a core dump, or bare */
    bool writable;
    bool owner;     /* the creator */
    bool bare;      /* as planned: panic slots and definitions count, rings do not */
    char path[128]; /* of the fallback file, "" otherwise */
    uint32_t section_count;
    gpurt_box_section_t sections[GPURT_BOX_SECTIONS]; /* checked copy; use this one */
    gpurt_box_shelf_t shelf; /* likewise, but for what a drainer writes */
} gpurt_boxmap_t;

/* Context: host. All return GPURT_OK or fill *err; *map is then detached. */
gpurt_status_t gpurt_boxmap_create(const gpurt_box_plan_t *plan, gpurt_boxmap_t *map,
                                   gpurt_error_t *err);
/* The descriptor is duplicated. */
gpurt_status_t gpurt_boxmap_attach_fd(int fd, bool writable, gpurt_boxmap_t *map,
                                      gpurt_error_t *err);
gpurt_status_t gpurt_boxmap_attach_file(const char *path, bool writable,
                                        gpurt_boxmap_t *map, gpurt_error_t *err);
/* Takes the descriptor over, also where it fails. what: its name in *err. */
gpurt_status_t gpurt_boxmap_attach_open(int fd, bool writable, const char *what,
                                        gpurt_boxmap_t *map, gpurt_error_t *err);
/* Whether nobody can make the file shorter, which would end whoever has it mapped: one that is
 * attached, and is not our user's alone, must be so. */
bool gpurt_boxmap_keeps_size(int fd);
/* Accepts a zeroed and a half-made map. The creator's fallback file is removed. */
void gpurt_boxmap_detach(gpurt_boxmap_t *map);

/* Whether bytes at box are a box of this version with all offsets inside. */
gpurt_status_t gpurt_boxmap_check(const gpurt_box_t *box, size_t bytes, gpurt_error_t *err);

/* Whether the process that made the box still runs (false for a zombie). */
bool gpurt_boxmap_alive(const gpurt_boxmap_t *map);

/* ---- parts of a section; index must be below its count ------------------------------- */
gpurt_ring_control_t *gpurt_boxmap_control(const gpurt_boxmap_t *map, uint32_t section,
                                           uint32_t ring);
gpurt_group_t *gpurt_boxmap_groups(const gpurt_boxmap_t *map, uint32_t section,
                                   uint32_t ring);
gpurt_def_t *gpurt_boxmap_def(const gpurt_boxmap_t *map, uint32_t section, uint32_t slot);
gpurt_panic_t *gpurt_boxmap_panic(const gpurt_boxmap_t *map, uint32_t section,
                                  uint32_t index);
/* The shelf's groups; none where map->shelf.group_count is 0. */
gpurt_group_t *gpurt_boxmap_shelf(const gpurt_boxmap_t *map);
/* State pages. NULL where a section has none; *objects: how many entries there are. */
gpurt_state_head_t *gpurt_boxmap_state(const gpurt_boxmap_t *map, uint32_t section,
                                       uint32_t *objects);
/* State pages of the host's section. NULL: it has none, as in older boxes, or is a device's. */
gpurt_threadpage_t *gpurt_boxmap_threads(const gpurt_boxmap_t *map, uint32_t section);
/* ... behind them. NULL: likewise. */
gpurt_taskpage_t *gpurt_boxmap_tasks(const gpurt_boxmap_t *map, uint32_t section);
/* Behind a head that is not NULL: a group for each lane of each ring, then the objects. */
gpurt_group_t *gpurt_state_waits(gpurt_state_head_t *head);
gpurt_waitable_entry_t *gpurt_state_entries(gpurt_state_head_t *head, uint32_t ring_count);
/* The producer's end of a ring whose head lies in the box. */
gpurt_ring_port_t gpurt_boxmap_port(const gpurt_boxmap_t *map, uint32_t section,
                                    uint32_t ring);

/* A consistent copy of a section's clock fit. false: it was being written all the time. */
bool gpurt_boxmap_clock(const gpurt_boxmap_t *map, uint32_t section,
                        gpurt_clock_fit_t *out);
void gpurt_boxmap_set_clock(const gpurt_boxmap_t *map, uint32_t section,
                            const gpurt_clock_fit_t *fit);
/* Real time of a producer's 48-bit time; near is any real time within 39 hours of it. */
uint64_t gpurt_clock_real(const gpurt_clock_fit_t *fit, uint64_t time48, uint64_t near_ns);

#endif
