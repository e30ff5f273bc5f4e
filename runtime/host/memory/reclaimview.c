/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "reclaimview.h"

#include "hosttime.h"

#include <gpurt/impl/heaprow.h>
#include <gpurt/reclaim.h>
#include <string.h>

/* What is looked at, and what was told last of it. */
typedef struct entry {
    gpurt_reclaim_look_t look; /* what 0: free */
    gpurt_t *rt;
    uint64_t time_ns;
    gpurt_reclaim_state_row_t state;
} entry_t;

static entry_t book[GPURT_RECLAIM_TABLES]; /* under the viewer's lock, by table */

/* ---- what counts say ----------------------------------------------------------------- */

static void refs_row(const gpurt_ref_counts_t *c, uint64_t unused,
                     gpurt_reclaim_state_row_t *row)
{
    const uint64_t *n = c->xanswers;

    row->live = gpurt_pair(row->room - unused);
    row->gone = gpurt_pair(n[GPURT_REF_FREED]);
    row->refused =
        gpurt_pair(n[GPURT_REF_OVERFLOW] + n[GPURT_REF_NO_MEMORY] + n[GPURT_REF_NO_RECORD]);
    row->wrong =
        gpurt_pair(n[GPURT_REF_DEAD] + n[GPURT_REF_UNDERFLOW] + n[GPURT_REF_FOREIGN]);
}

/* The two counts may be of different moments. */
static uint64_t difference(uint64_t made, uint64_t gone)
{
    return made > gone ? made - gone : 0;
}

static void retired_row(const gpurt_reclaim_counts_t *c, uint64_t open,
                        gpurt_reclaim_state_row_t *row)
{
    row->live = gpurt_pair(difference(c->xretired, c->xfreed));
    row->made = gpurt_pair(c->xretired);
    row->gone = gpurt_pair(c->xfreed);
    row->refused = gpurt_pair(c->xfull + c->xno_slot);
    row->open = (uint32_t)open;
    row->turn = (uint32_t)c->xepoch;
    row->left = gpurt_pair(c->xabandoned);
}

/* What of a collector's control any kernel may write; the rest of its course the host writes
 * between steps. */
typedef struct gc_counts {
    uint64_t control;
    uint64_t allocated, freed, freed_bytes, promoted, marked;
    uint64_t answers[GPURT_GC_ANSWERS];
} gc_counts_t;
GPURT_STATIC_ASSERT(sizeof(gc_counts_t) - offsetof(gc_counts_t, allocated) ==
                        offsetof(gpurt_gc_control_t, xanswers) +
                            sizeof(uint64_t) * GPURT_GC_ANSWERS -
                            offsetof(gpurt_gc_control_t, xallocated),
                    "copied as they lie");

static bool gc_fetch(gpurt_viewer_t *v, const gpurt_gc_control_t *from, gc_counts_t *to)
{
    return gpurt_viewer_fetch(v, &to->control, &from->course.xcontrol,
                              sizeof to->control) &&
           gpurt_viewer_fetch(v, &to->allocated, &from->xallocated,
                              sizeof *to - offsetof(gc_counts_t, allocated));
}

static void gc_row(const gc_counts_t *c, uint64_t open, gpurt_reclaim_state_row_t *row)
{
    const uint64_t *n = c->answers;

    row->live = gpurt_pair(difference(c->allocated, c->freed));
    row->made = gpurt_pair(c->allocated);
    row->gone = gpurt_pair(c->freed);
    row->refused = gpurt_pair(n[GPURT_GC_NO_MEMORY] + n[GPURT_GC_NO_ENTRY]);
    row->wrong =
        gpurt_pair(n[GPURT_GC_DEAD] + n[GPURT_GC_FOREIGN] + n[GPURT_GC_NO_SECTION] +
                   n[GPURT_GC_NOT_A_HANDLE] + n[GPURT_GC_NO_TYPE]);
    row->open = (uint32_t)open;
    row->turn = (uint32_t)(c->control >> 32);
    row->left = gpurt_pair(c->promoted);
}

/* ---- a look -------------------------------------------------------------------------- */

