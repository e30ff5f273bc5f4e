/* SPDX-License-Identifier: Apache-2.0 */
/* What a person reads when a kernel failed: one line that says what, then who stands where.
 * Lanes that stand alike are one line; a few of them tell their backtrace. Main fiber only. */
#include "failure.h"

#include <gpurt/atomic.h>

#include "message.h"
#include "outfile.h"
#include "plural.h"
#include "tell.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPORT_BYTES = 16 * 1024,
    REPORT_GROUPS = 24,
    REPORT_TRACES = 6,
    REPORT_MESSAGE = 1024 /* of a panic */
};

/* Owner: the function that builds it. Full: the rest is left out and the last line says so. */
typedef struct report {
    char *text;
    size_t room, used;
    bool full, plain; /* plain: nothing may be allocated */
    uint32_t groups, traces;
    simt_failure_t *told; /* takes the calls of its lane; or NULL */
} report_t;

static void GPURT_PRINTF(2, 3) add(report_t *r, const char *fmt, ...)
{
    va_list args;
    int n;

    if (r->full || !r->text)
        return;
    va_start(args, fmt);
    n = vsnprintf(r->text + r->used, r->room - r->used, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= r->room - r->used) {
        r->full = true;
        snprintf(r->text + r->room - 32, 32, "\n  (and more, left out)\n");
        return;
    }
    r->used += (size_t)n;
}

static report_t report_begin(simt_failure_t *told)
{
    report_t r = {.text = (char *)malloc(REPORT_BYTES), .room = REPORT_BYTES, .told = told};

    if (r.text)
        r.text[0] = '\0';
    return r;
}

static void add_frame(void *to, const simt_symbol_t *s)
{
    add((report_t *)to, s->where ? "        %.200s (%.100s)\n" : "        %.200s\n",
        s->function, s->where);
}

/* Of the lane that the failure is told of. */
static void add_told_frame(void *to, const simt_symbol_t *s)
{
    add_frame(to, s);
    simt_failure_call(((report_t *)to)->told, s->function, s->path, s->line);
}

static void add_frames(report_t *r, const simt_fault_t *f, const simt_lane_t *lane)
{
    bool told = r->told && r->told->lane == lane;

    simt_symbols_walk(f->trace, f->frames, f->first_is_fault, !r->plain,
                      told ? add_told_frame : add_frame, r);
}

static void add_block_name(report_t *r, const simt_block_t *b)
{
    const gpurt_simt_block_t *s = &b->self;

    if (s->grid.y == 1 && s->grid.z == 1)
        add(r, "block %u", s->index.x);
    else
        add(r, "block (%u,%u,%u)", s->index.x, s->index.y, s->index.z);
}

static void add_lane_name(report_t *r, const simt_lane_t *l)
{
    const gpurt_dim3_t *d = &l->warp->block->self.dim;

    add_block_name(r, l->warp->block);
    add(r, " thread %u", l->rank);
    if (d->y > 1 || d->z > 1)
        add(r, " (%u,%u,%u)", l->self.thread.x, l->self.thread.y, l->self.thread.z);
    add(r, " (warp %u lane %u)", l->rank / GPURT_WARP_SIZE, l->self.lane);
}

/* Which device, where there are several to confuse it with. */
static void add_kernel_name(report_t *r, const simt_launch_t *l, const simt_worker_t *k)
{
    add(r, "%s", l->kernel->name);
    if (!simt_device_is_alone())
        add(r, " on device %d", (int)k->device->number);
}

static const char *op_name(uint32_t op)
{
    static const char *const names[] = {"syncwarp", "ballot",  "match_any", "match_all",
                                        "shfl",     "shfl_up", "shfl_down", "shfl_xor"};

    return op < sizeof names / sizeof names[0] ? names[op] : "reduce";
}

/* ---- where lanes stand ------------------------------------------------------------------------- */
static void add_warp_op(report_t *r, const simt_lane_t *l)
{
    const simt_warp_t *w = l->warp;
    uint32_t missing = l->mask & w->all & ~w->done & ~w->waiting;

    add(r, "wait in %s, mask %08x, for lanes %08x", op_name(l->op), l->mask, missing);
}

/* relaxed: of a lock that is held by a lane asleep, or by nobody who runs */
static void add_holder(report_t *r, const gpurt_spot_t *p)
{
    uint64_t place = p->holder ? gpurt_load_relaxed_dev_u64(p->holder) : 0;

    if (!place)
        return;
    add(r, ", held by block %u thread %u", gpurt_place_block(place),
        gpurt_place_thread(place));
    if (p->held && *p->held)
        add(r, " since %s", *p->held);
}

