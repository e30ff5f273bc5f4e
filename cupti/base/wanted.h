/* SPDX-License-Identifier: Apache-2.0 */
/* wanted.h - what GPURT_CUPTI asks for. */
#ifndef GPURT_CUPTI_WANTED_H
#define GPURT_CUPTI_WANTED_H

#include <cupti.h>
#include <gpurt/base.h>

/* What is asked for in its own way, and not by a kind. */
#define WANTED_SAMPLES       CUPTI_ACTIVITY_KIND_INVALID     /* of counters */
#define WANTED_LAUNCHES      CUPTI_ACTIVITY_KIND_COUNT       /* callbacks of the driver */
#define WANTED_LINES         CUPTI_ACTIVITY_KIND_PC_SAMPLING /* samples of warps */
#define WANTED_TRY_LINES     CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR /* where counters are open */
#define WANTED_RUNNING       CUPTI_ACTIVITY_KIND_PREEMPTION     /* launches that last */
#define WANTED_COUNTED       CUPTI_ACTIVITY_KIND_FUNCTION       /* launches, by name */
#define WANTED_HOST_WAITS    CUPTI_ACTIVITY_KIND_BRANCH         /* of the launch library */
#define WANTED_WINDOWS       CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS  /* records, for a while */
#define WANTED_DEVICE_GRAPHS CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE /* before CUDA starts */

typedef struct wanted_row {
    const char *word; /* as GPURT_CUPTI names it */
    CUpti_ActivityKind kind;
} wanted_row_t;

/* Ends with a NULL word. Several rows may have the same word. */
extern const wanted_row_t wanted_rows[];

/* Bit per row of wanted_rows. text: "off", "kernels", "default", "all", or words of rows with
 * commas between; NULL or "": default. *unknown: the first word that is none, or NULL; it
 * counts as nothing. */
uint32_t wanted_read(const char *text, const char **unknown);

#endif
