/* SPDX-License-Identifier: Apache-2.0 */
/* What the host asks of an executor: orders through a ring, waits for what becomes of them. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executorown.h"

#include "hosttime.h"
#include "plural.h"
#include "refuse.h"

#include <gpurt/hostwords.h>

#include <stdlib.h>
#include <string.h>

enum {
    SLICE_NS = 100000000 /* between two looks whether there is still somebody to wait for */
};

/* Why nothing more comes of it, or GPURT_OK. */
static gpurt_status_t end_check(const gpurt_executor_own_t *e, gpurt_error_t *err)
{
    gpurt_service_status_t s;
    gpurt_status_t st;

    if (gpurt_load_relaxed_sys_u32(&e->xclosing)) /* relaxed: it says all */
        return REFUSE(err, GPURT_E_CLOSED, "executor %s is being closed", e->name);
    st = gpurt_service_status(e->rt, e->service, &s);
    if (st != GPURT_OK)
        return REFUSE(err, GPURT_E_CLOSED, "executor %s: its kernel was stopped", e->name);
    if (s.state == GPURT_SERVICE_IS_ENDED || s.left == s.blocks)
        return REFUSE(
            err, GPURT_E_PANIC,
            "executor %s: none of its %u block%s is left to run tasks; the panics "
            "that ended them are told above",
            e->name, s.blocks, gpurt_plural(s.blocks, "s"));
    return GPURT_OK;
}

/* As gpurt_hostword_wait, but not for what cannot come. */
static gpurt_status_t word_await(const gpurt_executor_own_t *e, const uint32_t *word,
                                 uint32_t old, uint64_t timeout_ns, uint32_t *value,
                                 gpurt_error_t *err)
{
    uint64_t begin = gpurt_steady_ns(), gone = 0;
    gpurt_error_t why;

    for (;;) {
        uint64_t left = timeout_ns == UINT64_MAX ? SLICE_NS : timeout_ns - gone;
        gpurt_status_t st = gpurt_hostword_wait(
            e->rt, word, old, left < SLICE_NS ? left : SLICE_NS, value, &why);

        if (st != GPURT_OK && st != GPURT_E_TIMEOUT && err)
            *err = why;
        if (st != GPURT_E_TIMEOUT)
            return st;
        st = end_check(e, err);
        if (st != GPURT_OK)
            return st;
        gone = gpurt_steady_ns() - begin;
        if (gone >= timeout_ns)
            return GPURT_E_TIMEOUT;
    }
}

/* ---- orders ---------------------------------------------------------------------------- */
/* Under e->post. An order is seen when its number is posted. */

static gpurt_status_t orders_show(gpurt_executor_own_t *e, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_hostword_store(e->rt, &e->map.desk->xposted, e->posted, err);

    return st == GPURT_OK ? gpurt_service_ring(e->rt, e->service) : st;
}

static gpurt_status_t order_put(gpurt_executor_own_t *e, const gpurt_task_order_t *order,
                                gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    if (e->posted - e->taken == GPURT_TASK_ORDERS) {
        st = orders_show(e, err);
        if (st == GPURT_OK)
            st = word_await(e, &e->map.desk->xtaken, e->taken, UINT64_MAX, &e->taken, err);
    }
    if (st == GPURT_OK)
        e->map.desk->orders[e->posted++ % GPURT_TASK_ORDERS] = *order;
    return st;
}

static gpurt_status_t order_give(gpurt_executor_own_t *e, const gpurt_task_order_t *order,
                                 gpurt_error_t *err)
{
    gpurt_status_t st = order_put(e, order, err);

    return st == GPURT_OK ? orders_show(e, err) : st;
}

/* ---- records --------------------------------------------------------------------------- */

static uint64_t record_take(gpurt_executor_own_t *e, bool held)
{
    uint32_t i = e->free_records[--e->free_count];

    e->record_uses[i]++;
    e->record_held[i] = held;
    e->map.records[i].value = 0;
    /* relaxed: it goes with the order */
    gpurt_store_relaxed_sys_u32(&e->map.records[i].xstatus, GPURT_TASK_PENDING);
    return (uint64_t)e->record_uses[i] << 32 | (i + 1);
}

static bool record_is(const gpurt_executor_own_t *e, gpurt_submitted_t task)
{
    uint32_t i = (uint32_t)task - 1;

    return i < e->record_count && e->record_uses[i] == task >> 32 &&
           e->record_uses[i] % 2 == 1;
}

static void record_give(gpurt_executor_own_t *e, gpurt_submitted_t task)
{
    uint32_t i = (uint32_t)task - 1;

    e->record_uses[i]++;
    e->free_records[e->free_count++] = i;
}