static void add_sleep(report_t *r, const gpurt_spot_t *p)
{
    add(r, "waits for %s", p->kind);
    if (p->name && p->index != UINT32_MAX)
        add(r, " \"%s[%u]\"", p->name, p->index);
    else if (p->name)
        add(r, " \"%s\"", p->name);
    else
        add(r, " %p", p->word);
    add_holder(r, p);
}

static void add_state(report_t *r, const simt_lane_t *l)
{
    const simt_block_t *b = l->warp->block;

    switch ((simt_state_t)l->state) {
    case SIMT_AT_WARP:
        add_warp_op(r, l);
        break;
    case SIMT_AT_BARRIER:
        if (l->barrier == 0)
            add(r, "wait at the block barrier: %u of %u thread%s came",
                b->barriers[0].arrived, b->live, gpurt_plural(b->live, "s"));
        else
            add(r, "wait at named barrier %u: %u of %u threads came", l->barrier,
                b->barriers[l->barrier].arrived, b->barriers[l->barrier].expected);
        break;
    case SIMT_AT_CLUSTER:
        add(r, "wait at the cluster barrier: %u of %u thread%s came", b->cluster->arrived,
            b->cluster->live, gpurt_plural(b->cluster->live, "s"));
        break;
    case SIMT_AT_GRID:
        add(r, "wait at the grid barrier: %u of %llu blocks came",
            gpurt_load_relaxed_dev_u32(&b->launch->xgrid_arrived), /* a snapshot */
            (unsigned long long)b->launch->block_count);
        break;
    case SIMT_AT_WORD:
        add_sleep(r, l->sleep.spot);
        break;
    case SIMT_DONE:
        add(r, "ended");
        break;
    case SIMT_PARKED:
        add(r, "in activemask");
        break;
    case SIMT_READY:
        if (l->at_host)
            add(r, "waits for a word of the host's");
        else if (l->awaits)
            add(r, "waits for %s \"%s\", relaxed %u time%s", l->awaits, l->awaits_name,
                l->spins, gpurt_plural(l->spins, "s"));
        else
            add(r, l->spins ? "spins, relaxed %u time%s" : "can run", l->spins,
                gpurt_plural(l->spins, "s"));
        break;
    }
    if (l->site && l->state != SIMT_DONE)
        add(r, ", at %s", l->site);
    add(r, "\n");
}

static bool stand_alike(const simt_lane_t *a, const simt_lane_t *b)
{
    return a->state == b->state && a->warp == b->warp &&
           (a->state == SIMT_DONE ||
            (a->site == b->site && a->barrier == b->barrier &&
             (a->state != SIMT_AT_WARP || (a->mask == b->mask && a->op == b->op)) &&
             !a->spins == !b->spins && a->awaits == b->awaits &&
             (a->state != SIMT_AT_WORD || a->sleep.spot->word == b->sleep.spot->word)));
}

/* The lane runs once more, to say where it is. It never goes on after that: its launch fails. */
static void add_backtrace(report_t *r, simt_worker_t *k, simt_lane_t *l)
{
    if (!l->fiber || l->state == SIMT_DONE || r->traces++ >= REPORT_TRACES)
        return;
    l->tell = true;
    k->fault.frames = 0;
    k->fault.first_is_fault = false;
    simt_lane_run(k, l);
    if (k->errand == SIMT_ERRAND_TOLD)
        add_frames(r, &k->fault, l);
    k->errand = SIMT_ERRAND_NONE;
    k->subject = NULL;
}

static void add_block(report_t *r, simt_worker_t *k, simt_block_t *b)
{
    for (uint32_t t = 0; t < b->threads && r->groups < REPORT_GROUPS;) {
        simt_lane_t *l = &b->lanes[t];
        uint32_t end = t + 1;

        while (end < b->threads && stand_alike(l, &b->lanes[end]))
            end++;
        r->groups++;
        add(r, "  ");
        add_block_name(r, b);
        if (end - t == 1)
            add(r, " thread %u: ", t);
        else
            add(r, " threads %u..%u: ", t, end - 1);
        add_state(r, l);
        add_backtrace(r, k, l);
        t = end;
    }
}

