/* SPDX-License-Identifier: Apache-2.0 */
/* Taking rows in. This runs for each row of a drain, so it only counts and copies; what
 * costs more (texts, rates) is left to whoever looks, in modelview.c. */
#include "modelpart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---------------------------------------------------------------------------- */

/* Multiprocessors get their rows in order of the sections, as far as rows go. */
static void sections_lay(gpurt_model_t *m)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < m->about.section_count; i++) {
        uint32_t count = m->about.sections[i].sm_count;

        if (m->about.sections[i].kind == GPURT_SECTION_HOST)
            count = 0;
        if (count > GPURT_MODEL_SMS - next)
            count = GPURT_MODEL_SMS - next;
        m->sections[i].sm_first = next;
        m->sections[i].sm_shown = count;
        next += count;
    }
}

gpurt_status_t gpurt_model_create(const gpurt_dictionary_t *dictionary,
                                  const gplog_file_t *about, gpurt_model_t **out,
                                  gpurt_error_t *err)
{
    gpurt_model_t *m = calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "model");
    m->dictionary = dictionary;
    m->activity.dictionary = dictionary;
    if (about)
        m->about = *about;
    if (m->about.section_count > GPURT_BOX_SECTIONS)
        m->about.section_count = GPURT_BOX_SECTIONS;
    sections_lay(m);
    *out = m;
    return GPURT_OK;
}

void gpurt_model_destroy(gpurt_model_t *m)
{
    free(m);
}

void gpurt_model_assign(gpurt_model_t *to, const gpurt_model_t *from)
{
    memcpy(to, from, sizeof *to);
}

gpurt_status_t gpurt_model_copy(const gpurt_model_t *from, gpurt_model_t **out,
                                gpurt_error_t *err)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "model");
    gpurt_model_assign(*out, from);
    return GPURT_OK;
}

/* ---- rates --------------------------------------------------------------------------- */

static void window_move(model_window_t *w, uint64_t tick)
{
    if (tick - w->at >= TICKS)
        memset(w->count, 0, sizeof w->count);
    else
        for (uint64_t t = w->at + 1; t <= tick; t++)
            w->count[t % TICKS] = 0;
    w->at = tick;
}

static inline void sum_add(model_sum_t *s, uint64_t tick, uint64_t count)
{
    model_window_t *w = &s->window;
    uint32_t *at = &w->count[tick % TICKS];

    s->count += count;
    if (tick > w->at)
        window_move(w, tick);
    else if (w->at - tick >= TICKS)
        return; /* too late for a rate */
    *at = count < UINT32_MAX - *at ? *at + (uint32_t)count : UINT32_MAX;
}

