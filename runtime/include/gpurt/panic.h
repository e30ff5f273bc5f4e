/* SPDX-License-Identifier: Apache-2.0 */
/* panic.h - a broken promise on the device: told at once, and the rest goes on.
 *
 *   GPURT_PANIC(fmt, ...)                      this must not go on
 *   GPURT_PANIC_AS(category, fmt, ...)         ... of a category of the program's own
 *   GPURT_PANIC_WINDOW(pointer, bytes, ...)    ... and this memory is told
 *   GPURT_UNREACHABLE(...)                     no lane ever comes here
 *   GPURT_ASSERT(cond, ...)                    cond holds
 *   GPURT_ASSERT_LANES(cond, ...)              ... and if not, every lane's values are told
 *   GPURT_ASSERT_EQ/NE/LT/LE/GT/GE(a, b, ...)  a == b and so on; both sides are told
 *   GPURT_CHECK_BOUNDS(i, n, ...)              0 <= i < n, whatever the types
 *   GPURT_CHECK_INDEX(array, i, n, ...)        the same, and the memory around &array[i] is
 *                                              told; array points to n elements
 *   GPURT_COSTLY(assertion)                    only at GPURT_ASSERT_FULL
 *
 * where ... is a message, with arguments, or nothing.
 *
 * Context: device code. The lanes that come together make one panic: its slot in the
 * black box holds what was promised (also as text), message and arguments of the first
 * lane, the first two operands of every lane, the place, and what context.h has noted.
 * Then the block is cancelled (block.h), unless the launch has a guard that says more or
 * less (unwind.h): those lanes end, the others of the block at their next safe point.
 * Other blocks go on, the context stays healthy, the next launch works. A slot is written once and survives whatever happens to the process.
 * Panics beyond the slots are counted. Before gpurt_open nothing is told, but the block
 * is cancelled all the same.
 *
 * Every argument is evaluated once, and operands are compared as C compares them. With
 * GPURT_ASSERT_LEVEL at GPURT_ASSERT_OFF assertions and checks are compiled and never run:
 * their arguments have no effect. GPURT_PANIC and GPURT_UNREACHABLE stay. */
#ifndef GPURT_PANIC_H
#define GPURT_PANIC_H

#include <gpurt/log.h>
#include <gpurt/operand.h>
#include <gpurt/scope.h>
#include <gpurt/unwind.h>
#include <gpurt/window.h>

/* What assertions a file has: define it before the include, or for the compiler. */
#define GPURT_ASSERT_OFF   0
#define GPURT_ASSERT_CHEAP 1 /* all but those in GPURT_COSTLY */
#define GPURT_ASSERT_FULL  2
#ifndef GPURT_ASSERT_LEVEL
#    define GPURT_ASSERT_LEVEL GPURT_ASSERT_CHEAP
#endif

enum {
    GPURT_PANIC_STACK_BYTES = 512 /* on a GPU, of its lane's stack; it takes half of it */
};

/* What does not change from one panic of a use to the next. Owner: the program. */
typedef struct gpurt_panic_site {
    gpurt_site_t site;
    const char *condition, *function; /* condition: NULL none */
    uint16_t category;                /* GPURT_CATEGORY_* */
    uint16_t own;                     /* leading operands that are not the message's */
    uint32_t memory; /* behind the operands: base, size and address of a window */
} gpurt_panic_site_t;

/* ---- the slot -------------------------------------------------------------------------- */

/* One that is being raised. It lies on the stack, and the functions below are short and hand on
 * little more than its address: what lives across their calls adds to the registers of every
 * kernel that can panic. */
typedef struct gpurt_panic_raised {
    gpurt_panic_t *slot;
    gpurt_panic_site_t *site;
    gpurt_frame_t frame; /* of the operands, one 64-bit value each */
    uint32_t mask, failed;
} gpurt_panic_raised_t;

