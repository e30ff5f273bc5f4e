/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - which lines a user wants to see. A filter is words, all of which must fit:
 * `text` in the message, file or level (any case), !text not there, lvl>=warn, sm=7,
 * gpu=0, pid=4711. */
#ifndef GPURT_TUI_FILTER_H
#define GPURT_TUI_FILTER_H

#include "modelview.h"

enum {
    FILTER_TEXT = 96,
    FILTER_WORDS = 4
};

/* Owner: the caller. Zeroed it lets everything through. */
typedef struct filter {
    char text[FILTER_TEXT]; /* as typed */
    uint32_t level;         /* lowest shown */
    int32_t sm, section;    /* plus one; 0: all */
    uint32_t pid;           /* 0: all */
    uint32_t count;
    struct {
        char text[FILTER_TEXT];
        bool exclude;
    } words[FILTER_WORDS];
} filter_t;

/* Keeps the level where the text names none. */
void filter_parse(filter_t *f, const char *text);
bool filter_line(const filter_t *f, const gpurt_model_line_t *line);
bool filter_site(const filter_t *f, const gpurt_model_site_t *site);
/* What has neither level nor place. gpu: NULL, pid: 0: of any; a gpu from GPURT_MODEL_DEVICES on is
 * none that could be asked for. */
bool filter_name(const filter_t *f, const char *name, const uint32_t *gpu, uint32_t pid);

#endif