uint32_t model_rate(const model_window_t *w, uint64_t now_ns)
{
    uint64_t tick = now_ns / TICK_NS, sum = 0;

    for (uint64_t t = tick < RATE_TICKS ? 0 : tick - RATE_TICKS; t < tick; t++)
        if (t <= w->at && w->at - t < TICKS)
            sum += w->count[t % TICKS];
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static inline void second_add(uint32_t *to, uint64_t count)
{
    *to = count < UINT32_MAX - *to ? *to + (uint32_t)count : UINT32_MAX;
}

static void history_add(gpurt_model_t *m, const gpurt_row_t *row, uint32_t level,
                        uint32_t messages, uint64_t lost)
{
    uint64_t second = row->time_ns / SECOND_NS;
    gpurt_model_second_t *s = &m->seconds[second % GPURT_MODEL_SECONDS];

    if (s->second > second)
        return; /* older than the history */
    if (s->second != second) {
        memset(s, 0, sizeof *s);
        s->second = second;
    }
    second_add(&s->messages, messages);
    if (level == GPURT_LEVEL_WARN)
        second_add(&s->warnings, messages);
    if (level == GPURT_LEVEL_ERROR || level == GPURT_LEVEL_PANIC)
        second_add(&s->errors, messages);
    second_add(&s->lost, lost);
}

/* ---- sites --------------------------------------------------------------------------- */

/* Sites are few and repeat, so a probe nearly always hits at once. Site 0, rows without a
 * definition, has a row like others. */
static model_site_t *site_of(gpurt_model_t *m, uint32_t id)
{
    uint32_t at = id * 0x9e3779b1u >> 21;

    for (; m->site_hash[at % SITE_HASH]; at++) {
        model_site_t *s = &m->sites[m->site_hash[at % SITE_HASH] - 1];

        if (s->id == id)
            return s;
    }
    if (m->site_count == GPURT_MODEL_SITES)
        return &m->sites[SITE_OTHER];
    m->sites[m->site_count].id = id;
    m->site_hash[at % SITE_HASH] = (uint16_t)++m->site_count;
    return &m->sites[m->site_count - 1];
}

/* The first values of an object, as a row that has no more of them. Of the rows of one look the
 * first is kept. */
static void object_keep(model_site_t *s, const gpurt_row_t *row)
{
    const uint32_t *words = gpurt_row_words(row);
    uint32_t most = (SITE_WORDS - GPURT_OBJECT_HEAD_WORDS) / 2, count;

    if (gpurt_object_first(words[1]) != 0 && s->last.words != 0)
        return;
    count = gpurt_object_count(words[1]);
    s->last = *row;
    s->last.words = row->words < SITE_WORDS ? row->words : SITE_WORDS;
    memcpy(s->words, words, 4u * s->last.words);
    s->words[1] = gpurt_object_word(gpurt_object_first(words[1]),
                                    count < most ? count : most, words[1] & 0xffu);
}

/* Of a row of own lane values the first lane's are kept, as a row of that lane. */
static void site_keep(gpurt_model_t *m, model_site_t *s, const gpurt_row_t *row)
{
    bool per_lane = gpurt_row_per_lane(row) && row->mask;
    const uint32_t *words = gpurt_row_words(row);
    uint32_t count = 0;

    s->last_number = m->rows;
    if (row->kind == GPURT_KIND_OBJECT && row->words >= GPURT_OBJECT_HEAD_WORDS) {
        object_keep(s, row);
        return;
    }
    s->last = *row;
    if (per_lane) {
        uint32_t stride = (uint32_t)__builtin_popcount(row->mask);

        for (uint32_t at = 0; at < row->words && count < SITE_WORDS; at += stride)
            s->words[count++] = words[at];
        s->last.form = GPURT_FORM_LANE;
        s->last.mask = row->mask & (0u - row->mask);
    } else {
        count = row->words < SITE_WORDS ? row->words : SITE_WORDS;
        memcpy(s->words, words, 4u * count);
    }
    s->last.words = (uint16_t)count;
}

/* ---- places -------------------------------------------------------------------------- */

static void sm_add(gpurt_model_t *m, model_section_t *section, const gpurt_row_t *row,
                   uint64_t tick, uint32_t messages, uint32_t level)
{
    uint64_t second = row->time_ns / SECOND_NS;
    model_sm_t *sm;

    if (row->sm >= section->sm_shown) {
        section->sm_other += messages;
        return;
    }
    sm = &m->sms[section->sm_first + row->sm];
    sum_add(&sm->messages, tick, messages);
    if (row->time_ns > sm->last_ns)
        sm->last_ns = row->time_ns;
    if (second > sm->second) {
        sm->slots[0] = second == sm->second + 1 ? sm->slots[1] : 0;
        sm->slots[1] = 0;
        sm->second = second;
    }
    sm->slots[1] |= 1ull << (row->slot < 63 ? row->slot : 63);
    if (level == GPURT_LEVEL_ERROR || level == GPURT_LEVEL_PANIC) {
        sm->errors += messages;
        if (row->time_ns > sm->error_ns)
            sm->error_ns = row->time_ns;
    }
}

/* ---- rows ---------------------------------------------------------------------------- */

static void row_keep(gpurt_model_t *m, const gpurt_row_t *row, uint32_t level)
{
    model_keep_t *k = &m->keep[gpurt_model_class(level)];
    uint32_t bytes = gpurt_row_bytes(row->words);
    uint64_t place = k->end;

    if (place % KEEP_BYTES + bytes > KEEP_BYTES)
        place += KEEP_BYTES - place % KEEP_BYTES; /* never split */
    memcpy(k->bytes + place % KEEP_BYTES, row, sizeof *row + row->words * 4u);
    k->place[k->count % GPURT_MODEL_LINES] = place;
    k->number[k->count % GPURT_MODEL_LINES] = m->rows;
    k->count++;
    k->end = place + bytes;
}

static void row_loss(gpurt_model_t *m, model_section_t *section, const gpurt_row_t *row,
                     uint64_t tick, uint64_t lost)
{
    uint32_t reason = row->words ? gpurt_row_words(row)[0] : 0;

    m->losses[reason < GPURT_MODEL_REASONS ? reason : 0] += lost;
    sum_add(&m->lost, tick, lost);
    sum_add(&section->lost, tick, lost);
}

void gpurt_model_of_box(gpurt_model_t *m)
{
    m->of_box = true;
}

uint32_t model_pid(const gpurt_model_t *m, const gpurt_row_t *row)
{
    return m->of_box ? m->about.identity.pid
                     : gplog_program_pid(m->dictionary, &m->about, row);
}

uint32_t model_pid_of(const gpurt_model_t *m, uint32_t program)
{
    const gpurt_row_t row = {.program = (uint8_t)program};

    return model_pid(m, &row);
}

uint32_t model_programs(const gpurt_model_t *m)
{
    uint32_t count = m->of_box ? 1 : gplog_program_count(m->dictionary);

    return count ? count : 1;
}

static void row_panic(gpurt_model_t *m, model_section_t *section, const gpurt_row_t *row)
{
    gpurt_model_panic_t *p;

    m->panic_count++;
    section->panics++;
    if (m->panics.count == GPURT_MODEL_PANICS)
        return;
    p = &m->panics.list[m->panics.count++];
    model_panic_read(m->dictionary, row, p);
    p->pid = model_pid(m, row);
}

/* Rows of one site, place and tick, from `first` to `last` by time. */
static void sums_put(gpurt_model_t *m, const gpurt_row_t *first, const gpurt_row_t *last,
                     uint32_t count)
{
    uint32_t messages = count * gpurt_row_messages(last);
    uint32_t level = last->level < GPURT_MODEL_LEVELS ? last->level : GPURT_LEVEL_NONE;
    uint64_t tick = last->time_ns / TICK_NS, lost = gpurt_row_lost(last);
    model_section_t *section =
        &m->sections[last->section < m->about.section_count ? last->section
                                                            : GPURT_BOX_SECTIONS];
    model_site_t *site;

    m->rows += count;
    if (m->first_ns == 0 || first->time_ns < m->first_ns)
        m->first_ns = first->time_ns;
    if (last->time_ns > m->last_ns)
        m->last_ns = last->time_ns;
    history_add(m, last, level, messages, lost);
    if (last->kind == GPURT_KIND_LOSS) {
        row_loss(m, section, last, tick, lost);
        return;
    }
    site = site_of(m, last->site);
    sum_add(&m->messages, tick, messages);
    sum_add(&m->levels[level], tick, messages);
    sum_add(&section->messages, tick, messages);
    sum_add(&site->messages, tick, messages);
    site_keep(m, site, last);
    sm_add(m, section, last, tick, messages, level);
    if (gpurt_row_is_panic(last))
        row_panic(m, section, last);
}

void gpurt_model_put(gpurt_model_t *m, const gpurt_row_t *row)
{
    gpurt_timeline_run_t run = {.count = 0};

    sums_put(m, row, row, 1);
    switch (gpurt_kind_family(row->kind)) {
    case GPURT_FAMILY_ACTIVITY:
        model_activity_put(&m->activity, &run, row);
        gpurt_timeline_end(&m->activity.timeline, &run);
        break;
    case GPURT_FAMILY_TRACE:
        model_trace_put(&m->objects, row);
        break;
    case GPURT_FAMILY_TASK: /* the executor's own counts are of all bodies */
        break;
    case GPURT_FAMILY_OBJECT:
        model_object_put(&m->objects, m->dictionary, row);
        break;
    default:
        row_keep(m, row, row->level < GPURT_MODEL_LEVELS ? row->level : GPURT_LEVEL_NONE);
    }
}

void gpurt_model_put_all(gpurt_model_t *m, const uint8_t *rows, const gpurt_timed_t *order,
                         uint32_t count)
{
    gpurt_timeline_run_t run = {.count = 0};
    model_rows_t left = {rows, order, count};
    const gpurt_row_t *next = model_rows_next(&left);

    while (next) {
        model_alike_t alike = {.first = next};

        if (gpurt_kind_is_activity(next->kind)) {
            next = model_activity_put_alike(&m->activity, &run, &alike, &left);
            sums_put(m, alike.first, alike.last, alike.count);
        } else {
            gpurt_model_put(m, next);
            next = model_rows_next(&left);
        }
    }
    gpurt_timeline_end(&m->activity.timeline, &run);
}

uint64_t gpurt_model_last_ns(const gpurt_model_t *m)
{
    return m->last_ns;
}

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    (void)err;
    gpurt_model_put(context, row);
    return GPURT_OK;
}

gpurt_drain_sink_t gpurt_model_sink(gpurt_model_t *m)
{
    gpurt_drain_sink_t sink = {.context = m, .put = sink_put, .in_order = true};

    gpurt_model_of_box(m);
    return sink;
}