GPURT_DEV const uint64_t *gpurt_panic_args(const gpurt_panic_raised_t *r)
{
    return (const uint64_t *)gpurt_frame_at(r->frame);
}

/* The site's number, defined at need; at any level. */
GPURT_DEVN uint32_t gpurt_panic_number(gpurt_site_t *site)
{
    uint32_t gate = gpurt_log_gate(site);

    if (gpurt_log_is_rare(gate) && (int32_t)gate >= 0)
        gate = gpurt_log_define_as(site, 0);
    return gate & GPURT_GATE_NUMBER;
}

GPURT_DEVN void gpurt_panic_place(gpurt_panic_t *p)
{
    uint32_t ring = gpurt_sm() * gpurt_log_port.warp_slots + gpurt_warp_slot();

    p->sm = gpurt_sm();
    p->warp_slot = gpurt_warp_slot();
    p->block.x = gpurt_block_x();
    p->block.y = gpurt_block_y();
    p->block.z = gpurt_block_z();
    p->thread.x = gpurt_thread_x();
    p->thread.y = gpurt_thread_y();
    p->thread.z = gpurt_thread_z();
    p->warp = gpurt_warp();
    p->lane = gpurt_lane();
    p->grid.x = gpurt_grid_dim_x();
    p->grid.y = gpurt_grid_dim_y();
    p->grid.z = gpurt_grid_dim_z();
    p->block_dim.x = gpurt_block_dim_x();
    p->block_dim.y = gpurt_block_dim_y();
    p->block_dim.z = gpurt_block_dim_z();
    p->cluster_rank = gpurt_cluster_rank();
    p->cluster_size = gpurt_cluster_size();
    p->launch = gpurt_launch_number();
    if (ring < gpurt_log_port.ring_count)
        p->log_sequence = gpurt_load_relaxed_blk_u64(/* relaxed: this warp's own */
                                                     &gpurt_log_ring(ring).head->xrecords);
}

/* A slot for the lanes that came, and their operands. Returns: true in the one lane that goes on
 * with it. */
GPURT_DEVN bool gpurt_panic_begin(gpurt_panic_raised_t *r)
{
    uint32_t leader = gpurt_leader(r->failed), index = 0;
    uint64_t now = gpurt_globaltimer(), clock = gpurt_clock(); /* before the bus is asked */
    gpurt_panic_t *p;

    if (gpurt_lane() == leader)
        index = gpurt_add_relaxed_sys_u32(gpurt_log_port.xpanics, 1);
    index = gpurt_shfl_u32(r->mask, index, leader);
    if (index >= gpurt_log_port.panic_count)
        return false;
    p = gpurt_log_port.panics + index;
    r->slot = p;
    GPURT_ROLLED
    for (uint32_t i = 0; i < r->site->site.arg_count && i < GPURT_PANIC_OWN; i++)
        p->lanes[i][gpurt_lane()] = gpurt_panic_args(r)[i];
    gpurt_syncwarp(r->mask); /* the lanes' values come before the leader's release */
    if (gpurt_lane() != leader)
        return false;
    p->time_ns = now;
    p->clock = clock;
    p->number = index;
    p->mask = r->mask;
    p->failed = r->failed;
    return true;
}

GPURT_DEVN void gpurt_panic_promise(gpurt_panic_raised_t *r)
{
    gpurt_panic_t *p = r->slot;

    GPURT_ROLLED
    for (uint32_t i = 0; i < r->site->site.arg_count; i++)
        p->args[i] = gpurt_panic_args(r)[i];
    p->category = r->site->category;
    p->own = r->site->own;
}