/* ---- what is told of it to the box ----------------------------------------------------------------- */
/* The lane, and those of its warp that stand as it does. */
static void told_lane(simt_failure_t *f, const simt_lane_t *lane)
{
    const simt_warp_t *w = lane->warp;

    f->lane = lane;
    f->site = lane->site;
    f->kernel = w->block->launch->kernel->name;
    f->mask = w->all & ~w->done;
    for (uint32_t m = f->mask; m; m &= m - 1)
        if (stand_alike(lane, &w->lanes[__builtin_ctz(m)]))
            f->failed |= m & (0u - m);
}

static void told_hang(simt_failure_t *f, uint32_t category, const char *title)
{
    memset(f, 0, sizeof *f);
    f->category = category;
    f->title = title;
    f->what = "";
}

/* A deadlock's: the first that has not ended. */
static void told_deadlock(simt_failure_t *f, const simt_block_t *b)
{
    uint32_t t = 0;

    told_hang(f, GPURT_CATEGORY_DEADLOCK, "deadlock");
    while (t + 1 < b->threads && b->lanes[t].state == SIMT_DONE)
        t++;
    told_lane(f, &b->lanes[t]);
    f->what = ": no lane of the block can ever run again";
}

static const simt_lane_t *first_spinner(const simt_worker_t *k, const simt_launch_t *l)
{
    for (uint32_t i = 0; i < k->block_count; i++)
        for (uint32_t t = 0; k->blocks[i]->launch == l && t < k->blocks[i]->threads; t++)
            if (k->blocks[i]->lanes[t].state == SIMT_READY && k->blocks[i]->lanes[t].spins)
                return &k->blocks[i]->lanes[t];
    return NULL;
}

static void told_livelock(simt_failure_t *f, const simt_worker_t *k, const simt_launch_t *l,
                          bool occupancy)
{
    const simt_lane_t *lane = first_spinner(k, l);

    told_hang(f, occupancy ? GPURT_CATEGORY_OCCUPANCY : GPURT_CATEGORY_LIVELOCK,
              occupancy ? "occupancy deadlock" : "livelock");
    if (lane)
        told_lane(f, lane);
    f->what = occupancy ? ": resident lanes only spin, and %u of %u blocks have not begun"
                        : ": every lane that can run only spins";
    if (!occupancy)
        return;
    f->args[0] = (l->unit_count - l->next_unit) * l->cluster_size;
    f->args[1] = l->block_count;
    f->types = GPURT_TYPE_U64 | GPURT_TYPE_U64 << 4;
    f->arg_count = 2;
}

