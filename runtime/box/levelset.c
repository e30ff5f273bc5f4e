/* SPDX-License-Identifier: Apache-2.0 */
#include "levelset.h"

#include <errno.h>
#include <gpurt/impl/levels.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    WRITE_NAP_NS = 1000000,
    WRITE_NAPS = 1000, /* a second: whoever wrote is dead */
    MAX_LINE = (1 << 24) - 1
};

static const char *const words[] = {"trace", "debug", "info", "warn",
                                    "error", "panic", "off"};

/* ---- words --------------------------------------------------------------------------- */
static uint32_t level_of(const char *word, size_t length)
{
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return GPURT_LEVEL_TRACE + i;
    return GPURT_LEVEL_NONE;
}

/* "PATTERN" or "PATTERN:LINE". */
static gpurt_status_t pattern_read(const char *text, size_t length, uint32_t level,
                                   gpurt_level_rule_t *rule, gpurt_error_t *err)
{
    size_t digits = length;
    unsigned long line = 0;

    while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
        digits--;
    if (digits > 0 && digits < length && text[digits - 1] == ':') {
        line = strtoul(text + digits, NULL, 10);
        if (line == 0 || line > MAX_LINE)
            return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                              "levels: %.*s: no line has that number", (int)length, text);
        length = digits - 1;
    }
    if (length == 0 || length >= GPURT_RULE_BYTES)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "levels: a pattern has 1 to %d characters: '%.*s'",
                          GPURT_RULE_BYTES - 1, (int)(length < 80 ? length : 80), text);
    rule->level = gpurt_rule_pack(level, (uint32_t)line);
    memset(rule->module, 0, sizeof rule->module);
    memcpy(rule->module, text, length);
    return GPURT_OK;
}

static gpurt_status_t rule_read(const char *text, size_t length, gpurt_levelset_t *set,
                                gpurt_error_t *err)
{
    const char *sign = memchr(text, '=', length);
    const char *word = sign ? sign + 1 : text;
    uint32_t level = level_of(word, length - (size_t)(word - text));

    if (level == GPURT_LEVEL_NONE)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "levels: '%.*s': say trace, debug, info, warn, error, panic or "
                          "off, alone or as PATTERN=LEVEL",
                          (int)(length < 80 ? length : 80), text);
    if (!sign) {
        set->level = level;
        return GPURT_OK;
    }
    if (set->rule_count == GPURT_BOX_RULES)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "levels: more than %d patterns", GPURT_BOX_RULES);
    return pattern_read(text, (size_t)(sign - text), level, &set->rules[set->rule_count++],
                        err);
}

gpurt_status_t gpurt_levelset_parse(const char *text, gpurt_levelset_t *set,
                                    gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    memset(set, 0, sizeof *set);
    set->level = GPURT_LEVEL_INFO;
    do {
        size_t length = strcspn(text, ",");

        st = rule_read(text, length, set, err);
        text += length;
    } while (st == GPURT_OK && *text++ == ',');
    return st;
}

static const char *level_word(uint32_t level)
{
    return level >= GPURT_LEVEL_TRACE && level <= GPURT_LEVEL_LOST
               ? words[level - GPURT_LEVEL_TRACE]
               : "?";
}

size_t gpurt_levelset_print(const gpurt_levelset_t *set, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", level_word(set->level));

    for (uint32_t i = 0; i < set->rule_count && used < bytes; i++) {
        const gpurt_level_rule_t *rule = &set->rules[i];
        uint32_t line = rule->level >> GPURT_LEVEL_BITS;
        char at[16] = "";

        if (line)
            snprintf(at, sizeof at, ":%u", line);
        used += (size_t)snprintf(text + used, bytes - used, ",%.*s%s=%s", GPURT_RULE_BYTES,
                                 rule->module, at,
                                 level_word(rule->level & ((1u << GPURT_LEVEL_BITS) - 1)));
    }
    return used < bytes ? used : bytes - 1;
}