/* Texts become numbers one after the other, in rows of eight: the promise's, then trail.h's. */
GPURT_DEV uint64_t gpurt_panic_text(gpurt_panic_raised_t *r, uint32_t k, uint32_t **to)
{
    const char *own = NULL;

    if (k >= 8)
        return gpurt_trail_text(r->slot, k / 8 - 1, k % 8, to);
    *to = k == 0 ? &r->slot->condition : k == 1 ? &r->slot->function : &r->slot->kernel;
    own = k == 0   ? r->site->condition
          : k == 1 ? r->site->function
          : k == 2 ? gpurt_kernel_name()
                   : NULL;
    return (uint64_t)(uintptr_t)own;
}

GPURT_DEVN void gpurt_panic_texts(gpurt_panic_raised_t *r, uint32_t first, uint32_t end)
{
    GPURT_ROLLED
    for (uint32_t k = first; k < end; k++) {
        uint32_t *to = NULL;
        uint64_t address = gpurt_panic_text(r, k, &to);

        if (address)
            *to = gpurt_log_string((const char *)(uintptr_t)address);
    }
}

GPURT_DEVN void gpurt_panic_windows(gpurt_panic_raised_t *r)
{
    const uint64_t *memory = gpurt_panic_args(r) + r->site->site.arg_count;

    if (r->site->memory)
        gpurt_window_tell(r->slot, memory[0], memory[1], memory[2]);
    GPURT_ROLLED
    for (uint32_t i = 0; i < GPURT_PANIC_WINDOWS; i++)
        gpurt_window_tell_named(r->slot, r->site->site.types, i);
}

/* mask: the lanes that came here, each with its args, one 64-bit value an operand; failed:
 * those of them that panic. Returns when nothing is connected, too. */
