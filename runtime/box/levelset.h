/* SPDX-License-Identifier: Apache-2.0 */
/* levelset.h - the levels of a box: read from words, written into it, waited for.
 *
 *   RULES = RULE[,RULE...]     RULE = LEVEL | PATTERN=LEVEL | PATTERN:LINE=LEVEL
 *   LEVEL = trace debug info warn error panic off
 *
 * A level alone is for everything that no pattern matches; the last pattern that matches
 * counts. levels.h says what a pattern matches. */
#ifndef GPURT_BOX_LEVELSET_H
#define GPURT_BOX_LEVELSET_H

#include "boxmap.h"

/* Room for the longest set of rules as words. */
enum {
    GPURT_LEVELSET_TEXT = 64 + GPURT_BOX_RULES * 96
};

typedef struct gpurt_levelset {
    uint32_t level, rule_count;
    gpurt_level_rule_t rules[GPURT_BOX_RULES];
} gpurt_levelset_t;

/* Without a level of its own the set has INFO. */
gpurt_status_t gpurt_levelset_parse(const char *words, gpurt_levelset_t *set,
                                    gpurt_error_t *err);
/* Returns: the length, without the end. */
size_t gpurt_levelset_print(const gpurt_levelset_t *set, char *text, size_t bytes);

/* Of a writable map. Wakes whoever waits. A writer that died inside is taken over from. */
void gpurt_levelset_write(const gpurt_boxmap_t *map, const gpurt_levelset_t *set);
/* Returns: false when it was being written all the time; *set is then of no use. */
bool gpurt_levelset_read(const gpurt_boxmap_t *map, gpurt_levelset_t *set);

/* Waits until xrules is no longer `seen`, or for so long. Returns: xrules. */
uint32_t gpurt_levelset_wait(const gpurt_boxmap_t *map, uint32_t seen, uint64_t timeout_ns);
/* Makes those that wait look, with nothing changed. */
void gpurt_levelset_nudge(const gpurt_boxmap_t *map);

#endif
