/* SPDX-License-Identifier: Apache-2.0 */
/* export_share.h - what part of its time a GPU ran kernels, by tenths of a second, as points of a
 * counter. Spans come in order of their beginning, as rows do; what comes late counts from
 * where the others have come to. */
#ifndef GPURT_TUI_EXPORT_SHARE_H
#define GPURT_TUI_EXPORT_SHARE_H

#include <stdint.h>

enum {
    EXPORT_SHARE_DEVICES = 64, /* others are left out */
    EXPORT_SHARE_POINTS = 4    /* of a kernel, at most */
};
#define EXPORT_SHARE_NS 100000000ull

typedef struct export_share_point {
    uint64_t time_ns;
    double percent; /* from then on */
} export_share_point_t;

typedef struct export_share_device {
    uint64_t first, until; /* until 0: none ran */
    uint64_t tenth, ns;    /* tenth: at hand, of which kernels ran for ns */
} export_share_device_t;

/* Owner: the timeline; zeroed at first. */
typedef struct export_share {
    export_share_device_t devices[EXPORT_SHARE_DEVICES];
} export_share_t;

/* A kernel ran. Returns: how many points are known now, in order; 0 for most kernels. */
uint32_t export_share_kernel(export_share_t *s, uint32_t device, uint64_t start,
                             uint64_t end,
                             export_share_point_t points[EXPORT_SHARE_POINTS]);

/* Nothing comes any more. */
uint32_t export_share_end(export_share_t *s, uint32_t device,
                          export_share_point_t points[EXPORT_SHARE_POINTS]);

#endif
