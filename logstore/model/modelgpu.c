/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of a log of several processes. Each process counts its devices from 0, and a launcher
 * that gives each process one GPU makes that 0 in all of them; others see all GPUs, and number
 * them alike. So sums are kept by process and number, and put together by what the driver calls
 * a GPU, its UUID, when somebody looks: then they do not depend on the order of rows. */
#include "modelpart.h"
#include "program.h"

#include <string.h>

/* ---- rows ---------------------------------------------------------------------------- */

/* Returns: which of the list; MODEL_DEVICES: there is no room for it, or who shares a number
 * with others has it. */
static uint32_t device_index(model_devices_t *d, uint32_t program, uint32_t number)
{
    uint8_t *of;

    if (program >= MODEL_PROGRAMS || number >= GPURT_MODEL_DEVICES)
        return MODEL_DEVICES;
    of = &d->of[program][number];
    if (*of == 0) {
        if (d->count == MODEL_DEVICES)
            return MODEL_DEVICES;
        d->list[d->count].program = (uint8_t)program;
        d->list[d->count].number = (uint8_t)number;
        *of = (uint8_t)++d->count;
    }
    return *of - 1u;
}

model_device_t *model_device_of(model_devices_t *d, uint32_t program, uint32_t number)
{
    uint32_t at = device_index(d, program, number);

    return at < MODEL_DEVICES ? &d->list[at] : NULL;
}

/* Its ring of the timeline: those that come when all are taken are in the sums alone. */
static uint32_t ring_of(model_devices_t *all, model_device_t *d)
{
    if (d->ring == 0 && all->rings < GPURT_TIMELINE_RINGS)
        d->ring = (uint8_t)++all->rings;
    return d->ring ? d->ring - 1u : GPURT_TIMELINE_RINGS;
}

static void put_sample(gpurt_model_gpu_t *gpu, const gpurt_activity_sample_t *row)
{
    gpu->samples++;
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        if (row->percent[i] >= 0) {
            gpu->measures[i].count++;
            gpu->measures[i].sum += (uint32_t)row->percent[i];
        }
}

static void put_environment(gpurt_model_gpu_t *gpu, uint64_t time_ns,
                            const gpurt_activity_environment_t *row)
{
    if (time_ns < gpu->environment_ns)
        return;
    gpu->environment_ns = time_ns;
    gpu->environment = *row;
}

void model_device_put(model_activity_t *a, const gpurt_row_t *row, const void *words)
{
    uint32_t at = device_index(&a->devices, row->program, row->block);
    model_device_t *d = &a->devices.list[at];

    if (at == MODEL_DEVICES) {
        a->devices.left_out += row->kind != GPURT_KIND_DEVICE;
        return;
    }
    if (row->kind == GPURT_KIND_DEVICE) {
        memcpy(&d->limits, words, sizeof d->limits);
        model_busy_begin(a, d, row->time_ns);
        return;
    }
    d->records++;
    model_busy_watched(a, d, row->time_ns);
    if (row->kind == GPURT_KIND_SAMPLE) {
        put_sample(&d->sums, words);
        gpurt_timeline_put_sample(&a->timeline, ring_of(&a->devices, d), row->time_ns,
                                  words);
    } else
        put_environment(&d->sums, row->time_ns, words);
}

/* ---- places -------------------------------------------------------------------------- */

bool model_has_uuid(const model_device_t *d)
{
    static const uint8_t none[sizeof d->limits.uuid];

    return memcmp(d->limits.uuid, none, sizeof none) != 0;
}

/* By process and number, whoever came first. */
static uint32_t devices_order(const model_devices_t *d, uint8_t order[MODEL_DEVICES])
{
    uint32_t count = 0;

    for (uint32_t program = 0; program < MODEL_PROGRAMS && count < d->count; program++)
        for (uint32_t number = 0; number < GPURT_MODEL_DEVICES; number++)
            if (d->of[program][number])
                order[count++] = (uint8_t)(d->of[program][number] - 1);
    return count;
}

/* Who stands where, while places are given. */
typedef struct holders {
    const model_device_t *at[GPURT_MODEL_DEVICES];
} holders_t;

static uint32_t place_of_uuid(const holders_t *h, const model_device_t *d)
{
    uint32_t place = 0;

    while (place < GPURT_MODEL_DEVICES &&
           !(h->at[place] &&
             memcmp(h->at[place]->limits.uuid, d->limits.uuid, sizeof d->limits.uuid) == 0))
        place++;
    return place;
}

static uint32_t place_free(const holders_t *h)
{
    uint32_t place = 0;

    while (place < GPURT_MODEL_DEVICES && h->at[place])
        place++;
    return place;
}

typedef enum turn {
    TURN_OWN,    /* a GPU stands where its number is, the first one of each number */
    TURN_NUMBER, /* one that nobody knows the UUID of stands there, too */
    TURN_OTHER   /* the rest stand where there is room */
} turn_t;

