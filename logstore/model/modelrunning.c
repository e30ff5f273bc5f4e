/* SPDX-License-Identifier: Apache-2.0 */
/* What runs and has not ended, as each process's collector said last: records of one process and time
 * are all of it. */
#include "modelpart.h"

#include <string.h>

enum {
    SAMPLED_S = 2, /* samples that came so long before still tell what runs */
    SAMPLED_PART = 50
};

static void program_drop(model_running_t *r, uint32_t program)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < r->count; i++)
        if (r->list[i].program != program)
            r->list[kept++] = r->list[i];
    r->count = kept;
    r->left_out[program] = 0;
}

void model_running_put(model_running_t *r, const gpurt_row_t *row,
                       const gpurt_activity_running_t *words)
{
    if (row->time_ns < r->time_ns[row->program])
        return; /* it is no longer so */
    if (row->time_ns > r->time_ns[row->program])
        program_drop(r, row->program);
    r->time_ns[row->program] = row->time_ns;
    if (words->queued == 0)
        return;
    if (r->count == GPURT_MODEL_RUNNING)
        r->left_out[row->program]++;
    else
        r->list[r->count++] = (model_launch_t){
            .program = row->program, .device = row->block, .words = *words};
}

/* The newest second of which there are samples, if that is just now; 0: there is none. */
static uint64_t second_of(const model_lines_t *l, uint64_t now_ns)
{
    uint64_t newest = 0;

    for (uint32_t i = 0; i < l->count; i++)
        if (l->cells[i].second > newest)
            newest = l->cells[i].second;
    return newest + SAMPLED_S >= now_ns / SECOND_NS ? newest : 0;
}

/* Whether warps were met in it just now, more than what a kernel before it may have left of that
 * second. */
static bool is_sampled(const model_lines_t *l, uint32_t name, uint64_t now_ns)
{
    const uint64_t second = second_of(l, now_ns);
    uint64_t its = 0, all = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        if (l->cells[i].second != second)
            continue;
        all += l->cells[i].samples;
        if (l->cells[i].function == name)
            its += l->cells[i].samples;
    }
    return its && its * SAMPLED_PART >= all;
}

/* A log of before has none. */
static void frames_view(const gpurt_model_t *m, uint32_t id, char to[GPURT_MODEL_FRAMES])
{
    to[0] = '\0';
    if (id)
        model_name(m, id, to, GPURT_MODEL_FRAMES);
}

static void launch_view(const gpurt_model_t *m, const model_places_t *places,
                        const model_launch_t *from, gpurt_model_running_t *to)
{
    const model_activity_t *a = &m->activity;
    const uint64_t age = gpurt_pair_value(from->words.age);

    to->told_ns = a->running.time_ns[from->program];
    to->since_ns = age < to->told_ns ? to->told_ns - age : 0;
    to->stream = gpurt_pair_value(from->words.stream);
    memcpy(to->grid, from->words.grid, sizeof to->grid);
    memcpy(to->block, from->words.block, sizeof to->block);
    to->queued = from->words.queued;
    to->place = from->words.place;
    to->thread = from->words.thread;
    to->pid = model_pid_of(m, from->program);
    to->gpu = model_place_of(&a->devices, places, from->program, from->device);
    to->sampled = is_sampled(&a->lines, from->words.name, to->told_ns);
    model_name(m, from->words.name, to->name, sizeof to->name);
    to->whose = from->words.whose;
    frames_view(m, from->words.calls, to->calls);
    frames_view(m, from->words.python, to->python);
}

void model_running_view(const gpurt_model_t *m, const model_places_t *places,
                        gpurt_model_activity_t *v)
{
    const model_running_t *r = &m->activity.running;

    v->running_count = r->count;
    v->running_left_out = 0;
    for (uint32_t i = 0; i <= GPLOG_PROGRAM_OTHERS; i++)
        v->running_left_out += r->left_out[i];
    for (uint32_t i = 0; i < r->count; i++)
        launch_view(m, places, &r->list[i], &v->running[i]);
}