/* Bits that are set, or words that are not 0. */
static bool slots_look(gpurt_viewer_t *v, const gpurt_reclaim_look_t *l, uint64_t *count)
{
    uint32_t piece = GPURT_VIEWER_PIECE / sizeof(uint64_t);
    uint64_t *words = (uint64_t *)(void *)gpurt_viewer_buffer(v, GPURT_VIEWER_PIECE);

    *count = 0;
    for (uint32_t from = 0; from < l->words; from += piece) {
        uint32_t n = l->words - from < piece ? l->words - from : piece;

        if (!words || !gpurt_viewer_fetch(v, words, l->slots + from, n * sizeof *words))
            return false;
        for (uint32_t i = 0; i < n; i++)
            *count += l->what == GPURT_RECLAIM_REFS
                          ? (uint64_t)__builtin_popcountll(words[i])
                          : words[i] != 0;
    }
    return true;
}

static bool table_look(gpurt_viewer_t *v, const gpurt_reclaim_look_t *l,
                       gpurt_reclaim_state_row_t *row)
{
    union {
        gpurt_ref_counts_t refs;
        gpurt_reclaim_counts_t retired;
        gc_counts_t gc;
    } c;
    uint64_t slots;
    bool got;

    if (l->what == GPURT_RECLAIM_GC)
        got = gc_fetch(v, (const gpurt_gc_control_t *)l->counts, &c.gc);
    else
        got = gpurt_viewer_fetch(v, &c, l->counts,
                                 l->what == GPURT_RECLAIM_REFS ? sizeof c.refs
                                                               : sizeof c.retired);
    if (!got || !slots_look(v, l, &slots))
        return false;
    if (l->what == GPURT_RECLAIM_REFS)
        refs_row(&c.refs, slots, row);
    else if (l->what == GPURT_RECLAIM_GC)
        gc_row(&c.gc, slots, row);
    else
        retired_row(&c.retired, slots, row);
    return true;
}

static void table_tell(gpurt_viewer_t *v, entry_t *e, bool last, bool ended)
{
    gpurt_reclaim_state_row_t row = {.table = e->look.table,
                                     .flags = e->look.what | (ended ? GPURT_HEAP_ENDED : 0),
                                     .heap = e->look.heap,
                                     .room = e->look.room};
    uint64_t now_ns = gpurt_real_ns();
    gpurt_viewer_news_t news;

    if (!table_look(v, &e->look, &row))
        return;
    news = gpurt_viewer_news(e->time_ns, now_ns, last,
                             memcmp(&row, &e->state, sizeof row) == 0);
    if (news == GPURT_VIEWER_SAME)
        return;
    gpurt_viewer_put(v, GPURT_KIND_RECLAIM_STATE, now_ns, &row);
    e->state = row;
    if (news == GPURT_VIEWER_DUE)
        e->time_ns = now_ns;
}

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_reclaimview_begin(gpurt_t *rt, const gpurt_reclaim_look_t *look)
{
    gpurt_viewer_t *v;

    gpurt_viewer_begin(rt);
    v = gpurt_viewer_enter(rt);
    if (!v)
        return;
    book[look->table % GPURT_RECLAIM_TABLES] = (entry_t){.look = *look, .rt = rt};
    gpurt_viewer_leave();
}

void gpurt_reclaimview_end(gpurt_t *rt, uint32_t table)
{
    gpurt_viewer_t *v = gpurt_viewer_enter(rt);
    entry_t *e = &book[table % GPURT_RECLAIM_TABLES];

    if (!v)
        return;
    if (e->look.what && e->look.table == table) {
        table_tell(v, e, true, true);
        e->look.what = 0;
    }
    gpurt_viewer_leave();
}

void gpurt_reclaimview_tell(gpurt_viewer_t *v, bool last)
{
    for (uint32_t i = 0; i < GPURT_RECLAIM_TABLES; i++)
        if (book[i].look.what && book[i].rt == v->rt)
            table_tell(v, &book[i], last, false);
}

void gpurt_reclaimview_forget(const gpurt_t *rt)
{
    for (uint32_t i = 0; i < GPURT_RECLAIM_TABLES; i++)
        if (book[i].rt == rt)
            memset(&book[i], 0, sizeof book[i]);
}
