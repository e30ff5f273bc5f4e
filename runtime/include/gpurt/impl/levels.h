/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - which messages are recorded: the box's rules, as a lane or a host thread asks.
 *
 * A site is recorded from the level of the last rule that matches it, or from the box's
 * xlevel. A rule matches a source file by a pattern with * and ?: the whole path, or what
 * stands behind one of its slashes (net.c matches src/net.c); with a line, that line alone.
 * Whoever changes levels makes xrules odd, writes, and makes it even again: a reader tries
 * until it saw one even number before and after. Verbs for hosts: levelset.h.
 * Context: device and host. */
#ifndef GPURT_LEVELS_H
#define GPURT_LEVELS_H

#include <gpurt/impl/box.h>

enum {
    GPURT_RULE_TRIES = 1000, /* for a writer that died half way */
    GPURT_RULE_BYTES = 60,
    GPURT_LEVEL_BITS = 8
};

/* A rule's level word. line 0: every line. */
GPURT_HD uint32_t gpurt_rule_pack(uint32_t level, uint32_t line)
{
    return level | line << GPURT_LEVEL_BITS;
}

GPURT_HD char gpurt_rule_char(const gpurt_level_rule_t *rule, uint32_t i)
{
    uint32_t word;

    if (i >= GPURT_RULE_BYTES)
        return '\0';
    word = gpurt_load_acquire_sys_u32(/* B9.acq */
                                      (const uint32_t *)(const void *)rule->module + i / 4);
    return (char)(word >> 8 * (i % 4));
}

/* The whole of text, by going back to the last * only: no recursion, and no more steps than
 * the product of both lengths. */
GPURT_HD bool gpurt_rule_fits(const gpurt_level_rule_t *rule, const char *text,
                              uint32_t bytes)
{
    uint32_t p = 0, t = 0, star = GPURT_RULE_BYTES, mark = 0;

    while (t < bytes) {
        char c = gpurt_rule_char(rule, p);

        if (c == '*') {
            star = p++;
            mark = t;
        } else if (c && (c == '?' || c == text[t])) {
            p++;
            t++;
        } else if (star < GPURT_RULE_BYTES) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (gpurt_rule_char(rule, p) == '*')
        p++;
    return gpurt_rule_char(rule, p) == '\0';
}

GPURT_HD bool gpurt_rule_matches(const gpurt_level_rule_t *rule, const char *file,
                                 uint32_t bytes, uint32_t line)
{
    uint32_t wanted =
        gpurt_load_acquire_sys_u32(&rule->level) >> GPURT_LEVEL_BITS; /* B9.acq */

    if (wanted && wanted != line)
        return false;
    for (uint32_t from = 0; from < bytes; from++)
        if ((from == 0 || file[from - 1] == '/') &&
            gpurt_rule_fits(rule, file + from, bytes - from))
            return true;
    return false;
}

/* The last rule that matches counts. Returns: its number from 1 on; 0: none does. */
GPURT_HD uint32_t gpurt_rule_of(const gpurt_box_control_t *control, const char *file,
                                uint32_t bytes, uint32_t line)
{
    uint32_t i = gpurt_load_acquire_sys_u32(&control->rule_count); /* B9.acq */

    if (i > GPURT_BOX_RULES)
        i = GPURT_BOX_RULES;
    while (i > 0 && !gpurt_rule_matches(&control->rules[i - 1], file, bytes, line))
        i--;
    return i;
}

/* Lowest level that is recorded at this place. */
GPURT_HD uint32_t gpurt_level_at(const gpurt_box_control_t *control, const char *file,
                                 uint32_t bytes, uint32_t line)
{
    uint32_t level = GPURT_LEVEL_INFO;

    for (uint32_t tries = 0; tries < GPURT_RULE_TRIES; tries++) {
        uint32_t seq = gpurt_load_acquire_sys_u32(&control->xrules); /* B9.acq */
        uint32_t rule = gpurt_rule_of(control, file, bytes, line);
        const uint32_t *word = rule ? &control->rules[rule - 1].level : &control->xlevel;

        level = gpurt_load_acquire_sys_u32(word) & /* B9.acq */
                ((1u << GPURT_LEVEL_BITS) - 1);
        /* relaxed: the acquires above keep it last */
        if (seq % 2 == 0 && gpurt_load_relaxed_sys_u32(&control->xrules) == seq)
            break;
    }
    return level;
}

/* The lowest level that any site may have, or is to be had for kernels that run by then. */
GPURT_HD uint32_t gpurt_level_lowest(const gpurt_box_control_t *control, uint32_t floor)
{
    uint32_t lowest = gpurt_load_acquire_sys_u32(&control->xlevel);    /* B9.acq */
    uint32_t count = gpurt_load_acquire_sys_u32(&control->rule_count); /* B9.acq */

    if (floor && floor < lowest)
        lowest = floor;
    for (uint32_t i = 0; i < count && i < GPURT_BOX_RULES; i++) {
        uint32_t level = gpurt_load_acquire_sys_u32(&control->rules[i].level) & /* B9.acq */
                         ((1u << GPURT_LEVEL_BITS) - 1);

        lowest = level < lowest ? level : lowest;
    }
    return lowest;
}

#endif
