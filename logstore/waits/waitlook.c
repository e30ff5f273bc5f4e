/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot out of a box. The box may be damaged: numbers are bounded, texts are copied
 * and cut. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "defread.h"
#include "procfs.h"
#include "waitgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a look carries along. */
typedef struct look {
    const gpurt_boxmap_t *map;
    gpurt_waits_t *out;
    uint64_t now_ns, min_ns;
    uint32_t section, ring_count, object_count;
    const gpurt_group_t *lanes;
    const gpurt_waitable_entry_t *entries;
    const gpurt_threadpage_t *threads;      /* NULL: none are told of */
    const gpurt_taskpage_t *tasks;          /* NULL: likewise */
    uint64_t looked[GPURT_TASKPAGE_LOOKS];  /* when, of executors */
    uint32_t pid;                           /* whose threads they are; 0: it has ended */
    uint32_t user_count;                    /* of this section */
    uint16_t users[GPURT_THREADPAGE_USERS]; /* their places */
    gpurt_clock_fit_t fit;
} look_t;

static gpurt_status_t room_take(gpurt_waits_t *w, gpurt_error_t *err)
{
    if (!w->waits) {
        w->waits = calloc(GPURT_WAITS_MAX, sizeof *w->waits);
        w->objects = calloc(GPURT_WAIT_OBJECTS_MAX, sizeof *w->objects);
        w->sites = calloc(GPURT_WAIT_SITES_MAX, sizeof *w->sites);
        w->threads = calloc(GPURT_WAIT_THREADS_MAX, sizeof *w->threads);
        w->tasks = calloc(GPURT_WAIT_TASKS_MAX, sizeof *w->tasks);
    }
    w->count = w->object_count = w->site_count = w->left_out = w->young = 0;
    w->thread_count = w->task_count = 0;
    if (w->waits && w->objects && w->sites && w->threads && w->tasks)
        return GPURT_OK;
    gpurt_waits_fini(w);
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "waits");
}

void gpurt_waits_fini(gpurt_waits_t *w)
{
    free(w->waits);
    free(w->objects);
    free(w->sites);
    free(w->threads);
    free(w->tasks);
    memset(w, 0, sizeof *w);
}

static void text_take(char *to, size_t room, const char *from, size_t bytes, bool tail)
{
    if (bytes > room - 1) {
        from += tail ? bytes - (room - 1) : 0;
        bytes = room - 1;
    }
    memcpy(to, from, bytes);
    memset(to + bytes, 0, room - bytes);
}

/* ---- sites, objects ------------------------------------------------------------------ */
/* Returns: index, GPURT_WAIT_NOBODY where it is not known. */
static uint32_t site_index(look_t *l, uint32_t number)
{
    gpurt_waits_t *w = l->out;
    char text[GPURT_DEF_TEXT_BYTES];
    gpurt_wait_site_t *s;
    gpurt_def_t def;

    for (uint32_t i = 0; i < w->site_count; i++)
        if (w->sites[i].number == number && w->sites[i].section == l->section)
            return i;
    if (w->site_count == GPURT_WAIT_SITES_MAX ||
        !gpurt_def_read(l->map, l->section, number, &def, text))
        return GPURT_WAIT_NOBODY;
    s = &w->sites[w->site_count];
    memset(s, 0, sizeof *s);
    s->section = l->section;
    s->number = number;
    s->line = def.line;
    text_take(s->text, sizeof s->text, text, def.format_bytes, false);
    text_take(s->file, sizeof s->file, text + def.format_bytes, def.file_bytes, true);
    return w->site_count++;
}

static uint64_t real_time(const look_t *l, uint64_t time48)
{
    return gpurt_clock_real(&l->fit, time48, l->now_ns);
}

/* Its place is for who knows tasks alone. */
static bool task_owner_take(look_t *l, gpurt_group_t group, gpurt_wait_owner_t *out)
{
    gpurt_state_task_t t;

    if (!gpurt_state_task_unpack(group, &t))
        return false;
    *out = (gpurt_wait_owner_t){.place = GPURT_STATE_TASKS + t.executor,
                                .block = t.row,
                                .warp = t.generation,
                                .site = site_index(l, t.site),
                                .at_site = GPURT_WAIT_NOBODY,
                                .since_ns = real_time(l, t.time48)};
    return true;
}