/* One that was used, and is not any more. */
static bool record_was(const gpurt_executor_own_t *e, gpurt_submitted_t task)
{
    uint32_t i = (uint32_t)task - 1;

    return i < e->record_count && (task >> 32) % 2 == 1 &&
           (int32_t)(e->record_uses[i] - (uint32_t)(task >> 32)) > 0;
}

static gpurt_status_t record_refuse(const gpurt_executor_own_t *e, gpurt_submitted_t task,
                                    gpurt_error_t *err)
{
    return REFUSE(err, GPURT_E_HANDLE,
                  "executor %s: task 0x%llx was waited for already, or never submitted",
                  e->name, (unsigned long long)task);
}

/* ---- submissions ----------------------------------------------------------------------- */

static bool function_is(const gpurt_executor_own_t *e, const gpurt_submission_t *s)
{
    return s->function < e->kinds.count &&
           (!s->name || strcmp(e->kinds.names[s->function], s->name) == 0);
}

static gpurt_status_t submission_check(const gpurt_executor_own_t *e,
                                       const gpurt_submission_t *s, bool named,
                                       gpurt_error_t *err)
{
    if (!s || (s->count && !s->args) || s->bytes > GPURT_TASK_ARGS_BYTES)
        return REFUSE(err, GPURT_E_INVALID,
                      "executor %s: a submission has arguments, 48 bytes a task at most",
                      e->name);
    if (s->how & GPURT_TASK_CHILD)
        return REFUSE(
            err, GPURT_E_INVALID,
            "executor %s: GPURT_TASK_CHILD, and a task of the host's has no parent",
            e->name);
    if (!function_is(e, s))
        return REFUSE(err, GPURT_E_INVALID,
                      "executor %s: task %s is not in its list: submit it to the executor "
                      "that declares it",
                      e->name, s->name ? s->name : "of that number");
    if (gpurt_how_group(s->how) > e->map.groups)
        return REFUSE(
            err, GPURT_E_INVALID,
            "executor %s: tasks of group %u, and it has %u: open it with more groups",
            e->name, gpurt_how_group(s->how), e->map.groups);
    if (gpurt_how_place(s->how) && !e->map.places)
        return REFUSE(
            err, GPURT_E_INVALID,
            "executor %s: tasks with a place, and it has none: open it with places",
            e->name);
    if (s->how & GPURT_TASK_HELD && !named)
        return REFUSE(err, GPURT_E_INVALID,
                      "executor %s: tasks that are held need handles to start them: pass "
                      "tasks",
                      e->name);
    if (named && s->count > e->free_count)
        return REFUSE(
            err, GPURT_E_NOMEM,
            "executor %s: %u task%s, and %u of its %u record%s are free: wait for "
            "tasks, or open it with more records",
            e->name, s->count, gpurt_plural(s->count, "s"), e->free_count, e->record_count,
            gpurt_plural(e->record_count, "s"));
    return GPURT_OK;
}

static gpurt_status_t all_put(gpurt_executor_own_t *e, const gpurt_submission_t *s,
                              gpurt_submitted_t *tasks, gpurt_error_t *err)
{
    gpurt_task_order_t order = {
        .what = GPURT_ORDER_SPAWN, .how = s->how, .function = s->function};
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < s->count && st == GPURT_OK; i++) {
        if (tasks)
            tasks[i] = record_take(e, s->how & GPURT_TASK_HELD);
        order.record = tasks ? (uint32_t)tasks[i] : 0;
        memcpy(order.args, (const char *)s->args + (size_t)i * s->bytes, s->bytes);
        st = order_put(e, &order, err);
    }
    return st == GPURT_OK ? orders_show(e, err) : st;
}

gpurt_status_t gpurt_executor_submit_all(gpurt_t *rt, gpurt_executor_t x,
                                         const gpurt_submission_t *s,
                                         gpurt_submitted_t *tasks, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e = gpurt_executor_hold(rt, x, &st, err);

    if (!e)
        return st;
    gpurt_lock_take(&e->post);
    st = submission_check(e, s, tasks != NULL, err);
    if (st == GPURT_OK)
        st = end_check(e, err);
    if (st == GPURT_OK)
        st = all_put(e, s, tasks, err);
    gpurt_lock_give(&e->post);
    gpurt_executor_let(e);
    return st;
}

/* Whether the order makes sense of that task. */
static gpurt_status_t order_check(const gpurt_executor_own_t *e, gpurt_task_what_t what,
                                  gpurt_submitted_t task, gpurt_submitted_t other,
                                  gpurt_error_t *err)
{
    if (!record_is(e, task))
        return record_refuse(e, task, err);
    if (other && !record_is(e, other) && !record_was(e, other))
        return record_refuse(e, other, err);
    if (what != GPURT_ORDER_CANCEL && !e->record_held[(uint32_t)task - 1])
        return REFUSE(
            err, GPURT_E_INVALID,
            "executor %s: task 0x%llx is not held, or was started: submit it with "
            "GPURT_TASK_HELD, say what it comes after, and start it once",
            e->name, (unsigned long long)task);
    return GPURT_OK;
}

