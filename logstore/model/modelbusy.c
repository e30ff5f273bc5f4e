/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPU a span is of, for what each GPU did with its time (gaps.h). Processes that share a
 * GPU share its account. A process may tell which GPU a device is after it has used it: then
 * two accounts become one. */
#include "modelpart.h"
#include "span.h"

#include <string.h>

/* ---- accounts ------------------------------------------------------------------------ */

/* By UUID; of logs that have none by number. Of one that nothing was told of nobody knows. */
static bool is_same_gpu(const model_device_t *a, const model_device_t *b)
{
    if (a->limits.warp == 0 || b->limits.warp == 0)
        return false;
    if (!model_has_uuid(a) && !model_has_uuid(b))
        return a->number == b->number;
    return memcmp(a->limits.uuid, b->limits.uuid, sizeof a->limits.uuid) == 0;
}

/* Returns: that of the same GPU, as another process calls it; 0: it has none. */
static uint8_t account_same(const model_devices_t *all, const model_device_t *d)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const model_device_t *other = &all->list[i];

        if (other != d && other->account && is_same_gpu(d, other))
            return other->account;
    }
    return 0;
}

/* 0: all are taken. */
static uint8_t account_take(model_busy_t *b)
{
    for (uint32_t i = 0; i < MODEL_ACCOUNTS; i++)
        if (!(b->taken >> i & 1)) {
            b->taken |= 1u << i;
            return (uint8_t)(i + 1);
        }
    return 0;
}

/* Returns: NULL: there is no room for it. */
static gaps_t *account_of(model_activity_t *a, model_device_t *d)
{
    if (d->account == 0)
        d->account = account_same(&a->devices, d);
    if (d->account == 0)
        d->account = account_take(&a->busy);
    return d->account ? &a->busy.gpus[d->account - 1] : NULL;
}

/* A device that had an account of its own is a GPU that has one. */
static void account_join(model_busy_t *b, model_device_t *d, uint8_t same)
{
    gaps_t *old = &b->gpus[d->account - 1];

    gaps_join(&b->gpus[same - 1], old);
    memset(old, 0, sizeof *old);
    b->taken &= ~(1u << (d->account - 1));
    for (uint32_t i = 0; i < MODEL_CONTEXTS; i++)
        if (b->contexts[i].account == d->account)
            b->contexts[i].account = same;
    d->account = same;
}

/* ---- contexts ------------------------------------------------------------------------ */

static model_context_t *context_place(model_busy_t *b, uint32_t program, uint32_t context)
{
    return &b->contexts[model_context_hash(program, context)];
}

static bool is_context(const model_context_t *place, uint32_t program, uint32_t context)
{
    return place->account && place->program == program && place->context == context;
}

/* Waits for a context that had done nothing yet, now that its GPU is known. */
static void sleeps_give(model_busy_t *b, const model_context_t *to)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < b->sleep_count; i++) {
        const model_sleep_t *s = &b->sleeps[i];

        if (is_context(to, s->program, s->context))
            gaps_wait(&b->gpus[to->account - 1], s->start, s->end);
        else
            b->sleeps[kept++] = *s;
    }
    b->sleep_count = kept;
}

gaps_t *model_busy_find(model_activity_t *a, uint32_t program, uint32_t device,
                        uint32_t context)
{
    model_context_t *place = context_place(&a->busy, program, context);
    model_device_t *d = model_device_of(&a->devices, program, device);
    gaps_t *gaps = d ? account_of(a, d) : NULL;

    if (!gaps) {
        a->devices.left_out++;
        return NULL;
    }
    *place = (model_context_t){.context = context,
                               .device = device,
                               .program = (uint8_t)program,
                               .account = d->account};
    sleeps_give(&a->busy, place);
    return gaps;
}

static void put_wait(model_busy_t *b, const gpurt_span_t *s)
{
    const model_context_t *place = context_place(b, s->program, s->context);
    uint64_t end = s->time_ns + s->ns;

    if (is_context(place, s->program, s->context)) {
        gaps_wait(&b->gpus[place->account - 1], s->time_ns, end);
        return;
    }
    if (b->sleep_count == MODEL_SLEEPS)
        memmove(b->sleeps, b->sleeps + 1, --b->sleep_count * sizeof b->sleeps[0]);
    b->sleeps[b->sleep_count++] = (model_sleep_t){
        .start = s->time_ns, .end = end, .context = s->context, .program = s->program};
}

void model_busy_span(model_activity_t *a, const gpurt_span_t *s)
{
    gaps_t *gaps;

    if (s->ns == GPURT_ACTIVITY_NO_TIME || s->ns == 0)
        return;
    if (s->kind == GPURT_KIND_WAIT)
        put_wait(&a->busy, s);
    if (!gpurt_span_on_stream(s))
        return;
    gaps = model_busy_of(a, s->program, s->device, s->context);
    if (!gaps)
        return;
    gaps->told++;
    if (s->kind == GPURT_KIND_COPY || s->kind == GPURT_KIND_FILL)
        gaps_copy(gaps, s->time_ns, s->time_ns + s->ns);
    else
        gaps_kernel(gaps, s->time_ns, s->time_ns + s->ns);
}