static void owner_take(look_t *l, gpurt_group_t group, gpurt_wait_owner_t *out)
{
    gpurt_state_owner_t o = gpurt_state_owner_unpack(group);
    gpurt_state_wait_t at;

    if (task_owner_take(l, group, out))
        return;
    memset(out, 0, sizeof *out);
    if (o.place == 0 || (o.place - 1) / GPURT_WARP_SIZE >= l->ring_count)
        return;
    at = gpurt_state_wait_unpack(gpurt_group_load(&l->lanes[o.place - 1]));
    out->place = o.place;
    out->block = o.block;
    out->warp = o.warp;
    out->site = site_index(l, o.site);
    out->since_ns = real_time(l, o.time48);
    out->at_site = site_index(l, at.site);
    out->at_ns = at.site ? real_time(l, at.time48) : 0;
    out->gone = at.site && (at.block != o.block || at.warp != o.warp);
}

/* A thread that was ended by others never took back what it told. */
static bool has_ended(const look_t *l, uint32_t thread)
{
    return l->pid && !gpurt_thread_alive(l->pid, thread);
}

/* Once a section: most places are empty, and there may be many objects. */
static void users_find(look_t *l)
{
    gpurt_threaduser_t user;

    l->user_count = 0;
    for (uint32_t i = 0; l->threads && i < GPURT_THREADPAGE_USERS; i++)
        if (gpurt_threadpage_user(l->threads, i, &user) && user.section == l->section &&
            !has_ended(l, user.thread))
            l->users[l->user_count++] = (uint16_t)i;
}

/* Threads of the host that use it, where no lanes stand: the first one of those that share a place. */
static void users_take(look_t *l, uint32_t key, gpurt_wait_object_t *out)
{
    gpurt_threaduser_t user;

    for (uint32_t i = 0; key && i < l->user_count; i++) {
        gpurt_wait_owner_t *o;

        if (!gpurt_threadpage_user(l->threads, l->users[i], &user) || user.key != key)
            continue;
        o = &out->owners[gpurt_state_owner_at(user.role, l->users[i])];
        if (o->place)
            continue;
        *o = (gpurt_wait_owner_t){
            .place = (uint32_t)GPURT_WAIT_THREADS * GPURT_WARP_SIZE + 1,
            .block = user.thread,
            .site = GPURT_WAIT_NOBODY,
            .at_site = GPURT_WAIT_NOBODY,
            .since_ns = l->now_ns - ((l->now_ns - user.since_ns) & GPURT_TIME_MASK)};
    }
}

static uint32_t object_index(look_t *l, uint32_t number)
{
    gpurt_waits_t *w = l->out;
    char text[GPURT_DEF_TEXT_BYTES];
    const gpurt_waitable_entry_t *e;
    gpurt_wait_object_t *o;
    gpurt_def_t def;
    uint32_t kind;

    for (uint32_t i = 0; i < w->object_count; i++)
        if (w->objects[i].number == number && w->objects[i].section == l->section)
            return i;
    if (number == 0 || number > l->object_count ||
        w->object_count == GPURT_WAIT_OBJECTS_MAX)
        return GPURT_WAIT_NOBODY;
    e = &l->entries[number - 1];
    kind = gpurt_load_acquire_sys_u32(&e->xstate); /* W1.acq */
    if (kind == 0)
        return GPURT_WAIT_NOBODY;
    o = &w->objects[w->object_count];
    memset(o, 0, sizeof *o);
    o->section = l->section;
    o->number = number;
    o->kind = kind - 1 < GPURT_WAITABLE_KINDS ? kind - 1 : GPURT_WAITABLE_OTHER;
    o->index = e->index;
    if (gpurt_def_read(l->map, l->section, e->name, &def, text))
        text_take(o->name, sizeof o->name, text, def.format_bytes, false);
    for (uint32_t i = 0; i < GPURT_STATE_OWNERS; i++)
        owner_take(l, gpurt_group_load(&e->xowners[i]), &o->owners[i]);
    users_take(l, e->key, o);
    return w->object_count++;
}

/* ---- waits --------------------------------------------------------------------------- */
static void wait_add(look_t *l, uint32_t ring, uint32_t lane, const gpurt_state_wait_t *s,
                     uint32_t first)
{
    const gpurt_box_section_t *section = &l->map->sections[l->section];
    uint64_t since = real_time(l, s->time48);
    gpurt_waits_t *w = l->out;
    gpurt_wait_t *to;

    if (since > l->now_ns ? l->min_ns > 0 : l->now_ns - since < l->min_ns) {
        w->young++;
        return;
    }
    for (uint32_t i = first; i < w->count; i++) { /* of this ring */
        to = &w->waits[i];
        if (to->number == s->object && to->block == s->block && to->warp == s->warp &&
            to->reason == s->reason && to->launch == s->launch) {
            to->mask |= 1u << lane;
            to->since_ns = since < to->since_ns ? since : to->since_ns;
            return;
        }
    }
    if (w->count == GPURT_WAITS_MAX) {
        w->left_out++;
        return;
    }
    to = &w->waits[w->count++];
    memset(to, 0, sizeof *to);
    to->section = l->section;
    to->ring = ring;
    to->sm = ring / section->warp_slots;
    to->slot = ring % section->warp_slots;
    to->block = s->block;
    to->warp = s->warp;
    to->mask = 1u << lane;
    to->reason = s->reason;
    to->launch = s->launch;
    to->number = s->object;
    to->since_ns = since;
    to->site = site_index(l, s->site);
    to->object = GPURT_WAIT_NOBODY;
}

