/* SPDX-License-Identifier: Apache-2.0 */
/* warpstate.h - why a warp stands where it was met, in words that a CUDA programmer knows. A log
 * has CUPTI's own words, so reasons that are newer than this table are shown all the same. */
#ifndef GPURT_TUI_WARPSTATE_H
#define GPURT_TUI_WARPSTATE_H

typedef struct warpstate {
    const char
        *reason;       /* as CUPTI has it, without what all begin with: "long_scoreboard" */
    const char *words; /* "waits for global memory" */
    const char *hint;  /* what that means, and what may help */
} warpstate_t;

/* Returns: NULL for one that is not known. */
const warpstate_t *warpstate_find(const char *reason);

#endif
