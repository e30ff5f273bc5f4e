/* SPDX-License-Identifier: Apache-2.0 */
/* running_text.h - what runs on GPUs and has not ended, as far as that is known: in words, and as
 * JSON. */
#ifndef GPURT_TUI_RUNNING_TEXT_H
#define GPURT_TUI_RUNNING_TEXT_H

#include "json.h"
#include "modelview.h"
#include "render.h"

#include <stdio.h>

#define RUNNING_LONG_NS 5000000000ull /* a kernel that runs for so long is an alert */

/* What most likely runs on each stream: the launch that samples were met in, else the oldest that has
 * not ended. Returns: how many. */
uint32_t running_streams(const gpurt_model_activity_t *a,
                         const gpurt_model_running_t *out[GPURT_MODEL_RUNNING]);

/* Since when it has not ended, at a moment. */
uint64_t running_age(const gpurt_model_running_t *r, uint64_t now_ns);

/* "spin(unsigned int*) for 12.3 s, grid 1,1,1 block 256,1,1, stream 0x77 of GPU 0, 3 behind it,
 * from train.py:9 step":
 * names are as they are. */
void running_line(const gpurt_model_activity_t *a, const gpurt_model_running_t *r,
                  uint64_t now_ns, gpurt_text_t *out);

/* A line each; nothing where nothing runs. now_ns: 0: as it was told last. */
void running_plain(FILE *out, const gpurt_model_activity_t *a, uint64_t now_ns);
void running_json(gpurt_json_t *j, const char *key, const gpurt_model_activity_t *a);

#endif
