/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - which back end gpurt_open takes, and with which options.
 *
 * Reads the caller's options and GPURT_BACKEND, asks the CUDA back end whether it can,
 * opens the one chosen and says in one line why. Called by gpurt_open only. */
#ifndef GPURT_HOST_CHOICE_H
#define GPURT_HOST_CHOICE_H

#include "backend.h"

#include <gpurt/impl/box.h>

/* An open device. Owner: life.c, which closes it through ops. */
typedef struct gpurt_opened {
    const gpurt_backend_ops_t *ops;
    void *self;
    gpurt_info_t info;
    uint32_t index;   /* among those open at once, below GPURT_MAX_DEVICES */
    gpurt_box_t *box; /* boxlink.c's; NULL: it neither logs nor keeps panics */
} gpurt_opened_t;

/* Whether the CUDA back end is linked into this program. */
bool gpurt_choice_has_cuda(void);

/* Brings options of any version of the struct to the present one. given: NULL for
 * defaults. */
gpurt_status_t gpurt_choice_options(const gpurt_options_t *given, gpurt_options_t *out,
                                    gpurt_error_t *err);

/* options: from gpurt_choice_options. index: free. */
gpurt_status_t gpurt_choice_open(const gpurt_options_t *options, uint32_t index,
                                 gpurt_opened_t *out, gpurt_error_t *err);

#endif