/* Whether lanes gave it that name, or one that is not known. */
static bool is_named(const look_t *l, const gpurt_waitable_entry_t *e, const char *name)
{
    char text[GPURT_DEF_TEXT_BYTES], cut[GPURT_THREADWAIT_OBJECT];
    gpurt_def_t def;

    if (!gpurt_def_read(l->map, l->section, e->name, &def, text))
        return true;
    text_take(cut, sizeof cut, text, def.format_bytes, false);
    return strcmp(cut, name) == 0;
}

/* The number that lanes have given to what a thread waits at. Memory serves again: the newest with its
 * name, for no lane may have named it yet. */
static uint32_t number_of(const look_t *l, const gpurt_threadwait_t *t)
{
    for (uint32_t number = l->object_count; number > 0; number--) {
        const gpurt_waitable_entry_t *e = &l->entries[number - 1];

        if (gpurt_load_acquire_sys_u32(&e->xstate) == t->kind + 1u && /* W1.acq */
            e->key == t->key && is_named(l, e, t->object))
            return number;
    }
    return 0;
}

/* What a thread waits at, if no lane has named it yet. */
static uint32_t object_of_thread(look_t *l, const gpurt_threadwait_t *t)
{
    gpurt_waits_t *w = l->out;
    gpurt_wait_object_t *o;

    if (w->object_count == GPURT_WAIT_OBJECTS_MAX)
        return GPURT_WAIT_NOBODY;
    o = &w->objects[w->object_count];
    memset(o, 0, sizeof *o);
    o->section = l->section;
    o->kind = t->kind < GPURT_WAITABLE_KINDS ? t->kind : GPURT_WAITABLE_OTHER;
    o->index = GPURT_WAITABLE_SINGLE;
    text_take(o->name, sizeof o->name, t->object, strlen(t->object), false);
    users_take(l, t->key, o);
    return w->object_count++;
}

static void thread_add(look_t *l, const gpurt_threadwait_t *t)
{
    uint64_t since = t->since[0] | (uint64_t)t->since[1] << 32;
    gpurt_waits_t *w = l->out;
    gpurt_wait_thread_t *thread;
    gpurt_wait_t *to;

    if (since > l->now_ns ? l->min_ns > 0 : l->now_ns - since < l->min_ns)
        return;
    if (w->count == GPURT_WAITS_MAX || w->thread_count == GPURT_WAIT_THREADS_MAX) {
        w->left_out++;
        return;
    }
    thread = &w->threads[w->thread_count];
    thread->number = t->thread;
    thread->limited = t->limited;
    memcpy(thread->name, t->name, sizeof thread->name);
    to = &w->waits[w->count++];
    *to = (gpurt_wait_t){.section = l->section,
                         .ring = GPURT_WAIT_THREADS + w->thread_count++,
                         .block = t->thread,
                         .mask = 1,
                         .reason = t->reason,
                         .number = number_of(l, t),
                         .object = GPURT_WAIT_NOBODY,
                         .site = GPURT_WAIT_NOBODY,
                         .since_ns = since};
    if (to->number == 0)
        to->object = object_of_thread(l, t);
}

static void threads_look(look_t *l)
{
    gpurt_threadwait_t t;

    for (uint32_t i = 0; l->threads && i < GPURT_THREADPAGE_WAITS; i++)
        if (gpurt_threadpage_wait(l->threads, i, &t) && t.section == l->section &&
            !has_ended(l, t.thread))
            thread_add(l, &t);
}

