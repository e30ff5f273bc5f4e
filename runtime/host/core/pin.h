/* SPDX-License-Identifier: Apache-2.0 */
/* pin.h - counted use of something that another thread may take away.
 *
 * One word holds who it is (generation and kind), whether it is live, and how many calls
 * use it now. A user pins it first; once it is retired nobody new gets in, and whoever
 * is last out is told so, exactly once, and may destroy it. Nothing here blocks. Used by
 * the handle table for each slot and by life.c for the runtime itself.
 *
 * Order. Two pairs hold it together; word is the only synchronising one.
 *   PIN1  publish.rel -> take.acq     what was set up before is seen by each user
 *   PIN2  drop.rel    -> last.acq     each use happens before the destruction */
#ifndef GPURT_HOST_PIN_H
#define GPURT_HOST_PIN_H

#include <gpurt/atomic.h>

/* [63:32] generation  [31:25] kind  [24] live  [23:0] users. Zero: never published. */
typedef struct gpurt_pin {
    uint64_t xword; /* written by: any thread */
} gpurt_pin_t;

enum {
    PIN_USER_BITS = 24,
    PIN_USERS = (1 << PIN_USER_BITS) - 1,
    PIN_LIVE = 1 << PIN_USER_BITS
};

/* What a live word holds above its users. kind: 0..127. */
static inline uint64_t pin_id(uint32_t generation, uint32_t kind)
{
    return (uint64_t)generation << 8 | kind << 1 | 1;
}
static inline uint32_t pin_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}
static inline uint32_t pin_kind(uint64_t word)
{
    return (uint32_t)word >> 25;
}

/* Makes it live, without users. Context: one thread at a time, while it is not live and
 * nobody uses it. */
static inline void pin_publish(gpurt_pin_t *pin, uint64_t id)
{
    gpurt_store_release_sys_u64(&pin->xword, id << PIN_USER_BITS); /* PIN1.rel */
}

/* Returns: false when something else, or nothing, lives here; then nothing changed. A
 * user is added by compare-exchange and not by a plain add, so that a retired word can
 * only fall: that is what makes "the last one out" unique. */
static inline bool pin_take(gpurt_pin_t *pin, uint64_t id)
{
    /* relaxed: the exchange checks the value again */
    uint64_t word = gpurt_load_relaxed_sys_u64(&pin->xword);

    do {
        if (GPURT_UNLIKELY(word >> PIN_USER_BITS != id))
            return false;
    } while (!gpurt_cas_acquire_sys_u64(&pin->xword, &word, word + 1)); /* PIN1.acq */
    return true;
}

/* Ends one use. Returns: true when it is retired and this was the last one. */
static inline bool pin_drop(gpurt_pin_t *pin)
{
    uint64_t word = gpurt_sub_acq_rel_sys_u64(&pin->xword, 1); /* PIN2.rel PIN2.acq */

    return GPURT_UNLIKELY((word & (PIN_LIVE | PIN_USERS)) == 1);
}

/* Lets nobody new in. *last: nobody uses it now, nor will anybody; otherwise one
 * pin_drop to come returns true. Returns: false when something else, or nothing, lives
 * here. */
static inline bool pin_retire(gpurt_pin_t *pin, uint64_t id, bool *last)
{
    /* relaxed: the exchange checks the value again */
    uint64_t word = gpurt_load_relaxed_sys_u64(&pin->xword), dead;

    *last = false;
    do {
        if (word >> PIN_USER_BITS != id)
            return false;
        dead = word & ~(uint64_t)PIN_LIVE;
    } while (!gpurt_cas_acquire_sys_u64(&pin->xword, &word, dead)); /* PIN2.acq */
    *last = (word & PIN_USERS) == 0;
    return true;
}

/* Users that are still there after it was retired. Returns: 0 in place of the last drop. */
static inline uint32_t pin_users(const gpurt_pin_t *pin)
{
    return gpurt_load_acquire_sys_u64(&pin->xword) & PIN_USERS; /* PIN2.acq */
}

/* Who it is now. */
static inline uint64_t pin_word(const gpurt_pin_t *pin)
{
    /* relaxed: for reports, and for whoever is alone with it */
    return gpurt_load_relaxed_sys_u64(&pin->xword);
}

#endif
