/* SPDX-License-Identifier: Apache-2.0 */
#include "reclaim_kernels.h"

#include <gpurt/device.h>
#include <gpurt/epoch.h>
#include <gpurt/hazard.h>
#include <gpurt/ref.h>

GPURT_DEV uint32_t reclaim_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

GPURT_DEV uint32_t reclaim_seed(const struct reclaim_args *p)
{
    uint32_t state = gpurt_global_id() * 747796405u + p->seed * 2891336453u + 1;

    state = (state >> 15 ^ state) * 2246822519u;
    return state ? state : 1;
}

GPURT_DEV void reclaim_count(uint32_t *word)
{
    gpurt_red_add_relaxed_dev_u32(word, 1); /* relaxed: the host looks */
}

/* ---- guards: the same words for all three -------------------------------------------- */

/* Who is in a section together: the warp, or each lane for itself. */
GPURT_DEV uint32_t reclaim_lanes(const struct reclaim_args *p)
{
    return p->alone ? 1u << (gpurt_lane() % GPURT_WARP_SIZE) : GPURT_FULL_MASK;
}

GPURT_DEV uint32_t reclaim_enter(const struct reclaim_args *p)
{
    if (p->guard == RECLAIM_EPOCH)
        return gpurt_epoch_enter(&p->epochs, reclaim_lanes(p));
    if (p->guard == RECLAIM_HAZARD)
        return gpurt_hazard_open(&p->hazards, reclaim_lanes(p));
    return 0;
}

GPURT_DEV void reclaim_leave(const struct reclaim_args *p, uint32_t slot)
{
    if (p->guard == RECLAIM_EPOCH)
        gpurt_epoch_leave(&p->epochs, slot, reclaim_lanes(p));
    if (p->guard == RECLAIM_HAZARD)
        gpurt_hazard_close(&p->hazards, slot, reclaim_lanes(p));
}

/* The node that *from points to. */
GPURT_DEV reclaim_node_t *reclaim_look(const struct reclaim_args *p, uint32_t slot,
                                       uint32_t k, uint64_t *from)
{
    if (p->guard == RECLAIM_HAZARD)
        return (reclaim_node_t *)gpurt_hazard_protect(&p->hazards, slot, k, from);
    return (reclaim_node_t *)(uintptr_t)gpurt_load_acquire_dev_u64(from);
}

/* Between a use and what comes next: others may see that the lane names nothing any more. */
GPURT_DEV void reclaim_let_go(const struct reclaim_args *p, uint32_t slot)
{
    for (uint32_t k = 0; p->guard == RECLAIM_HAZARD && k < 2; k++)
        gpurt_hazard_clear(&p->hazards, slot, k);
    if (p->dawdle)
        gpurt_relax();
}

/* What is unlinked goes. Returns: what could not go. */
GPURT_DEV reclaim_node_t *reclaim_retire(const struct reclaim_args *p, uint32_t slot,
                                         reclaim_node_t *node)
{
    uint32_t answer = GPURT_RETIRE_KEPT;

    if (p->guard == RECLAIM_EPOCH)
        answer = gpurt_epoch_retire(&p->epochs, slot, reclaim_lanes(p), node);
    else if (p->guard == RECLAIM_HAZARD)
        answer = gpurt_hazard_retire(&p->hazards, slot, reclaim_lanes(p), node);
    else
        gpurt_heap_free(&p->heap, node);
    if (answer == GPURT_RETIRE_KEPT)
        return NULL;
    reclaim_count(&p->verdict->xfull);
    return node;
}

/* Who was refused memory sees to it that there is some. */
GPURT_DEV void reclaim_flush(const struct reclaim_args *p, bool refused)
{
    uint32_t lanes = reclaim_lanes(p);

    if (!gpurt_any(lanes, refused))
        return;
    if (p->guard == RECLAIM_EPOCH)
        gpurt_epoch_flush(&p->epochs, lanes);
    if (p->guard == RECLAIM_HAZARD)
        gpurt_hazard_flush(&p->hazards, lanes);
}

/* What a lane could not retire is left to the next launch. */
GPURT_DEV void reclaim_leave_behind(const struct reclaim_args *p, reclaim_node_t *node)
{
    if (node)
        p->cells[gpurt_global_id()] = (uint64_t)(uintptr_t)node;
}