static void task_add(look_t *l, const gpurt_taskwait_t *t)
{
    uint64_t since = t->since[0] | (uint64_t)t->since[1] << 32;
    gpurt_waits_t *w = l->out;
    gpurt_wait_task_t *task;

    if (since > l->now_ns ? l->min_ns > 0 : l->now_ns - since < l->min_ns) {
        w->young++;
        return;
    }
    if (w->count == GPURT_WAITS_MAX || w->task_count == GPURT_WAIT_TASKS_MAX) {
        w->left_out++;
        return;
    }
    task = &w->tasks[w->task_count];
    *task = (gpurt_wait_task_t){.looked_ns = l->looked[t->executor % GPURT_TASKPAGE_LOOKS],
                                .executor = t->executor,
                                .row = t->row,
                                .generation = t->generation,
                                .why = t->why,
                                .block = t->block,
                                .warp = t->warp,
                                .sm = t->sm,
                                .awaited = t->awaited,
                                .others = t->others};
    memcpy(task->for_row, t->for_row, sizeof task->for_row);
    memcpy(task->name, t->name, sizeof task->name);
    w->waits[w->count++] =
        (gpurt_wait_t){.section = l->section,
                       .ring = GPURT_WAIT_TASKS + w->task_count++,
                       .mask = 1,
                       .reason = t->reason,
                       .number = t->number < GPURT_WAITABLE_NAMED ? t->number : 0,
                       .object = GPURT_WAIT_NOBODY,
                       .site = site_index(l, t->site),
                       .since_ns = since};
}

/* First of all: what is found behind it is of these looks, or of later ones. */
static void looks_take(look_t *l)
{
    for (uint32_t i = 0; i < GPURT_TASKPAGE_LOOKS; i++)
        l->looked[i] = gpurt_taskpage_look_of(l->tasks, i);
    l->out->left_out = gpurt_taskpage_left_out(l->tasks);
}

static void tasks_look(look_t *l)
{
    gpurt_taskwait_t t;

    for (uint32_t i = 0; l->tasks && i < GPURT_TASKPAGE_WAITS; i++)
        if (gpurt_taskpage_wait(l->tasks, i, &t) && t.section == l->section)
            task_add(l, &t);
}

static void lanes_look(look_t *l)
{
    for (uint32_t ring = 0; ring < l->ring_count; ring++) {
        uint32_t first = l->out->count;

        for (uint32_t lane = 0; lane < GPURT_WARP_SIZE; lane++) {
            gpurt_state_wait_t s = gpurt_state_wait_unpack(
                gpurt_group_load(&l->lanes[ring * GPURT_WARP_SIZE + lane]));

            if (s.reason != GPURT_WAIT_NONE)
                wait_add(l, ring, lane, &s, first);
        }
    }
}

/* idle: no lane waits, whatever one has left behind. */
static void section_look(look_t *l, gpurt_state_head_t *head, bool idle)
{
    uint32_t begin = l->out->count;

    l->ring_count = l->map->sections[l->section].ring_count;
    l->lanes = gpurt_state_waits(head);
    l->entries = gpurt_state_entries(head, l->ring_count);
    if (!idle)
        lanes_look(l);
    users_find(l);
    threads_look(l);
    tasks_look(l);
    /* Owners last: who holds an object now is not younger than the waits above. */
    for (uint32_t i = begin; i < l->out->count; i++)
        if (l->out->waits[i].number)
            l->out->waits[i].object = object_index(l, l->out->waits[i].number);
}

/* Whether all launches have ended, as far as the application counts them: then no lane
 * waits, whatever a cancelled one has left behind. */
static bool is_idle(const gpurt_box_t *box)
{
    uint32_t begun = gpurt_load_relaxed_sys_u32(&box->xwork); /* relaxed: a hint */

    return begun &&
           begun == gpurt_load_relaxed_sys_u32(&box->xended); /* relaxed: as above */
}

gpurt_status_t gpurt_waits_look(const gpurt_boxmap_t *map, uint64_t now_ns, uint64_t min_ns,
                                gpurt_waits_t *out, gpurt_error_t *err)
{
    look_t l = {.map = map, .out = out, .now_ns = now_ns, .min_ns = min_ns};
    gpurt_status_t st = room_take(out, err);

    if (st != GPURT_OK)
        return st;
    out->time_ns = now_ns;
    for (uint32_t s = 0; s < map->section_count && !l.threads; s++) {
        l.threads = gpurt_boxmap_threads(map, s);
        l.tasks = gpurt_boxmap_tasks(map, s);
    }
    if (l.tasks)
        looks_take(&l);
    if (l.threads && gpurt_boxmap_alive(map))
        l.pid = map->box->identity.pid;
    for (l.section = 0; l.section < map->section_count; l.section++) {
        gpurt_state_head_t *head = gpurt_boxmap_state(map, l.section, &l.object_count);

        if (head && gpurt_boxmap_clock(map, l.section, &l.fit))
            section_look(&l, head, is_idle(map->box));
    }
    return GPURT_OK;
}