/* other: 0, the order names one task. */
static gpurt_status_t task_order(gpurt_t *rt, gpurt_executor_t x, gpurt_task_what_t what,
                                 gpurt_submitted_t task, gpurt_submitted_t other,
                                 gpurt_error_t *err)
{
    gpurt_task_order_t order = {
        .what = what, .record = (uint32_t)task, .other = (uint32_t)other};
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e = gpurt_executor_hold(rt, x, &st, err);

    if (!e)
        return st;
    gpurt_lock_take(&e->post);
    st = order_check(e, what, task, other, err);
    if (st == GPURT_OK && (!other || record_is(e, other)))
        st = order_give(e, &order, err);
    if (st == GPURT_OK && what == GPURT_ORDER_START)
        e->record_held[(uint32_t)task - 1] = false;
    gpurt_lock_give(&e->post);
    gpurt_executor_let(e);
    return st;
}

gpurt_status_t gpurt_executor_after(gpurt_t *rt, gpurt_executor_t x,
                                    gpurt_submitted_t before, gpurt_submitted_t after,
                                    gpurt_error_t *err)
{
    if (!before)
        return REFUSE(err, GPURT_E_HANDLE, "before is 0: pass the handle of a task");
    return task_order(rt, x, GPURT_ORDER_AFTER, after, before, err);
}

gpurt_status_t gpurt_executor_start(gpurt_t *rt, gpurt_executor_t x, gpurt_submitted_t task,
                                    gpurt_error_t *err)
{
    return task_order(rt, x, GPURT_ORDER_START, task, 0, err);
}

gpurt_status_t gpurt_executor_cancel(gpurt_t *rt, gpurt_executor_t x,
                                     gpurt_submitted_t task, gpurt_error_t *err)
{
    return task_order(rt, x, GPURT_ORDER_CANCEL, task, 0, err);
}

/* ---- quotas ---------------------------------------------------------------------------- */

/* What a nanosecond in a body costs the group, of which all warps together have `percent`. */
static uint64_t quota_cost(const gpurt_executor_own_t *e, uint32_t percent)
{
    uint64_t warps = (uint64_t)e->blocks * e->warps;

    return percent ? (100ull << GPURT_GROUP_COST_BITS) / (percent * warps) : 0;
}

static gpurt_status_t quota_order(gpurt_executor_own_t *e, uint32_t group, uint32_t percent,
                                  uint64_t burst_ns, gpurt_error_t *err)
{
    gpurt_task_order_t order = {.what = GPURT_ORDER_QUOTA,
                                .other = group,
                                .args = {quota_cost(e, percent), burst_ns}};
    gpurt_status_t st;

    if (!group || group > e->map.groups)
        return REFUSE(err, GPURT_E_INVALID,
                      "executor %s: group %u, and it has %u, counted from 1: open it with "
                      "more groups",
                      e->name, group, e->map.groups);
    if (percent > 100)
        return REFUSE(err, GPURT_E_INVALID,
                      "executor %s: a quota of %u %%: 1 to 100, or 0 for none", e->name,
                      percent);
    st = end_check(e, err);
    if (st == GPURT_OK)
        st = order_give(e, &order, err);
    if (st == GPURT_OK)
        gpurt_store_relaxed_sys_u32(&e->xquotas[group - 1],
                                    percent); /* relaxed: a number */
    return st;
}

gpurt_status_t gpurt_executor_quota(gpurt_t *rt, gpurt_executor_t x, uint32_t group,
                                    uint32_t percent, uint64_t burst_ns, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e = gpurt_executor_hold(rt, x, &st, err);

    if (!e)
        return st;
    gpurt_lock_take(&e->post);
    st = quota_order(e, group, percent, burst_ns ? burst_ns : GPURT_EXECUTOR_BURST_NS, err);
    gpurt_lock_give(&e->post);
    gpurt_executor_let(e);
    return st;
}

/* ---- waits ----------------------------------------------------------------------------- */

/* How it ended. */
static gpurt_status_t task_status(const gpurt_executor_own_t *e, gpurt_submitted_t task,
                                  gpurt_status_t st, gpurt_error_t *err)
{
    if (st == GPURT_OK)
        return st;
    return REFUSE(err, st, "executor %s: task 0x%llx ended with %s: %s", e->name,
                  (unsigned long long)task, gpurt_status_name(st), gpurt_status_text(st));
}