/* ---- nodes --------------------------------------------------------------------------- */

GPURT_DEVN reclaim_node_t *reclaim_node_make(const struct reclaim_args *p, uint64_t value)
{
    reclaim_node_t *node = (reclaim_node_t *)gpurt_heap_alloc(&p->heap, p->node_bytes);

    if (!node) {
        reclaim_count(&p->verdict->xnull);
        return NULL;
    }
    gpurt_store_relaxed_dev_u64(&node->xnext, 0); /* relaxed, all: the link publishes */
    gpurt_store_relaxed_dev_u64(&node->value, value);
    node->plain = 1 + gpurt_add_relaxed_dev_u64(&p->verdict->xlives, 1);
    gpurt_store_relaxed_dev_u64(&node->xlife, node->plain);
    return node;
}

GPURT_DEV uint64_t reclaim_life(reclaim_node_t *node)
{
    return gpurt_load_relaxed_dev_u64(&node->xlife); /* relaxed: compared with itself */
}

GPURT_DEV void reclaim_same(const struct reclaim_args *p, reclaim_node_t *node,
                            uint64_t life)
{
    if (reclaim_life(node) != life || node->plain != life)
        reclaim_count(&p->verdict->xreused);
}

/* Others get on: some lanes stay long at what they found, so that it could come round. */
GPURT_DEV void reclaim_dawdle(const struct reclaim_args *p, uint64_t life)
{
    uint32_t turns = gpurt_global_id() % 3 ? 0 : (uint32_t)life * 7u % (p->dawdle + 1);

    for (; turns; turns--)
        gpurt_relax();
}

GPURT_DEV void reclaim_take(const struct reclaim_args *p, uint64_t value)
{
    if (value < p->value_count)
        reclaim_count(p->taken + value);
    else
        reclaim_count(&p->verdict->xwrong);
    reclaim_count(&p->verdict->xdone);
}

/* ---- Treiber's stack, without a tag in its top --------------------------------------- */

GPURT_DEVN bool reclaim_push(const struct reclaim_args *p, uint64_t value)
{
    reclaim_node_t *node = reclaim_node_make(p, value);
    uint64_t top = gpurt_load_relaxed_dev_u64(p->ends); /* relaxed: a guess */

    if (!node)
        return false;
    do
        gpurt_store_relaxed_dev_u64(&node->xnext, top);
    while (!gpurt_cas_release_dev_u64(p->ends, &top, (uint64_t)(uintptr_t)node));
    return true;
}

/* Returns: the node that came off; NULL when there was none. */
GPURT_DEVN reclaim_node_t *reclaim_pop(const struct reclaim_args *p, uint32_t slot)
{
    for (;;) {
        reclaim_node_t *top = reclaim_look(p, slot, 0, p->ends);
        uint64_t life, next, was = (uint64_t)(uintptr_t)top;

        if (!top)
            return NULL;
        life = reclaim_life(top);
        next = gpurt_load_relaxed_dev_u64(&top->xnext); /* relaxed: the top ordered it */
        reclaim_dawdle(p, life);
        reclaim_same(p, top, life);
        if (gpurt_cas_acquire_dev_u64(p->ends, &was, next)) {
            reclaim_same(p, top, life);
            reclaim_take(p, gpurt_load_relaxed_dev_u64(&top->value));
            return top;
        }
        gpurt_relax();
    }
}

/* mode 0: lanes push their values and pop what they find; 1: they only pop. */
GPURT_KERNEL(reclaim_stack, struct reclaim_args, p)
{
    uint32_t state = reclaim_seed(p), pushed = 0;
    reclaim_node_t *left = NULL;

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t slot = reclaim_enter(p);
        bool pushes = p->mode == 0 && (reclaim_random(&state) & 1), refused = false;

        if (pushes) {
            uint64_t value = gpurt_global_id() * p->rounds + pushed;

            refused = !reclaim_push(p, value);
            pushed += !refused;
        } else if (!left && slot != GPURT_SLOT_NONE) {
            left = reclaim_pop(p, slot);
            reclaim_let_go(p, slot);
        }
        gpurt_syncwarp(reclaim_lanes(p));
        left = reclaim_retire(p, slot, left);
        reclaim_leave(p, slot);
        reclaim_flush(p, refused);
    }
    reclaim_leave_behind(p, left);
}

