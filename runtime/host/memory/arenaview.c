/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "arenaview.h"

#include "hosttime.h"

#include <gpurt/impl/heaprow.h>
#include <string.h>

enum {
    SOURCES = 64,   /* that are told of at a time */
    OFTEN = 1 << 18 /* slots: of more only every two seconds */
};

/* What is looked at, and what was told last of it. */
typedef struct entry {
    gpurt_arena_source_t source; /* slots NULL: free */
    gpurt_t *rt;
    uint64_t time_ns;
    gpurt_arena_state_row_t state;
} entry_t;

static entry_t book[SOURCES]; /* under the viewer's lock */

static bool table_look(gpurt_viewer_t *v, const gpurt_arena_source_t *s,
                       gpurt_arena_stats_t *out)
{
    size_t piece = GPURT_VIEWER_PIECE / sizeof(uint64_t);
    size_t words = gpurt_arena_table_words(s->slot_count);
    uint64_t *copy = (uint64_t *)(void *)gpurt_viewer_buffer(v, GPURT_VIEWER_PIECE);

    memset(out, 0, sizeof *out);
    for (size_t from = 0; from < words; from += piece) {
        size_t n = words - from < piece ? words - from : piece;

        if (!copy || !gpurt_viewer_fetch(v, copy, s->slots + from, n * sizeof *copy))
            return false;
        gpurt_arena_stats_add(out, s->slot_count, copy, from, n);
    }
    return true;
}

static void source_tell(gpurt_viewer_t *v, entry_t *e, bool last, bool ended)
{
    gpurt_arena_state_row_t row = {.source = e->source.id,
                                   .flags = ended ? GPURT_HEAP_ENDED : 0,
                                   .heap = e->source.heap.id,
                                   .slots = e->source.slot_count};
    uint64_t now_ns = gpurt_real_ns();
    gpurt_viewer_news_t news;
    gpurt_arena_stats_t stats;

    if (e->source.slot_count > OFTEN && !last && !gpurt_viewer_is_due(e->time_ns, now_ns))
        return;
    if (!table_look(v, &e->source, &stats))
        return;
    row.arenas = (uint32_t)stats.arenas;
    row.pieces = gpurt_pair(stats.pieces);
    row.bytes = gpurt_pair(stats.bytes);
    row.largest = gpurt_pair(stats.largest);
    row.taken = gpurt_pair(stats.taken);
    row.refused = gpurt_pair(stats.refused);
    news = gpurt_viewer_news(e->time_ns, now_ns, last,
                             memcmp(&row, &e->state, sizeof row) == 0);
    if (news == GPURT_VIEWER_SAME)
        return;
    gpurt_viewer_put(v, GPURT_KIND_ARENA_STATE, now_ns, &row);
    e->state = row;
    if (news == GPURT_VIEWER_DUE)
        e->time_ns = now_ns;
}

void gpurt_arenaview_begin(gpurt_t *rt, const gpurt_arena_source_t *source)
{
    gpurt_viewer_t *v;
    entry_t *e = NULL;

    gpurt_viewer_begin(rt);
    v = gpurt_viewer_enter(rt);
    if (!v)
        return;
    for (uint32_t i = 0; i < SOURCES && !e; i++)
        e = book[i].source.slots ? NULL : &book[i];
    if (e)
        *e = (entry_t){.source = *source, .rt = rt};
    gpurt_viewer_leave();
}

void gpurt_arenaview_end(gpurt_t *rt, const gpurt_arena_source_t *source)
{
    gpurt_viewer_t *v = gpurt_viewer_enter(rt);

    for (uint32_t i = 0; v && i < SOURCES; i++)
        if (book[i].source.slots && book[i].source.id == source->id) {
            source_tell(v, &book[i], true, true);
            book[i].source.slots = NULL;
        }
    if (v)
        gpurt_viewer_leave();
}

void gpurt_arenaview_tell(gpurt_viewer_t *v, bool last)
{
    for (uint32_t i = 0; i < SOURCES; i++)
        if (book[i].source.slots && book[i].rt == v->rt)
            source_tell(v, &book[i], last, false);
}

void gpurt_arenaview_forget(const gpurt_t *rt)
{
    for (uint32_t i = 0; i < SOURCES; i++)
        if (book[i].rt == rt)
            memset(&book[i], 0, sizeof book[i]);
}