gpurt_status_t gpurt_executor_wait(gpurt_t *rt, gpurt_executor_t x, gpurt_submitted_t task,
                                   uint64_t timeout_ns, uint64_t *value, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e = gpurt_executor_hold(rt, x, &st, err);
    gpurt_task_record_t *record;
    uint32_t status;
    bool is;

    if (!e)
        return st;
    gpurt_lock_take(&e->post);
    is = record_is(e, task);
    gpurt_lock_give(&e->post);
    record = is ? &e->map.records[(uint32_t)task - 1] : NULL;
    st = is ? word_await(e, &record->xstatus, GPURT_TASK_PENDING, timeout_ns, &status, err)
            : record_refuse(e, task, err);
    if (st == GPURT_E_TIMEOUT)
        st = REFUSE(err, st, "executor %s: task 0x%llx has not ended after %.3f s", e->name,
                    (unsigned long long)task, (double)timeout_ns * 1e-9);
    if (is && st == GPURT_OK) {
        st = task_status(e, task, (gpurt_status_t)status, err);
        if (value)
            *value = record->value;
        gpurt_lock_take(&e->post);
        if (record_is(e, task)) /* of two who wait, one */
            record_give(e, task);
        gpurt_lock_give(&e->post);
    }
    gpurt_executor_let(e);
    return st;
}

/* One round: asks, and waits for the answer. Another asks again, in case that the answer to a drain
 * whose wait ended too soon was told over this one's. */
static gpurt_status_t drain_ask(gpurt_executor_own_t *e, uint64_t timeout_ns,
                                gpurt_error_t *err)
{
    gpurt_task_order_t order = {.what = GPURT_ORDER_DRAIN};
    uint32_t seen =
        gpurt_load_relaxed_sys_u32(&e->map.desk->xquiet); /* relaxed: a number */
    gpurt_status_t st;

    order.other = ++e->drains;
    gpurt_lock_take(&e->post);
    st = order_give(e, &order, err);
    gpurt_lock_give(&e->post);
    while (st == GPURT_OK && seen != order.other)
        st = word_await(e, &e->map.desk->xquiet, seen, timeout_ns, &seen, err);
    return st;
}

static gpurt_status_t drain(gpurt_executor_own_t *e, uint64_t timeout_ns,
                            gpurt_error_t *err)
{
    uint64_t begin = gpurt_steady_ns(), gone = 0, once_ns = 10ull * SLICE_NS;
    gpurt_status_t st;

    do {
        uint64_t left = timeout_ns == UINT64_MAX ? once_ns : timeout_ns - gone;

        st = drain_ask(e, left < once_ns ? left : once_ns, err);
        gone = gpurt_steady_ns() - begin;
    } while (st == GPURT_E_TIMEOUT && gone < timeout_ns);
    return st == GPURT_E_TIMEOUT
               ? REFUSE(err, st,
                        "executor %s: tasks live after %.3f s: gpurt_executor_status "
                        "says how many are ready; others are held, wait or run "
                        "(gpurt-top -v scheduler, gpurt-log stat)",
                        e->name, (double)timeout_ns * 1e-9)
               : st;
}

gpurt_status_t gpurt_executor_drain(gpurt_t *rt, gpurt_executor_t x, uint64_t timeout_ns,
                                    gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e = gpurt_executor_hold(rt, x, &st, err);

    if (!e)
        return st;
    gpurt_lock_take(&e->drain);
    st = drain(e, timeout_ns, err);
    gpurt_lock_give(&e->drain);
    gpurt_executor_let(e);
    return st;
}

/* ---- status ---------------------------------------------------------------------------- */

static gpurt_status_t status_read(gpurt_executor_own_t *e, gpurt_executor_status_t *out,
                                  gpurt_error_t *err)
{
    size_t bytes = e->blocks * sizeof(gpurt_executor_block_t);
    gpurt_executor_block_t *blocks = (gpurt_executor_block_t *)aligned_alloc(
        GPURT_ALIGNOF(gpurt_executor_block_t), bytes);
    gpurt_executor_words_t words;
    gpurt_service_status_t s;
    gpurt_status_t st;

    if (!blocks)
        return REFUSE(err, GPURT_E_NOMEM, "no memory for %u blocks", e->blocks);
    st = gpurt_executor_fetch(e, &words, e->map.words, sizeof words, err);
    if (st == GPURT_OK)
        st = gpurt_executor_fetch(e, blocks, e->map.blocks, bytes, err);
    if (st == GPURT_OK)
        gpurt_executor_sum(e, &words, blocks, out);
    free(blocks);
    if (st == GPURT_OK && gpurt_service_status(e->rt, e->service, &s) == GPURT_OK) {
        out->blocks = s.blocks;
        out->left = s.left;
    }
    return st;
}

gpurt_status_t gpurt_executor_status(gpurt_t *rt, gpurt_executor_t x,
                                     gpurt_executor_status_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, sizeof *out);
    e = gpurt_executor_hold(rt, x, &st, err);
    if (!e)
        return st;
    st = status_read(e, out, err);
    gpurt_executor_let(e);
    return st;
}