/* ---- Michael and Scott's queue ------------------------------------------------------- */

GPURT_DEVN bool reclaim_append(const struct reclaim_args *p, uint32_t slot, uint64_t value)
{
    reclaim_node_t *node = reclaim_node_make(p, value);

    if (!node)
        return false;
    for (;;) {
        reclaim_node_t *tail = reclaim_look(p, slot, 0, p->ends + 1);
        uint64_t life = reclaim_life(tail), was = (uint64_t)(uintptr_t)tail, none = 0;
        uint64_t next = gpurt_load_acquire_dev_u64(&tail->xnext);

        reclaim_dawdle(p, life);
        reclaim_same(p, tail, life);
        if (next) { /* help it on */
            gpurt_cas_release_dev_u64(p->ends + 1, &was, next);
        } else if (gpurt_cas_release_dev_u64(&tail->xnext, &none,
                                             (uint64_t)(uintptr_t)node)) {
            gpurt_cas_release_dev_u64(p->ends + 1, &was, (uint64_t)(uintptr_t)node);
            return true;
        }
        gpurt_relax();
    }
}

/* Returns: the node that came off, the old dummy; its follower held the value. */
GPURT_DEVN reclaim_node_t *reclaim_shift(const struct reclaim_args *p, uint32_t slot)
{
    for (;; gpurt_relax()) {
        reclaim_node_t *head = reclaim_look(p, slot, 0, p->ends), *next;
        uint64_t life = reclaim_life(head), was = (uint64_t)(uintptr_t)head, value;
        uint64_t tail = gpurt_load_acquire_dev_u64(p->ends + 1);

        next = reclaim_look(p, slot, 1, &head->xnext);
        reclaim_dawdle(p, life);
        reclaim_same(p, head, life);
        if (gpurt_load_acquire_dev_u64(p->ends) != (uint64_t)(uintptr_t)head)
            continue; /* next may be gone as well */
        if (!next)
            return NULL;
        if (tail == (uint64_t)(uintptr_t)head) {
            gpurt_cas_release_dev_u64(p->ends + 1, &tail, (uint64_t)(uintptr_t)next);
            continue;
        }
        life = reclaim_life(next);
        value = gpurt_load_relaxed_dev_u64(&next->value); /* relaxed: the link ordered it */
        if (gpurt_cas_acq_rel_dev_u64(p->ends, &was, (uint64_t)(uintptr_t)next)) {
            reclaim_same(p, next, life);
            reclaim_take(p, value);
            return head;
        }
    }
}

GPURT_KERNEL(reclaim_queue, struct reclaim_args, p)
{
    uint32_t state = reclaim_seed(p), pushed = 0;
    reclaim_node_t *left = NULL;

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t slot = reclaim_enter(p);
        bool pushes = p->mode == 0 && (reclaim_random(&state) & 1), refused = false;

        if (slot == GPURT_SLOT_NONE)
            continue;
        if (pushes) {
            uint64_t value = gpurt_global_id() * p->rounds + pushed;

            refused = !reclaim_append(p, slot, value);
            pushed += !refused;
        } else if (!left) {
            left = reclaim_shift(p, slot);
            reclaim_let_go(p, slot);
        }
        gpurt_syncwarp(reclaim_lanes(p));
        left = reclaim_retire(p, slot, left);
        reclaim_leave(p, slot);
        reclaim_flush(p, refused);
    }
    reclaim_leave_behind(p, left);
}

/* The queue's first dummy. One lane. */
GPURT_KERNEL(reclaim_queue_begin, struct reclaim_args, p)
{
    reclaim_node_t *node = reclaim_node_make(p, ~0ull);

    gpurt_hazard_publish(p->ends, node);
    gpurt_hazard_publish(p->ends + 1, node);
}

/* Frees what lanes left behind; mode 2: and what the ends hold. One warp. */
GPURT_KERNEL(reclaim_rest, struct reclaim_args, p)
{
    for (uint32_t i = gpurt_lane(); i < p->cell_count; i += GPURT_WARP_SIZE) {
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->cells[i]);
        p->cells[i] = 0;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 0 && p->mode == 2) {
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->ends[0]);
        p->ends[0] = p->ends[1] = 0;
    }
}