/* ---- the box ------------------------------------------------------------------------- */
static uint32_t *rules_word(const gpurt_boxmap_t *map)
{
    return &map->box->control.xrules;
}

/* Shared between processes: no FUTEX_PRIVATE_FLAG. */
static void wake_all(const gpurt_boxmap_t *map)
{
    syscall(SYS_futex, rules_word(map), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Returns: the odd number that is ours. */
static uint32_t write_begin(uint32_t *word)
{
    struct timespec nap = {0, WRITE_NAP_NS};
    uint32_t seen = gpurt_load_relaxed_sys_u32(word), mine; /* the exchange acquires */

    for (uint32_t naps = 0;;) {
        bool taken = seen % 2 != 0;

        if (taken && naps++ < WRITE_NAPS) {
            nanosleep(&nap, NULL);
            seen = gpurt_load_relaxed_sys_u32(word);
            continue;
        }
        mine = seen + (taken ? 2 : 1);
        if (gpurt_cas_acquire_sys_u32(word, &seen, mine)) /* B9.acq */
            return mine;
    }
}

static void word_copy(uint32_t *to, const uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gpurt_store_release_sys_u32(&to[i], from[i]); /* B9.rel: after the odd number */
}

void gpurt_levelset_write(const gpurt_boxmap_t *map, const gpurt_levelset_t *set)
{
    gpurt_box_control_t *c = &map->box->control;
    uint32_t *word = rules_word(map);
    uint32_t mine = write_begin(word);

    word_copy(&c->xlevel, &set->level, 1);
    word_copy(&c->rule_count, &set->rule_count, 1);
    word_copy((uint32_t *)(void *)c->rules, (const uint32_t *)(const void *)set->rules,
              sizeof set->rules / (sizeof(uint32_t)));
    if (gpurt_cas_release_sys_u32(word, &mine, mine + 1)) /* B9.rel */
        wake_all(map);
}

bool gpurt_levelset_read(const gpurt_boxmap_t *map, gpurt_levelset_t *set)
{
    const gpurt_box_control_t *c = &map->box->control;
    uint32_t *to = (uint32_t *)(void *)set->rules;
    const uint32_t *from = (const uint32_t *)(const void *)c->rules;
    bool whole = false;

    for (uint32_t tries = 0; !whole && tries < GPURT_RULE_TRIES; tries++) {
        uint32_t seq = gpurt_load_acquire_sys_u32(&c->xrules); /* B9.acq */

        set->level = gpurt_load_acquire_sys_u32(&c->xlevel);          /* B9.acq */
        set->rule_count = gpurt_load_acquire_sys_u32(&c->rule_count); /* B9.acq */
        for (size_t i = 0; i < sizeof set->rules / (sizeof(uint32_t)); i++)
            to[i] = gpurt_load_acquire_sys_u32(&from[i]); /* B9.acq */
        /* relaxed: the acquires above keep it last */
        whole = seq % 2 == 0 && gpurt_load_relaxed_sys_u32(&c->xrules) == seq;
    }
    if (set->rule_count > GPURT_BOX_RULES)
        set->rule_count = GPURT_BOX_RULES;
    for (uint32_t i = 0; i < GPURT_BOX_RULES; i++)
        set->rules[i].module[GPURT_RULE_BYTES - 1] = '\0';
    return whole;
}

uint32_t gpurt_levelset_wait(const gpurt_boxmap_t *map, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec t = {(time_t)(timeout_ns / 1000000000u),
                         (long)(timeout_ns % 1000000000u)};
    uint32_t *word = rules_word(map);
    uint32_t now = gpurt_load_relaxed_sys_u32(word); /* a hint; readers acquire */

    if (now == seen) {
        syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
        now = gpurt_load_relaxed_sys_u32(word);
    }
    return now;
}

void gpurt_levelset_nudge(const gpurt_boxmap_t *map)
{
    gpurt_add_relaxed_sys_u32(rules_word(map), 2); /* even stays even */
    wake_all(map);
}
