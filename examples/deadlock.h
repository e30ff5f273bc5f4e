/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEADLOCK_H
#define DEADLOCK_H

#include <gpurt/kernel.h>
#include <gpurt/mutex.h>

typedef struct desk {
    gpurt_mutex_t accounts, journal;
    uint32_t balance, lines;
    uint32_t xinside; /* lanes that have had their first lock */
} desk_t;

struct deadlock_args {
    desk_t *desk;
    uint64_t patience_ns; /* of each wait; GPURT_FOREVER */
};

GPURT_KERNEL_DECLARE(transfers, struct deadlock_args);

#endif