/* A block is cancelled in a section; the others go on. mode: after so many rounds. */
GPURT_KERNEL(reclaim_cancelled, struct reclaim_args, p)
{
    uint32_t slot;
    reclaim_node_t *left = NULL;

    if (gpurt_block_x() == 0) {
        slot = reclaim_enter(p);
        if (p->guard == RECLAIM_HAZARD)
            gpurt_hazard_set(&p->hazards, slot, 0, p->verdict); /* something */
        if (gpurt_lane() == 0)
            gpurt_store_release_dev_u32(&p->verdict->xinside, 1); /* R1.rel */
        gpurt_cancel_block();
        gpurt_relax(); /* here the lane ends */
        reclaim_count(&p->verdict->xwrong);
        return;
    }
    while (!gpurt_load_acquire_dev_u32(&p->verdict->xinside)) /* R1.acq */
        gpurt_relax();
    for (uint32_t round = 0; round < p->rounds; round++) {
        slot = reclaim_enter(p);
        if (!left)
            left = reclaim_node_make(p, 0);
        gpurt_syncwarp(GPURT_FULL_MASK);
        left = reclaim_retire(p, slot, left);
        reclaim_leave(p, slot);
    }
    reclaim_leave_behind(p, left);
}

/* Takes slots until there are none, and tries to retire without one. One warp. */
GPURT_KERNEL(reclaim_slots, struct reclaim_args, p)
{
    uint32_t slot, taken = 0;

    while ((slot = reclaim_enter(p)) != GPURT_SLOT_NONE)
        taken++;
    if (gpurt_lane() == 0)
        p->cells[0] = taken;
    if (reclaim_retire(p, slot, (reclaim_node_t *)p->cells) != (reclaim_node_t *)p->cells)
        reclaim_count(&p->verdict->xwrong);
}

/* Block `mode` / 2 enters, and cells[0] says where; or it leaves that slot, whoever has it. */
GPURT_KERNEL(reclaim_leave_of, struct reclaim_args, p)
{
    uint32_t slot = (uint32_t)p->cells[0];

    if (gpurt_block_rank() != p->mode / 2)
        return;
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read */
    if (p->mode % 2) {
        reclaim_leave(p, slot);
        return;
    }
    slot = reclaim_enter(p);
    if (gpurt_lane() == 0)
        p->cells[0] = slot;
}

/* Pointers that are none: without a slot, and one beyond the last. One warp. cells: what each of them
 * gave, of cells[4], and one that is there. */
GPURT_KERNEL(reclaim_no_pointer, struct reclaim_args, p)
{
    const gpurt_hazards_t *h = &p->hazards;
    uint32_t slot = gpurt_hazard_open(h, GPURT_FULL_MASK);
    uint64_t found[3];

    found[0] =
        (uint64_t)(uintptr_t)gpurt_hazard_protect(h, GPURT_SLOT_NONE, 0, p->cells + 4);
    found[1] = (uint64_t)(uintptr_t)gpurt_hazard_protect(h, slot, h->each, p->cells + 4);
    found[2] =
        (uint64_t)(uintptr_t)gpurt_hazard_protect(h, slot, h->each - 1, p->cells + 4);
    gpurt_hazard_set(h, GPURT_SLOT_NONE, 0, p->cells);
    gpurt_hazard_clear(h, slot, h->each);
    for (uint32_t i = 0; i < 3 && gpurt_lane() == 0; i++)
        p->cells[i] = found[i];
    gpurt_hazard_close(h, slot, GPURT_FULL_MASK);
}

/* ---- counted objects ----------------------------------------------------------------- */

GPURT_DEV uint64_t reclaim_pattern(gpurt_ref_t ref, uint32_t i)
{
    return (ref ^ i) * 0x9e3779b97f4a7c15ull;
}

GPURT_DEVN gpurt_ref_t reclaim_ref_make(const struct reclaim_args *p, uint32_t words)
{
    uint32_t answer;
    gpurt_ref_t ref = gpurt_ref_alloc(&p->refs, words * 8, words, &answer);
    uint64_t *object = (uint64_t *)gpurt_ref_get(&p->refs, ref);

    if (!ref) {
        reclaim_count(&p->verdict->xnull);
        return 0;
    }
    object[0] = words;
    for (uint32_t i = 1; i < words; i++)
        object[i] = reclaim_pattern(ref, i);
    return ref;
}