/* ---- what else is told of a device --------------------------------------------------- */

void model_busy_watched(model_activity_t *a, model_device_t *d, uint64_t time_ns)
{
    if (d->account)
        gaps_watched(&a->busy.gpus[d->account - 1], time_ns);
}

void model_busy_off(model_activity_t *a, uint32_t program, uint64_t start, uint64_t end,
                    bool on)
{
    for (uint32_t i = 0; i < a->devices.count; i++) {
        const model_device_t *d = &a->devices.list[i];

        if (d->program != program || !d->account)
            continue;
        gaps_off(&a->busy.gpus[d->account - 1], start, end);
        if (!on)
            gaps_off_begins(&a->busy.gpus[d->account - 1], end);
    }
}

void model_busy_begin(model_activity_t *a, model_device_t *d, uint64_t time_ns)
{
    uint8_t same = account_same(&a->devices, d);

    if (d->account && same && d->account != same)
        account_join(&a->busy, d, same);
    else if (same) {
        d->account = same;
        gaps_begin(&a->busy.gpus[same - 1], time_ns);
    }
}

/* ---- the view ------------------------------------------------------------------------ */

static void sums_add(gpurt_model_busy_t *to, const gpurt_model_busy_t *more)
{
    to->ns += more->ns;
    to->kernels += more->kernels;
    to->copying += more->copying;
    to->waiting += more->waiting;
    to->launching += more->launching;
    to->idle += more->idle;
}

static uint8_t part(uint64_t ns)
{
    return (uint8_t)(ns * GPURT_TIMELINE_PARTS / SECOND_NS);
}

/* The last seconds. */
static void seconds_view(const gaps_t *g, gpurt_timeline_busy_t to[GPURT_TIMELINE_BUSY])
{
    for (uint64_t i = 0; i < GPURT_TIMELINE_BUSY; i++) {
        uint64_t start = (g->latest / SECOND_NS - i) * SECOND_NS;
        gpurt_model_busy_t sums;

        if (g->latest / SECOND_NS < i || start + SECOND_NS <= g->first)
            return;
        gaps_sums(g, start, start + SECOND_NS, &sums);
        to[i] = (gpurt_timeline_busy_t){.start_ns = start,
                                        .ns = SECOND_NS,
                                        .kernels = part(sums.kernels),
                                        .copying = part(sums.copying),
                                        .waiting = part(sums.waiting),
                                        .launching = part(sums.launching),
                                        .idle = part(sums.idle)};
    }
}

static void account_view(const gaps_t *g, gpurt_model_gpu_t *to)
{
    gpurt_model_busy_t sums;

    gaps_sums(g, 0, UINT64_MAX, &sums);
    sums_add(&to->busy, &sums);
    if (g->latest > to->recent_ns) {
        gaps_sums(g, g->latest - SECOND_NS, UINT64_MAX, &to->recent);
        to->recent_ns = g->latest;
    }
}

static void offs_view(const gaps_t *g, gpurt_timeline_off_t to[GPURT_TIMELINE_OFFS])
{
    uint32_t first =
        g->off_count < GPURT_TIMELINE_OFFS ? 0 : g->off_count + 1 - GPURT_TIMELINE_OFFS;
    uint32_t count = 0;

    for (uint32_t i = first; i < g->off_count; i++)
        to[count++] = (gpurt_timeline_off_t){g->offs[i].start, g->offs[i].end};
    if (g->off)
        to[count] = (gpurt_timeline_off_t){g->off, UINT64_MAX};
}

void model_busy_view(const model_activity_t *a, const model_places_t *p,
                     gpurt_model_activity_t *v, gpurt_timeline_t *timeline)
{
    uint32_t shown = 0; /* accounts, as bits */

    memset(timeline->busy, 0, sizeof timeline->busy);
    memset(timeline->offs, 0, sizeof timeline->offs);
    for (uint32_t i = 0; i < a->devices.count; i++) {
        uint32_t account = a->devices.list[i].account, place = p->of[i];

        if (account == 0 || shown >> account & 1)
            continue;
        shown |= 1u << account;
        if (place >= GPURT_MODEL_DEVICES) {
            v->gpus_left_out += a->busy.gpus[account - 1].told;
            continue;
        }
        account_view(&a->busy.gpus[account - 1], &v->gpus[place]);
        seconds_view(&a->busy.gpus[account - 1], timeline->busy[place]);
        offs_view(&a->busy.gpus[account - 1], timeline->offs[place]);
    }
}
