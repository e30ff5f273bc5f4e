/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include "refuse.h"

#include <inttypes.h>

gpurt_handles_t gpurt_handles = {.lock = GPURT_LOCK_INIT};

/* The first generation of a slot: the counter wraps in the first runs, not after years. */
#define FIRST_GENERATION 0xfffffffcu

static uint64_t handle_id(gpurt_handle_class_t of, uint64_t handle)
{
    return pin_id((uint32_t)(handle >> 32), of);
}

static gpurt_handle_kind_t kind_of(gpurt_handle_class_t of)
{
    return (gpurt_handle_kind_t)(of & 7u);
}

/* NULL when no slot has that number. */
static gpurt_handle_slot_t *handle_slot(gpurt_handles_t *t, uint64_t handle)
{
    uint32_t index = (uint32_t)handle - 1;

    return index < GPURT_HANDLE_COUNT ? &t->slots[index] : NULL;
}

/* Unused slots first, then the one that is free for longest: a number comes back as late
 * as can be. Returns: NULL when all are live. The caller holds the lock. */
static gpurt_handle_slot_t *slot_get(gpurt_handles_t *t, uint32_t *generation)
{
    gpurt_handle_slot_t *slot;

    if (t->fresh < GPURT_HANDLE_COUNT) {
        *generation = FIRST_GENERATION;
        return &t->slots[t->fresh++];
    }
    if (t->oldest == 0)
        return NULL;
    slot = &t->slots[t->oldest - 1];
    t->oldest = slot->next;
    *generation = pin_generation(pin_word(&slot->pin)) + 1;
    return slot;
}

static void slot_put(gpurt_handles_t *t, gpurt_handle_slot_t *slot)
{
    uint32_t number = (uint32_t)(slot - t->slots) + 1;

    gpurt_lock_take(&t->lock);
    slot->object = NULL;
    slot->next = 0;
    if (t->oldest == 0)
        t->oldest = number;
    else
        t->slots[t->newest - 1].next = number;
    t->newest = number;
    gpurt_lock_give(&t->lock);
}

/* Context: the one thread that retired the slot and saw its last user go. */
static gpurt_orphan_t slot_orphan(gpurt_handles_t *t, gpurt_handle_slot_t *slot)
{
    gpurt_orphan_t orphan = {
        .object = slot->object,
        .kind = kind_of(pin_kind(pin_word(&slot->pin))),
    };

    slot_put(t, slot);
    return orphan;
}

uint64_t gpurt_handle_create(gpurt_handles_t *t, gpurt_handle_class_t of, void *object)
{
    uint32_t generation;
    gpurt_handle_slot_t *slot;
    uint64_t handle = 0;

    gpurt_lock_take(&t->lock);
    slot = slot_get(t, &generation);
    if (slot) {
        slot->object = object;
        pin_publish(&slot->pin, pin_id(generation, of));
        handle = (uint64_t)generation << 32 | (uint32_t)(slot - t->slots + 1);
    }
    gpurt_lock_give(&t->lock);
    return handle;
}

bool gpurt_handle_take(gpurt_handles_t *t, gpurt_handle_class_t of, uint64_t handle,
                       void **object)
{
    gpurt_handle_slot_t *slot = handle_slot(t, handle);

    if (!slot || !pin_take(&slot->pin, handle_id(of, handle)))
        return false;
    *object = slot->object;
    return true;
}

gpurt_orphan_t gpurt_handle_drop(gpurt_handles_t *t, uint64_t handle)
{
    gpurt_handle_slot_t *slot = handle_slot(t, handle);
    gpurt_orphan_t none = {0};

    return pin_drop(&slot->pin) ? slot_orphan(t, slot) : none;
}

bool gpurt_handle_release(gpurt_handles_t *t, gpurt_handle_class_t of, uint64_t handle,
                          gpurt_orphan_t *orphan)
{
    gpurt_handle_slot_t *slot = handle_slot(t, handle);
    bool last;

    orphan->object = NULL;
    if (!slot || !pin_retire(&slot->pin, handle_id(of, handle), &last))
        return false;
    if (last)
        *orphan = slot_orphan(t, slot);
    return true;
}

