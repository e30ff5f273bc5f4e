/* SPDX-License-Identifier: Apache-2.0 */
/* The object `hang` of docs/PANIC_JSON.md. */
#include "hang_text.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

static const char *const kinds[GPURT_WAITABLE_KINDS] = {"other",   "lock",  "barrier",
                                                        "channel", "futex", "semaphore"};
static const char *const reasons[] = {"none", "owner", "all", "data", "room", "word"};

static void put_site(FILE *out, const char *name, const gpurt_waits_t *w, uint32_t site)
{
    fprintf(out, ",\"%s\":", name);
    if (site == GPURT_WAIT_NOBODY) {
        fputs("null", out);
        return;
    }
    fputs("{\"file\":", out);
    text_put_json(out, w->sites[site].file, strlen(w->sites[site].file));
    fprintf(out, ",\"line\":%u,\"text\":", w->sites[site].line);
    text_put_json(out, w->sites[site].text, strlen(w->sites[site].text));
    fputc('}', out);
}

static void put_object(FILE *out, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_object_t *o;

    fputs(",\"object\":", out);
    if (wait->object != GPURT_WAIT_NOBODY) {
        o = &w->objects[wait->object];
        fprintf(out, "{\"kind\":\"%s\",\"name\":", kinds[o->kind]);
        text_put_json(out, o->name, strlen(o->name));
        if (o->index == GPURT_WAITABLE_SINGLE)
            fputs(",\"index\":null}", out);
        else
            fprintf(out, ",\"index\":%u}", o->index);
    } else if (wait->number >= GPURT_WAITABLE_NAMED) {
        fprintf(out, "{\"kind\":\"barrier\",\"name\":\"%s\",\"index\":",
                wait->number == GPURT_WAITABLE_GRID      ? "grid"
                : wait->number == GPURT_WAITABLE_BLOCK   ? "block"
                : wait->number == GPURT_WAITABLE_CLUSTER ? "cluster"
                                                         : "named");
        if (wait->number < GPURT_WAITABLE_CLUSTER)
            fprintf(out, "%u}", wait->number - GPURT_WAITABLE_NAMED);
        else
            fputs("null}", out);
    } else {
        fputs("null", out);
    }
}

typedef struct putting {
    FILE *out;
    const gpurt_waits_t *w;
    bool any;
} putting_t;

static void put_blocker(void *context, uint32_t j, const gpurt_wait_owner_t *o)
{
    putting_t *p = context;

    fprintf(p->out, "%s{\"wait\":", p->any ? "," : "");
    p->any = true;
    if (j == GPURT_WAIT_NOBODY)
        fputs("null", p->out);
    else
        fprintf(p->out, "%u", j);
    fprintf(p->out, ",\"block\":%u,\"warp\":%u", o ? o->block : p->w->waits[j].block,
            o ? o->warp : p->w->waits[j].warp);
    if (o) {
        fprintf(p->out, ",\"lane\":%u,\"since_ns\":%" PRIu64 ",\"gone\":%s",
                (o->place - 1) % GPURT_WARP_SIZE, o->since_ns, o->gone ? "true" : "false");
        put_site(p->out, "held_at", p->w, o->site);
        put_site(p->out, "last_at", p->w, o->at_site);
    }
    fputc('}', p->out);
}

static void put_wait(FILE *out, const gpurt_waitgraph_t *g, uint32_t i)
{
    const gpurt_wait_t *wait = &g->waits->waits[i];
    putting_t p = {out, g->waits, false};

    fprintf(out,
            "%s{\"block\":%u,\"warp\":%u,\"lanes\":%u,\"section\":%u,\"sm\":%u,"
            "\"warp_slot\":%u,\"since_ns\":%" PRIu64 ",\"reason\":\"%s\"",
            i ? "," : "", wait->block, wait->warp, wait->mask, wait->section, wait->sm,
            wait->slot, wait->since_ns,
            wait->reason < sizeof reasons / sizeof reasons[0] ? reasons[wait->reason]
                                                              : "other");
    put_object(out, g->waits, wait);
    put_site(out, "at", g->waits, wait->site);
    fprintf(out, ",\"stuck\":%s,\"circle\":", g->stuck[i] ? "true" : "false");
    if (g->circle[i])
        fprintf(out, "%u", g->circle[i]);
    else
        fputs("null", out);
    fputs(",\"waits_for\":[", out);
    gpurt_waits_blockers(g->waits, i, put_blocker, &p);
    fputs("]}", out);
}

void hang_json(const gpurt_waitgraph_t *g, FILE *out)
{
    fprintf(out,
            "{\"ts_ns\":%" PRIu64
            ",\"stuck\":%u,\"circles\":%u,\"left_out\":%u,\"waits\":[",
            g->waits->time_ns, g->stuck_count, g->circles, g->waits->left_out);
    for (uint32_t i = 0; i < g->waits->count; i++)
        put_wait(out, g, i);
    fputs("]}", out);
}