/* Returns: its place; GPURT_MODEL_DEVICES: none in this turn. */
static uint32_t place_take(holders_t *h, const model_device_t *d, turn_t turn)
{
    uint32_t place;

    if (model_has_uuid(d) == (turn == TURN_NUMBER))
        return GPURT_MODEL_DEVICES;
    place = turn == TURN_NUMBER ? d->number : place_of_uuid(h, d);
    if (place == GPURT_MODEL_DEVICES && turn == TURN_OWN && !h->at[d->number])
        place = d->number;
    if (place == GPURT_MODEL_DEVICES && turn == TURN_OTHER)
        place = place_free(h);
    if (place < GPURT_MODEL_DEVICES && !h->at[place])
        h->at[place] = d;
    return place;
}

void model_places_find(const model_devices_t *d, model_places_t *out)
{
    holders_t holders = {{NULL}};
    uint8_t order[MODEL_DEVICES];
    uint32_t count = devices_order(d, order);

    memset(out, 0, sizeof *out);
    memset(out->of, GPURT_MODEL_DEVICES, sizeof out->of);
    for (turn_t turn = TURN_OWN; turn <= TURN_OTHER; turn++)
        for (uint32_t i = 0; i < count; i++)
            if (out->of[order[i]] == GPURT_MODEL_DEVICES)
                out->of[order[i]] = (uint8_t)place_take(&holders, &d->list[order[i]], turn);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = out->of[order[i]];

        if (place < GPURT_MODEL_DEVICES && !out->known[place] &&
            d->list[order[i]].limits.warp)
            out->known[place] = &d->list[order[i]];
    }
}

static const model_device_t *device_find(const model_devices_t *d, uint32_t program,
                                         uint32_t number)
{
    if (program >= MODEL_PROGRAMS || number >= GPURT_MODEL_DEVICES ||
        d->of[program][number] == 0)
        return NULL;
    return &d->list[d->of[program][number] - 1];
}

/* One that nothing is known of but what ran there goes by its number. */
uint32_t model_place_of(const model_devices_t *d, const model_places_t *p, uint32_t program,
                        uint32_t number)
{
    const model_device_t *one = device_find(d, program, number);

    if (one)
        return p->of[one - d->list];
    if (number < GPURT_MODEL_DEVICES &&
        (program >= MODEL_PROGRAMS || d->count == MODEL_DEVICES))
        return GPURT_MODEL_DEVICES;
    return number;
}

const gpurt_activity_device_t *model_limits_of(const model_devices_t *d,
                                               const model_places_t *p, uint32_t program,
                                               uint32_t number)
{
    const model_device_t *one = device_find(d, program, number);
    uint32_t place = model_place_of(d, p, program, number);

    if (one && one->limits.warp)
        return &one->limits;
    return place < GPURT_MODEL_DEVICES && p->known[place] ? &p->known[place]->limits : NULL;
}

/* ---- the view ------------------------------------------------------------------------ */

static void sums_add(gpurt_model_gpu_t *to, const gpurt_model_gpu_t *more)
{
    put_environment(to, more->environment_ns, &more->environment);
    to->samples += more->samples;
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++) {
        to->measures[i].count += more->measures[i].count;
        to->measures[i].sum += more->measures[i].sum;
    }
}

static void gpu_add(const gpurt_model_t *m, gpurt_model_gpu_t *to, uint32_t place,
                    const model_device_t *d)
{
    sums_add(to, &d->sums);
    if (model_has_uuid(d))
        memcpy(to->uuid, d->limits.uuid, sizeof to->uuid);
    if (d->limits.warp)
        to->arch = 10 * d->limits.major + d->limits.minor;
    if (d->limits.name)
        model_name(m, d->limits.name, to->name, sizeof to->name);
    if (d->number == place || to->other_names++)
        return;
    to->other_pid = model_pid_of(m, d->program);
    to->other_number = d->number;
}

void model_gpus_view(const gpurt_model_t *m, const model_places_t *p,
                     gpurt_model_activity_t *v)
{
    const model_devices_t *d = &m->activity.devices;
    uint8_t order[MODEL_DEVICES];
    uint32_t count = devices_order(d, order);

    memset(v->gpus, 0, sizeof v->gpus);
    v->gpus_left_out = d->left_out;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = p->of[order[i]];

        if (place < GPURT_MODEL_DEVICES)
            gpu_add(m, &v->gpus[place], place, &d->list[order[i]]);
        else
            v->gpus_left_out += d->list[order[i]].records;
    }
}

void model_timeline_view(const gpurt_model_t *m, const model_places_t *p,
                         gpurt_timeline_t *v)
{
    const model_devices_t *d = &m->activity.devices;

    *v = m->activity.timeline;
    for (uint64_t i = 0; i < v->lane_count; i++) {
        gpurt_timeline_lane_t *l = &v->lanes[i];

        l->pid = model_pid_of(m, l->program);
        if (l->kind == GPURT_TIMELINE_STREAM)
            l->gpu = model_place_of(d, p, l->program, l->device);
    }
    for (uint32_t i = 0; i < d->count; i++)
        if (d->list[i].ring)
            v->ring_gpu[d->list[i].ring - 1] = p->of[i];
}