GPURT_DEVN void gpurt_panic_raise(gpurt_panic_site_t *site, uint32_t mask, uint32_t failed,
                                  gpurt_frame_t args)
{
    gpurt_panic_raised_t r;

    if (!gpurt_log_port.groups)
        return;
    r.frame = args;
    r.mask = mask;
    r.failed = failed;
    r.site = site;
    r.slot = NULL;
    if (!gpurt_panic_begin(&r))
        return;
    gpurt_panic_place(r.slot);
    gpurt_panic_promise(&r);
    gpurt_trail_tell_frames(r.slot);
    gpurt_trail_tell_contexts(r.slot);
    gpurt_trail_tell_held(r.slot);
    /* what is not there is not looked for: the drainer waits */
    gpurt_panic_texts(&r, 0, gpurt_log_port.trails ? 8 * (1 + GPURT_TRAIL_WINDOWS) : 3);
    r.slot->site = gpurt_panic_number(&r.site->site);
    if (r.site->memory || gpurt_trail_windows()) {
        /* Memory is read last: if a bad pointer ends the lane, the rest is there. */
        gpurt_store_release_sys_u32(&r.slot->xstate, GPURT_PANIC_COPYING); /* B6.rel */
        gpurt_panic_windows(&r);
        gpurt_panic_texts(&r, 8 * (1 + GPURT_TRAIL_WINDOWS), 8 * (1 + GPURT_TRAIL_ROWS));
    }
    gpurt_store_release_sys_u32(&r.slot->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
}

/* What follows when the record of the lanes in `mask` is out. Not told to end where nvcc sees
 * it: see GPURT_ENDS. */
GPURT_DEVN GPURT_ENDS void gpurt_panic_end(uint32_t mask)
{
    gpurt_unwind(mask);
}

/* Both. As one call, it takes least of the kernel's code and registers. */
GPURT_DEVN GPURT_ENDS void gpurt_panic_fail(gpurt_panic_site_t *site, uint32_t mask,
                                            gpurt_frame_t args)
{
    gpurt_panic_raise(site, mask, mask, args);
    gpurt_unwind(mask);
}

/* ---- the parts of the macros ----------------------------------------------------------- */

#define GPURT_PANIC_ARG_(index, x) gpurt_a_[gpurt_own_ + (index)] = GPURT_ARG_BITS(x);

/* Declares gpurt_s_ and gpurt_a_. own: how many of the operands come before the message's;
 * own_types: their types; memory: 1 where a window is given; put: statements that fill gpurt_a_
 * with them. */
#define GPURT_PANIC_PREPARE_(category_, condition_, own_, own_types_, memory_, put, fmt, \
                             ...)                                                        \
    GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);               \
    enum {                                                                               \
        gpurt_own_ = own_,                                                               \
        gpurt_count_ = own_ + GPURT_ARG_COUNT(_, ##__VA_ARGS__)                          \
    };                                                                                   \
    static gpurt_panic_site_t gpurt_s_ = {                                               \
        GPURT_SITE_INIT(GPURT_LEVEL_PANIC, GPURT_KIND_PANIC,                             \
                        (own_types_) | GPURT_TYPES(_, ##__VA_ARGS__) << (4 * (own_)),    \
                        gpurt_count_, fmt),                                              \
        condition_,                                                                      \
        __func__,                                                                        \
        (uint16_t)(category_),                                                           \
        (uint16_t)(own_),                                                                \
        memory_};                                                                        \
    uint64_t gpurt_a_[gpurt_count_ + 1 + 3 * (memory_)];                                 \
                                                                                         \
    gpurt_a_[0] = 0;                                                                     \
    put GPURT_ARGS(GPURT_PANIC_ARG_, ##__VA_ARGS__)

/* The lanes that come here have all failed. mask: of gpurt_activemask in the macro itself, see
 * gpurt_log_call. */
#define GPURT_PANIC_FAIL_(category, condition, own, own_types, memory, put, ...) \
    {                                                                            \
        const uint32_t gpurt_mask_ = gpurt_activemask();                         \
                                                                                 \
        GPURT_PANIC_PREPARE_(category, condition, own, own_types, memory, put,   \
                             __VA_ARGS__)                                        \
        gpurt_panic_fail(&gpurt_s_, gpurt_mask_, gpurt_frame_of(gpurt_a_));      \
        GPURT_NEVER();                                                           \
    }

#define GPURT_PANIC_PAIR_TYPES_ \
    ((uint64_t)GPURT_OPERAND_TYPE(gpurt_x_) | (uint64_t)GPURT_OPERAND_TYPE(gpurt_y_) << 4)
#define GPURT_PANIC_PAIR_PUT_                   \
    gpurt_a_[0] = GPURT_OPERAND_BITS(gpurt_x_); \
    gpurt_a_[1] = GPURT_OPERAND_BITS(gpurt_y_);

/* What the lanes of `mask` say, without what follows from it. */
#define GPURT_PANIC_RECORD_(mask, category, condition, ...)                     \
    do {                                                                        \
        GPURT_PANIC_PREPARE_(category, condition, 0, 0ull, 0, , "" __VA_ARGS__) \
        gpurt_panic_raise(&gpurt_s_, mask, mask, gpurt_frame_of(gpurt_a_));     \
    } while (0)

#define GPURT_PANIC_SIGNED_(x) \
    (GPURT_OPERAND_TYPE(x) == GPURT_TYPE_I32 || GPURT_OPERAND_TYPE(x) == GPURT_TYPE_I64)

/* Two operands, kept by their values and types before they are compared. natural: a statement
 * for the compiler's eyes; holds: of gpurt_x_ and gpurt_y_. */
#define GPURT_PANIC_PAIR_(category, condition, a, b, natural, holds, memory, put, ...) \
    do {                                                                               \
        natural GPURT_OPERAND(gpurt_x_, a, b);                                         \
        GPURT_OPERAND(gpurt_y_, b, a);                                                 \
        GPURT_OPERANDS_QUIETLY(const bool gpurt_holds_ = (holds);)                     \
                                                                                       \
        if (GPURT_UNLIKELY(!gpurt_holds_))                                             \
            GPURT_PANIC_FAIL_(category, condition, 2, GPURT_PANIC_PAIR_TYPES_, memory, \
                              GPURT_PANIC_PAIR_PUT_ put, __VA_ARGS__)                  \
    } while (0)

#define GPURT_PANIC_WITHIN_                                                 \
    gpurt_operand_within(GPURT_PANIC_SIGNED_(gpurt_x_), (uint64_t)gpurt_x_, \
                         GPURT_PANIC_SIGNED_(gpurt_y_), (uint64_t)gpurt_y_)
#define GPURT_PANIC_MEMORY_PUT_(base, size, mark)         \
    gpurt_a_[gpurt_count_] = (uint64_t)(uintptr_t)(base); \
    gpurt_a_[gpurt_count_ + 1] = (uint64_t)(size);        \
    gpurt_a_[gpurt_count_ + 2] = (uint64_t)(mark);

/* ---- the macros ------------------------------------------------------------------------ */

#define GPURT_PANIC_AS(category, ...)                                   \
    do                                                                  \
        GPURT_PANIC_FAIL_(category, NULL, 0, 0ull, 0, , "" __VA_ARGS__) \
    while (0)
#define GPURT_PANIC(...) GPURT_PANIC_AS(GPURT_CATEGORY_PANIC, __VA_ARGS__)
#define GPURT_PANIC_WINDOW(pointer, bytes, ...)                                       \
    do                                                                                \
        GPURT_PANIC_FAIL_(GPURT_CATEGORY_PANIC, NULL, 0, 0ull, 1,                     \
                          GPURT_PANIC_MEMORY_PUT_(pointer, bytes, 0), "" __VA_ARGS__) \
    while (0)
#define GPURT_UNREACHABLE(...) GPURT_PANIC_AS(GPURT_CATEGORY_UNREACHABLE, __VA_ARGS__)

#if GPURT_ASSERT_LEVEL >= GPURT_ASSERT_CHEAP
#    define GPURT_ASSERT(cond, ...)                                           \
        do {                                                                  \
            if (GPURT_UNLIKELY(!(cond)))                                      \
                GPURT_PANIC_FAIL_(GPURT_CATEGORY_ASSERT, #cond, 0, 0ull, 0, , \
                                  "" __VA_ARGS__)                             \
        } while (0)
/* The lanes that run together vote; where all is well that is the whole price. What is called
 * with the mask else is out of line, where ptxas knows nothing of where it came from. */
#    define GPURT_ASSERT_LANES(cond, ...)                                            \
        do {                                                                         \
            const bool gpurt_holds_ = (cond);                                        \
            const uint32_t gpurt_mask_ = gpurt_activemask_now();                     \
            const uint32_t gpurt_failed_ = gpurt_ballot(gpurt_mask_, !gpurt_holds_); \
                                                                                     \
            if (GPURT_UNLIKELY(gpurt_failed_ != 0)) {                                \
                GPURT_PANIC_PREPARE_(GPURT_CATEGORY_ASSERT, #cond, 0, 0ull, 0, ,     \
                                     "" __VA_ARGS__)                                 \
                gpurt_panic_raise(&gpurt_s_, gpurt_mask_, gpurt_failed_,             \
                                  gpurt_frame_of(gpurt_a_));                         \
                if (!gpurt_holds_) {                                                 \
                    gpurt_panic_end(gpurt_failed_);                                  \
                    GPURT_NEVER();                                                   \
                }                                                                    \
            }                                                                        \
        } while (0)
#    define GPURT_ASSERT_COMPARED_(a, op, b, text, ...)                                \
        GPURT_PANIC_PAIR_(GPURT_CATEGORY_COMPARE, text, a, b,                          \
                          GPURT_OPERANDS_NATURAL(a, op, b), gpurt_x_ op gpurt_y_, 0, , \
                          "" __VA_ARGS__)
#    define GPURT_CHECK_BOUNDS(i, n, ...)                                     \
        GPURT_PANIC_PAIR_(GPURT_CATEGORY_BOUNDS, "0 <= " #i " < " #n, i, n, , \
                          GPURT_PANIC_WITHIN_, 0, , "" __VA_ARGS__)
#    define GPURT_CHECK_INDEX(array, i, n, ...)                                     \
        GPURT_PANIC_PAIR_(                                                          \
            GPURT_CATEGORY_BOUNDS, "0 <= " #i " < " #n, i, n,                       \
            const char *const gpurt_p_ = (const char *)(array);                     \
            , GPURT_PANIC_WITHIN_, 1,                                               \
            GPURT_PANIC_MEMORY_PUT_(gpurt_p_, (uint64_t)gpurt_y_ * sizeof *(array), \
                                    (uint64_t)(uintptr_t)gpurt_p_ +                 \
                                        (uint64_t)gpurt_x_ * sizeof *(array)),      \
            "" __VA_ARGS__)
#else
#    define GPURT_ASSERT(cond, ...)       GPURT_OPERANDS_UNUSED(cond, true)
#    define GPURT_ASSERT_LANES(cond, ...) GPURT_OPERANDS_UNUSED(cond, true)
#    define GPURT_ASSERT_COMPARED_(a, op, b, text, ...) \
        GPURT_OPERANDS_UNUSED((a)op(b), true)
#    define GPURT_CHECK_BOUNDS(i, n, ...)       GPURT_OPERANDS_UNUSED(i, n)
#    define GPURT_CHECK_INDEX(array, i, n, ...) GPURT_OPERANDS_UNUSED((array)[i], n)
#endif

#define GPURT_ASSERT_EQ(a, b, ...) \
    GPURT_ASSERT_COMPARED_(a, ==, b, #a " == " #b, ##__VA_ARGS__)
#define GPURT_ASSERT_NE(a, b, ...) \
    GPURT_ASSERT_COMPARED_(a, !=, b, #a " != " #b, ##__VA_ARGS__)
#define GPURT_ASSERT_LT(a, b, ...) \
    GPURT_ASSERT_COMPARED_(a, <, b, #a " < " #b, ##__VA_ARGS__)
#define GPURT_ASSERT_LE(a, b, ...) \
    GPURT_ASSERT_COMPARED_(a, <=, b, #a " <= " #b, ##__VA_ARGS__)
#define GPURT_ASSERT_GT(a, b, ...) \
    GPURT_ASSERT_COMPARED_(a, >, b, #a " > " #b, ##__VA_ARGS__)
#define GPURT_ASSERT_GE(a, b, ...) \
    GPURT_ASSERT_COMPARED_(a, >=, b, #a " >= " #b, ##__VA_ARGS__)

#if GPURT_ASSERT_LEVEL >= GPURT_ASSERT_FULL
#    define GPURT_COSTLY(...) __VA_ARGS__
#else
#    define GPURT_COSTLY(...) \
        do {                  \
            if (false) {      \
                __VA_ARGS__;  \
            }                 \
        } while (0)
#endif

/* In a scope (scope.h), in a function that returns gpurt_status_t: all lanes of `mask` come; those
 * that fail make one panic, and all return GPURT_E_PANIC. */
#define GPURT_SCOPE_ASSERT(mask, scope, cond, fmt, ...)                          \
    do {                                                                         \
        const uint32_t gpurt_f_ = gpurt_ballot(mask, !(cond));                   \
        if (GPURT_UNLIKELY(gpurt_f_ != 0)) {                                     \
            if (gpurt_f_ >> gpurt_lane() & 1u) {                                 \
                GPURT_PANIC_RECORD_(gpurt_f_, GPURT_CATEGORY_ASSERT, #cond, fmt, \
                                    ##__VA_ARGS__);                              \
                gpurt_scope_panicked(scope, gpurt_f_);                           \
            }                                                                    \
            gpurt_syncwarp(mask);                                                \
            return GPURT_E_PANIC;                                                \
        }                                                                        \
    } while (0)

#endif
