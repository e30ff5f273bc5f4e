/* SPDX-License-Identifier: Apache-2.0 */
#include "stall.h"

#include "hosttime.h"
#include "panic_line.h"
#include "plural.h"

#include <gpurt/impl/activity.h>
#include <stdlib.h>
#include <string.h>

void stall_init(stall_t *s, uint64_t limit_ns, const gpurt_dictionary_t *sites)
{
    memset(s, 0, sizeof *s);
    s->limit_ns = limit_ns;
    s->sites = sites;
}

void stall_fini(stall_t *s)
{
    for (uint32_t section = 0; section < GPURT_BOX_SECTIONS; section++)
        for (uint32_t sm = 0; sm < STALL_SMS; sm++)
            free(s->rows[section][sm]);
    memset(s, 0, sizeof *s);
}

/* ---- records --------------------------------------------------------------------------- */

/* A record that host code made says nothing of device code, be it a gauge that comes each second:
 * except that a kernel or a copy has ended. */
static bool tells_of_work(const gpurt_row_t *row)
{
    switch (row->kind) {
    case GPURT_KIND_KERNEL:
    case GPURT_KIND_NODE:
    case GPURT_KIND_DEVICE_NODE:
    case GPURT_KIND_GRAPH:
    case GPURT_KIND_DEVICE_GRAPH:
    case GPURT_KIND_COPY:
    case GPURT_KIND_FILL:
        return true;
    default:
        return row->form != GPURT_FORM_THREAD;
    }
}

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    stall_t *s = context;
    uint32_t words = row->words < STALL_WORDS ? row->words : STALL_WORDS;
    stall_row_t **last;

    (void)err;
    if (!tells_of_work(row))
        return GPURT_OK;
    s->last_ns = 0; /* now, which stall_check fills in: no clock for each record */
    s->told = false;
    if (row->section >= GPURT_BOX_SECTIONS || row->sm >= STALL_SMS ||
        row->form == GPURT_FORM_THREAD || row->kind == GPURT_KIND_LOSS)
        return GPURT_OK;
    last = &s->rows[row->section][row->sm];
    if (!*last && !(*last = calloc(1, sizeof **last)))
        return GPURT_OK; /* it is told without this SM */
    if ((*last)->row.time_ns > row->time_ns)
        return GPURT_OK; /* rings come one after another */
    (*last)->row = *row;
    (*last)->row.words = (uint16_t)words;
    memcpy((*last)->words, gpurt_row_words(row), 4u * words);
    return GPURT_OK;
}

gpurt_drain_sink_t stall_sink(stall_t *s)
{
    gpurt_drain_sink_t sink = {.context = s, .put = sink_put};

    return sink;
}

static bool any(const stall_t *s)
{
    for (uint32_t section = 0; section < GPURT_BOX_SECTIONS; section++)
        for (uint32_t sm = 0; sm < STALL_SMS; sm++)
            if (s->rows[section][sm])
                return true;
    return false;
}

bool stall_check(stall_t *s, uint64_t now_ns)
{
    if (s->limit_ns == 0 || s->told)
        return false;
    if (s->last_ns == 0)
        s->last_ns = now_ns;
    if (now_ns - s->last_ns < s->limit_ns)
        return false;
    s->told = true;
    s->silences++;
    return any(s);
}

bool stall_is_of_records(const stall_t *s)
{
    return any(s);
}

uint32_t stall_silence(const stall_t *s)
{
    return s->told ? s->silences : 0;
}

/* ---- words ----------------------------------------------------------------------------- */
/* SMs whose last record is of the same site. */
typedef struct group {
    const stall_row_t *newest;
    uint32_t section, site, count, first_sm, last_sm;
    bool gaps; /* not every SM from the first to the last */
} group_t;

static group_t *group_of(group_t *list, uint32_t *count, uint32_t room, uint32_t section,
                         uint32_t site)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].section == section && list[i].site == site)
            return &list[i];
    if (*count == room)
        return NULL;
    list[*count] = (group_t){.section = section, .site = site};
    return &list[(*count)++];
}

static int rarest_first(const void *a, const void *b)
{
    const group_t *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->newest->row.time_ns < y->newest->row.time_ns ? -1 : 1;
}

static void print_group(const stall_t *s, const group_t *g, uint64_t now_ns, FILE *out)
{
    panic_style_t style = {.out = out};
    char room[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t message;
    panic_line_t line;
    uint32_t bytes;

    panic_line_begin(&line, &style);
    gpurt_text_printf(&line.text, "  %4u SM%s %u", g->count, g->count == 1 ? " " : "s",
                      g->first_sm);
    if (g->last_sm != g->first_sm)
        gpurt_text_printf(&line.text, "%s%u", g->gaps ? ".." : "-", g->last_sm);
    gpurt_text_printf(&line.text, "  %.1f s ago  ",
                      now_ns > g->newest->row.time_ns
                          ? (double)(now_ns - g->newest->row.time_ns) / 1e9
                          : 0.0);
    if (gpurt_dictionary_get(s->sites, g->site, &site) && site.file_bytes) {
        const char *base = panic_base(site.file, site.file_bytes, &bytes);

        gpurt_render_plain(&line.text, base, bytes);
        gpurt_text_printf(&line.text, ":%u  ", site.line);
    }
    gpurt_text_init(&message, room, sizeof room);
    gpurt_render_message(s->sites, &g->newest->row, 0, &message);
    gpurt_text_printf(&line.text, "block %u warp %u: ", g->newest->row.block,
                      g->newest->row.warp);
    gpurt_render_plain(&line.text, message.at, message.used);
    panic_line_end(&line, NULL);
}

static uint32_t groups_fill(const stall_t *s, group_t *groups, uint32_t room)
{
    uint32_t count = 0;

    for (uint32_t section = 0; section < GPURT_BOX_SECTIONS; section++)
        for (uint32_t sm = 0; sm < STALL_SMS; sm++) {
            const stall_row_t *last = s->rows[section][sm];
            group_t *g =
                last ? group_of(groups, &count, room, section, last->row.site) : NULL;

            if (!g)
                continue;
            if (g->count++ == 0)
                g->first_sm = sm;
            else
                g->gaps = g->gaps || sm != g->last_sm + 1;
            g->last_sm = sm;
            if (!g->newest || last->row.time_ns > g->newest->row.time_ns)
                g->newest = last;
        }
    return count;
}

void stall_print(const stall_t *s, const char *name, FILE *out)
{
    group_t groups[64];
    uint32_t count = groups_fill(s, groups, sizeof groups / sizeof groups[0]);

    fprintf(out, "%s: no record of device code for %g s; the last one of each SM:\n", name,
            (double)s->limit_ns / 1e9);
    qsort(groups, count, sizeof groups[0], rarest_first);
    for (uint32_t i = 0; i < count && i < STALL_LINES; i++)
        print_group(s, &groups[i], gpurt_real_ns(), out);
    if (count > STALL_LINES)
        fprintf(out, "  and %u other place%s\n", count - STALL_LINES,
                gpurt_plural(count - STALL_LINES, "s"));
}