static uint32_t fault_category(const simt_fault_t *fault)
{
    static const struct {
        gpurt_status_t status;
        int signal;
        uint32_t category;
    } rows[] = {
        {GPURT_E_STACK, SIGSEGV, GPURT_CATEGORY_STACK},
        {GPURT_E_TRAP, 0, GPURT_CATEGORY_TRAP},
        {GPURT_E_SYNC, 0, GPURT_CATEGORY_SYNC},
        {GPURT_E_SCOPE, 0, GPURT_CATEGORY_SCOPE},
        {GPURT_E_SHARED, 0, GPURT_CATEGORY_SHARED},
        {GPURT_E_DEADLOCK, 0, GPURT_CATEGORY_DEADLOCK},
        {GPURT_E_FAULT, SIGBUS, GPURT_CATEGORY_BUS},
        {GPURT_E_FAULT, SIGFPE, GPURT_CATEGORY_ARITHMETIC},
        {GPURT_E_FAULT, SIGILL, GPURT_CATEGORY_INSTRUCTION},
        {GPURT_E_FAULT, SIGABRT, GPURT_CATEGORY_ABORT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == fault->status && rows[i].signal == fault->signal)
            return rows[i].category;
    return GPURT_CATEGORY_ADDRESS;
}

static void told_fault(simt_failure_t *f, const simt_lane_t *lane,
                       const simt_fault_t *fault)
{
    uint32_t category = fault_category(fault);

    memset(f, 0, sizeof *f);
    f->category = category;
    f->lane = lane;
    f->site = fault->site;
    f->kernel = lane->warp->block->launch->kernel->name;
    f->mask = f->failed = 1u << lane->self.lane;
    if (fault->other && fault->other->warp == lane->warp)
        f->mask |= 1u << fault->other->self.lane;
    f->title = fault->what;
    f->what = "";
    if (category != GPURT_CATEGORY_ADDRESS && category != GPURT_CATEGORY_BUS)
        return;
    f->what = ", address %p";
    f->args[0] = (uint64_t)(uintptr_t)fault->addr;
    f->types = GPURT_TYPE_PTR;
    f->arg_count = 1;
}

/* ---- the reports ----------------------------------------------------------------------------------- */
char *simt_report_deadlock(simt_worker_t *k, simt_block_t *b, simt_failure_t *told)
{
    report_t r = report_begin(told);

    told_deadlock(told, b);
    add(&r, "deadlock in kernel ");
    add_kernel_name(&r, b->launch, k);
    add(&r, ": no lane of ");
    add_block_name(&r, b);
    add(&r, " can ever run again\n");
    add_block(&r, k, b);
    for (uint32_t i = 0; b->cluster && i < b->cluster->size; i++)
        if (b->cluster->blocks[i] && b->cluster->blocks[i] != b)
            add_block(&r, k, b->cluster->blocks[i]);
    add(&r,
        "  every lane of a mask must reach the operation, every thread that has not ended "
        "must reach the barrier\n");
    return r.text;
}

char *simt_report_livelock(simt_worker_t *k, simt_launch_t *l, bool occupancy,
                           simt_failure_t *told)
{
    report_t r = report_begin(told);

    told_livelock(told, k, l, occupancy);
    add(&r, occupancy ? "occupancy deadlock in kernel " : "livelock in kernel ");
    add_kernel_name(&r, l, k);
    if (occupancy)
        add(&r,
            ": resident lanes only spin, and %llu of %llu blocks have not begun (at most "
            "%u "
            "resident at once)\n",
            (unsigned long long)(l->unit_count - l->next_unit) * l->cluster_size,
            (unsigned long long)l->block_count, l->residents * l->cluster_size);
    else
        add(&r, ": every lane that can run only spins\n");
    for (uint32_t i = 0; i < k->block_count; i++)
        if (k->blocks[i]->launch == l)
            add_block(&r, k, k->blocks[i]);
    add(&r,
        occupancy ? "  on a GPU with as little room this hangs: launch no more blocks than "
                    "gpurt_occupancy says, or do not wait for later blocks\n"
                  : "  what they wait for was never written, or its writer is one of them; "
                    "%s sets how long is too long\n",
        k->device->config.seeded ? "GPURT_SPIN_LIMIT (rounds)" : "GPURT_SPIN_LIMIT_MS");
    return r.text;
}

char *simt_report_asleep(simt_worker_t *k, simt_block_t *b, bool occupancy,
                         simt_failure_t *told)
{
    report_t r = report_begin(told);

    told_deadlock(told, b);
    add(&r, "deadlock in kernel ");
    add_kernel_name(&r, b->launch, k);
    add(&r, ": lanes wait, and no lane is left that could wake them\n");
    for (uint32_t i = 0; i < k->block_count; i++)
        if (k->blocks[i]->launch == b->launch)
            add_block(&r, k, k->blocks[i]);
    if (occupancy)
        add(&r,
            "  %llu of %llu blocks have not begun: on a GPU with as little room this "
            "hangs; "
            "launch no more blocks than gpurt_occupancy says\n",
            (unsigned long long)(b->launch->unit_count - b->launch->next_unit) *
                b->launch->cluster_size,
            (unsigned long long)b->launch->block_count);
    return r.text;
}

/* Of a circle of lanes, of any worker. */
static void add_link(void *to, const simt_lane_t *lane)
{
    report_t *r = (report_t *)to;

    add(r, "  ");
    add_lane_name(r, lane);
    add(r, ": ");
    add_state(r, lane);
}

static void add_narrow(report_t *r, const simt_narrow_t *n)
{
    if (n->shared) {
        add(r,
            "  word %p: on a GPU a far atomic, or a red_ of dev or sys scope, takes that "
            "for "
            "an illegal address: use blk scope\n",
            n->addr);
        return;
    }
    if (n->missing) {
        add(r,
            "  word %p: on a GPU a near atomic looks for it in the block's shared memory: "
            "use blk scope\n",
            n->addr);
        return;
    }
    add(r,
        "  word %p: block %u used a %s-scope atomic on it, block %u uses it too; on a GPU "
        "their updates can pass each other: use dev scope\n",
        n->addr, n->narrow, n->scope, n->user);
}

char *simt_report_fault(simt_worker_t *k, simt_lane_t *lane, const simt_fault_t *fault,
                        simt_failure_t *told)
{
    report_t r = report_begin(told);

    told_fault(told, lane, fault);
    add(&r, "%s in kernel ", fault->what);
    add_kernel_name(&r, lane->warp->block->launch, k);
    add(&r, ": ");
    add_lane_name(&r, lane);
    if (fault->signal)
        add(&r, ", address %p", fault->addr);
    if (fault->site)
        add(&r, ", at %s", fault->site);
    add(&r, "\n");
    add_frames(&r, fault, lane);
    if (fault->status == GPURT_E_DEADLOCK)
        simt_park_walk(lane, add_link, &r);
    if (fault->status == GPURT_E_SCOPE)
        add_narrow(&r, &k->narrow);
    if (fault->status == GPURT_E_STACK)
        add(&r,
            "  a lane has %u KiB; raise gpurt_cpu_options_t.stack_bytes or "
            "GPURT_STACK_BYTES, and mind that a GPU has less\n",
            lane->warp->block->worker->device->config.cpu.stack_bytes / 1024);
    if (fault->status == GPURT_E_SYNC) {
        add(&r, "  ");
        add_lane_name(&r, lane);
        add(&r, ": ");
        add_state(&r, lane);
    }
    if (fault->other) {
        add(&r, "  ");
        add_lane_name(&r, fault->other);
        add(&r, ": ");
        add_state(&r, fault->other);
    }
    return r.text;
}

void simt_report_dying(simt_worker_t *k, simt_lane_t *lane, char *text, size_t bytes,
                       simt_failure_t *told)
{
    report_t r = {.text = text, .room = bytes, .plain = true, .told = told};

    text[0] = '\0';
    told_fault(told, lane, &k->fault);
    add(&r, "%s in kernel ", k->fault.what);
    add_kernel_name(&r, lane->warp->block->launch, k);
    add(&r, ": ");
    add_lane_name(&r, lane);
    add(&r, "\n");
    add_frames(&r, &k->fault, lane);
    add(&r, "  the process ends with it\n");
}

char *simt_report_panic(simt_worker_t *k, simt_lane_t *lane, const gpurt_simt_panic_t *p)
{
    report_t r = report_begin(NULL);
    char text[REPORT_MESSAGE];

    simt_message(p, k->device->index, text, sizeof text);
    add(&r, "panic in kernel ");
    add_kernel_name(&r, lane->warp->block->launch, k);
    add(&r, ": ");
    add_lane_name(&r, lane);
    add(&r, ": %s, at %s:%u\n", text, p->file, p->line);
    if (p->mask & (p->mask - 1))
        add(&r, "  lanes %08x came together, %08x panicked\n", p->mask, p->failed);
    add_frames(&r, &k->fault, lane);
    return r.text;
}

/* ---- what outlives the launch ----------------------------------------------------------------------- */
static void counters_write(const simt_device_t *d, FILE *f)
{
    uint64_t switches = 0, hash = 0;

    for (uint32_t i = 0; i < d->worker_count; i++) {
        switches += gpurt_load_relaxed_dev_u64(&d->workers[i].xswitches); /* a snapshot */
        hash ^= gpurt_load_relaxed_dev_u64(&d->workers[i].xhash);
    }
    fprintf(f, "hash %016llx\nswitches %llu\nreplayable %s\n", (unsigned long long)hash,
            (unsigned long long)switches, d->replayable ? "yes" : "no");
}

static void verdict_write(const simt_device_t *d, gpurt_status_t status, const char *text)
{
    static const char *const schedules[] = {"default", "random", "pct"};
    const gpurt_cpu_options_t *c = &d->config.cpu;
    const char *panic = simt_panics_first();
    gpurt_error_t err;
    FILE *f = gpurt_outfile_stream(d->config.report_path, GPURT_OUTFILE_REPLACE,
                                   GPURT_OUTFILE_OWN, &err);

    if (!f) {
        gpurt_tell("GPURT_CHECK_REPORT: nothing is written: %s", err.text);
        return;
    }
    fprintf(f, "seed %llu\nschedule %s\nstatus %s\n", (unsigned long long)c->seed,
            schedules[c->schedule], gpurt_status_name(status));
    counters_write(d, f);
    simt_panics_write(f);
    fprintf(f, "report\n%s%s", panic ? panic : "", text ? text : "");
    fclose(f);
}

/* The first failure of the process stays in the file: what follows, in this runtime or one
 * opened after it, may be its consequence. Under the mutex of the one open device. */
static bool failure_written;

void simt_report_save(simt_device_t *d, gpurt_status_t status, const char *text)
{
    if (text) {
        free(d->last_report);
        d->last_report = strdup(text);
    }
    if (!d->config.report_path || failure_written)
        return;
    failure_written = status != GPURT_OK;
    verdict_write(d, status, text);
}