/* Reads all of an object that this lane has a reference to. */
GPURT_DEVN void reclaim_ref_read(const struct reclaim_args *p, gpurt_ref_t ref)
{
    const uint64_t *object = (const uint64_t *)gpurt_ref_get(&p->refs, ref);
    uint64_t wrong = object ? 0 : 1;

    for (uint32_t i = 1; object && i < object[0]; i++)
        wrong |= object[i] ^ reclaim_pattern(ref, i);
    if (wrong)
        reclaim_count(&p->verdict->xwrong);
    reclaim_count(&p->verdict->xdone);
}

GPURT_DEV void reclaim_ref_drop(const struct reclaim_args *p, gpurt_ref_t ref)
{
    if (ref && gpurt_ref_release(&p->refs, ref) > GPURT_REF_FREED)
        reclaim_count(&p->verdict->xwrong);
}

/* Cells hold a reference each. Lanes put new ones there, and use what others put there,
 * which may be gone by then. Now and then one makes a mistake with a dead one. */
GPURT_KERNEL(reclaim_refs, struct reclaim_args, p)
{
    uint32_t state = reclaim_seed(p), answer;
    gpurt_ref_t dead = 0;

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t *cell = p->cells + reclaim_random(&state) % p->cell_count;
        gpurt_ref_t ref = gpurt_load_acquire_dev_u64(cell);
        uint32_t words = 2 + reclaim_random(&state) % p->node_bytes / 8;

        switch (reclaim_random(&state) % 4) {
        case 0:
            ref = reclaim_ref_make(p, words);
            dead = gpurt_xchg_acq_rel_dev_u64(cell, ref);
            reclaim_ref_drop(p, dead);
            break;
        case 1: /* two mistakes: neither holds a count of it */
            if (dead && gpurt_ref_try_retain(&p->refs, dead) == GPURT_REF_DEAD) {
                if (gpurt_ref_retain(&p->refs, dead) != GPURT_REF_DEAD ||
                    gpurt_ref_release(&p->refs, dead) != GPURT_REF_DEAD)
                    reclaim_count(&p->verdict->xwrong);
            } else if (dead) {
                reclaim_ref_drop(p, dead);
            }
            break;
        default:
            if (!ref)
                break;
            answer = gpurt_ref_try_retain(&p->refs, ref);
            if (answer != GPURT_REF_OK) {
                reclaim_count(answer == GPURT_REF_DEAD ? &p->verdict->xdead
                                                       : &p->verdict->xwrong);
                break;
            }
            if (gpurt_ref_retain(&p->refs, ref) != GPURT_REF_OK)
                reclaim_count(&p->verdict->xwrong);
            reclaim_ref_read(p, ref);
            reclaim_ref_drop(p, ref);
            reclaim_ref_read(p, ref);
            reclaim_ref_drop(p, ref);
        }
    }
}

/* Lets go of all cells. */
GPURT_KERNEL(reclaim_refs_end, struct reclaim_args, p)
{
    for (uint32_t i = gpurt_global_id(); i < p->cell_count;
         i += gpurt_grid_blocks() * gpurt_block_threads()) {
        reclaim_ref_drop(p, p->cells[i]);
        p->cells[i] = 0;
    }
}

/* One call of each lane; cells: [0] the reference, [1 + lane] the answers. mode: which. */
GPURT_KERNEL(reclaim_ref_call, struct reclaim_args, p)
{
    gpurt_ref_t ref = p->cells[0];
    uint32_t answer = 0;

    switch (p->mode) {
    case 0:
        p->cells[0] = gpurt_ref_alloc(&p->refs, p->node_bytes, 7, &answer);
        break;
    case 1:
        answer = gpurt_ref_retain(&p->refs, ref);
        break;
    case 2:
        answer = gpurt_ref_try_retain(&p->refs, ref);
        break;
    case 3:
        answer = gpurt_ref_release(&p->refs, ref);
        break;
    default:
        answer = gpurt_ref_get(&p->refs, ref) ? 1 : 0;
    }
    p->cells[1 + gpurt_lane()] = answer;
}
