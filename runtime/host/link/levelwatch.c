/* SPDX-License-Identifier: Apache-2.0 */
#include "levelwatch.h"

#include "hostthread.h"
#include "levelset.h"
#include "sitegate.h"

#include <errno.h>
#include <gpurt/impl/levels.h>
#include <gpurt/impl/logport.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_NS = 500000000,
    LATE_NS = 20000000, /* after a change: for sites that were just being defined */
    LATE_LOOKS = 25
};

enum {
    TOLD_NOTHING, /* the gate is as the site's definer left it */
    TOLD_ON,
    TOLD_OFF
};

/* Of an open device. Written by: start and stop, under the lock of gpurt_open; told: the
 * thread. */
typedef struct watch {
    const gpurt_boxmap_t *map;
    const gpurt_opened_t *opened;
    uint8_t *told[GPURT_BOX_SECTIONS]; /* TOLD_*, by slot */
    pthread_t thread;
    uint32_t xstop; /* written by: stop */
    bool running;
} watch_t;

static watch_t watches[GPURT_MAX_DEVICES];

static void site_look(watch_t *w, uint32_t section, uint32_t slot)
{
    const gpurt_boxmap_t *map = w->map;
    gpurt_def_t *def = gpurt_boxmap_def(map, section, slot);
    uint8_t *told = &w->told[section][slot];
    uint32_t level, gate;
    bool on;

    if (gpurt_load_acquire_sys_u32(&def->xstate) != GPURT_DEF_SITE || /* B3.acq */
        !def->gate || def->level >= GPURT_LEVEL_PANIC || !gpurt_kind_is_line(def->kind))
        return;
    level = gpurt_level_at(&map->box->control, gpurt_def_text(def) + def->format_bytes,
                           def->file_bytes, def->line);
    on = def->level >= level;
    if (*told == (on ? TOLD_ON : TOLD_OFF))
        return;
    *told = on ? TOLD_ON : TOLD_OFF;
    gate = (slot + 1) | (on ? 0 : GPURT_GATE_OFF);
    if (map->sections[section].kind == GPURT_SECTION_CUDA)
        w->opened->ops->gate_store(w->opened->self, def->gate, gate);
    else
        gpurt_sitegate_store(def, slot, gate);
}

static void sites_look(watch_t *w)
{
    if (w->opened->ops->span_store)
        w->opened->ops->span_store(
            w->opened->self,
            GPURT_LEVEL_PANIC + 1 -
                gpurt_level_lowest(&w->map->box->control, w->map->sections[0].floor));
    for (uint32_t s = 0; s < w->map->section_count; s++)
        for (uint32_t i = 0; i < w->map->sections[s].def_count; i++)
            site_look(w, s, i);
}

static void *watch_main(void *context)
{
    watch_t *w = context;
    uint32_t seen = 0, late = 0; /* from an even number that a new box has */

    /* relaxed: nothing is handed over with it */
    while (!gpurt_load_relaxed_sys_u32(&w->xstop)) {
        uint32_t now = gpurt_levelset_wait(w->map, seen, late ? LATE_NS : WAIT_NS);

        if (now == seen && !late)
            continue;
        late = now != seen ? LATE_LOOKS : late - 1;
        seen = now;
        sites_look(w);
    }
    return NULL;
}

static void told_free(watch_t *w)
{
    for (uint32_t s = 0; s < GPURT_BOX_SECTIONS; s++) {
        free(w->told[s]);
        w->told[s] = NULL;
    }
}

gpurt_status_t gpurt_levelwatch_start(const gpurt_boxmap_t *map,
                                      const gpurt_opened_t *opened, gpurt_error_t *err)
{
    watch_t *w = &watches[opened->index];
    int failed = 0;

    w->map = map;
    w->opened = opened;
    w->xstop = 0;
    for (uint32_t s = 0; s < map->section_count && !failed; s++) {
        w->told[s] = calloc(map->sections[s].def_count + 1, 1);
        failed = w->told[s] ? 0 : ENOMEM;
    }
    if (!failed)
        failed = gpurt_thread_start(&w->thread, watch_main, w);
    if (failed) {
        told_free(w);
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, failed,
                          "log: no thread for changes of levels");
    }
    w->running = true;
    return GPURT_OK;
}

void gpurt_levelwatch_stop(const gpurt_opened_t *opened)
{
    watch_t *w = &watches[opened->index];

    if (!w->running)
        return;
    gpurt_store_relaxed_sys_u32(&w->xstop, 1);
    gpurt_levelset_nudge(w->map);
    pthread_join(w->thread, NULL);
    told_free(w);
    w->running = false;
}

void gpurt_levelwatch_forked(uint32_t index)
{
    watch_t *w = &watches[index];

    if (w->running)
        told_free(w);
    gpurt_levelwatch_forget(index);
}

void gpurt_levelwatch_forget(uint32_t index)
{
    memset(&watches[index], 0, sizeof watches[0]);
}