void *gpurt_handle_sweep(gpurt_handles_t *t, gpurt_handle_class_t of, uint32_t *cursor)
{
    gpurt_orphan_t orphan = {0};

    while (*cursor < t->fresh && !orphan.object) {
        uint64_t word = pin_word(&t->slots[*cursor].pin);
        uint64_t handle = (uint64_t)pin_generation(word) << 32 | ++*cursor;

        gpurt_handle_release(t, of, handle, &orphan);
    }
    return orphan.object;
}

/* A slot that was never used has no class, so the count of those need not be exact. */
uint64_t gpurt_handle_next(gpurt_handles_t *t, gpurt_handle_class_t of, uint32_t *cursor,
                           void **object)
{
    while (*cursor < GPURT_HANDLE_COUNT) {
        uint64_t word = pin_word(&t->slots[*cursor].pin);
        uint64_t handle = (uint64_t)pin_generation(word) << 32 | ++*cursor;

        if (gpurt_handle_take(t, of, handle, object))
            return handle;
    }
    return 0;
}

/* All slots are free, in order; generations go on. */
void gpurt_handles_forked(gpurt_handles_t *t)
{
    t->oldest = t->newest = 0;
    for (uint32_t i = 0; i < t->fresh; i++) {
        gpurt_handle_slot_t *slot = &t->slots[i];
        uint64_t word = pin_word(&slot->pin);
        void *object;

        slot->forked = true;
        slot->parent = pin_generation(word);
        /* kind and generation stay, for what a refusal says */
        gpurt_store_relaxed_sys_u64(&slot->pin.xword,
                                    word & ~(uint64_t)(PIN_LIVE | PIN_USERS));
        object = slot->object;
        slot_put(t, slot);
        slot->object = object; /* to a leak checker it is still held */
    }
}

static bool is_parents(const gpurt_handles_t *t, uint32_t index, uint32_t generation)
{
    return index < GPURT_HANDLE_COUNT && t->slots[index].forked &&
           (int32_t)(generation - t->slots[index].parent) <= 0;
}

gpurt_status_t gpurt_handle_refuse(const gpurt_handles_t *t, gpurt_handle_class_t of,
                                   uint64_t handle, gpurt_error_t *err)
{
    static const char *const names[] = {"thing", "stream", "event", "guard", "service"};
    gpurt_handle_kind_t kind = kind_of(of), found;
    const char *wanted = names[kind];
    uint32_t index = (uint32_t)handle - 1, generation = (uint32_t)(handle >> 32);
    uint64_t word = index < GPURT_HANDLE_COUNT ? pin_word(&t->slots[index].pin) : 0;
    uint32_t other = pin_kind(word);

    found = kind_of(other);
    if (is_parents(t, index, generation))
        return REFUSE(err, GPURT_E_FORKED,
                      "%s 0x%" PRIx64 " was made before this process was forked and is its "
                      "parent's: create another",
                      wanted, handle);
    /* Generations are compared by distance, because they wrap; no word has kind 0 but
     * one that was never used. */
    if (other == 0 || (int32_t)(generation - pin_generation(word)) > 0)
        return REFUSE(err, GPURT_E_HANDLE,
                      "0x%" PRIx64 " never was a handle: gpurt_%s_%s gives them", handle,
                      wanted, kind == GPURT_HANDLE_SERVICE ? "launch" : "create");
    if (generation == pin_generation(word) && found != kind)
        return REFUSE(err, GPURT_E_HANDLE,
                      "0x%" PRIx64 " is of another kind: it names %s %s, wanted is %s %s",
                      handle, found == GPURT_HANDLE_EVENT ? "an" : "a", names[found],
                      kind == GPURT_HANDLE_EVENT ? "an" : "a", wanted);
    if (generation == pin_generation(word) && other != of)
        return REFUSE(err, GPURT_E_HANDLE,
                      "%s 0x%" PRIx64 " is of another device that is open: use it with the "
                      "pointer that created it",
                      wanted, handle);
    return REFUSE(err, GPURT_E_HANDLE,
                  "%s 0x%" PRIx64 " was destroyed already: create another", wanted, handle);
}
