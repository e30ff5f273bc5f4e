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
 * Other blocks go on, the context stays healthy, the next launch works. A slot is written
 * once and survives whatever happens to the process. Panics beyond the slots are counted.
 * The host writes a line to standard error for each of the first, and the wait for a launch
 * without a guard returns GPURT_E_PANIC (docs/PANICS.md). Before gpurt_open nothing is told,
 * but the block is cancelled all the same.
 *
 * On the host's side of a __host__ __device__ function what fails is one line on standard error and
 * abort(), as in C. In existing CUDA C++ a panic may trap its kernel: GPURT_PANIC_TRAP (unwind.h).
 *
 * Every argument is evaluated once, and operands are compared as C compares them. With
 * GPURT_ASSERT_LEVEL at GPURT_ASSERT_OFF assertions and checks are compiled and never run:
 * their arguments have no effect. GPURT_PANIC and GPURT_UNREACHABLE stay. */
#ifndef GPURT_PANIC_H
#define GPURT_PANIC_H

#include <gpurt/impl/hostside.h>
#include <gpurt/impl/operand.h>
#include <gpurt/impl/window.h>
#include <gpurt/log.h>
#include <gpurt/scope.h>
#include <gpurt/unwind.h>

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
    const char *condition, *function;
    uint16_t category; /* GPURT_CATEGORY_* */
    uint16_t own;      /* leading operands that are not the message's */
    uint32_t memory;   /* behind the operands: base, size and address of a window */
    /* Numbers of the two texts, below the epoch of the box that they are of; another epoch: not
     * known. written by: a lane that looked them up */
    uint32_t xcondition, xfunction;
} gpurt_panic_site_t;

/* ---- the slot -------------------------------------------------------------------------- */

/* Beside blocks that compute, a warp that panics gets few of the issue slots, and its code is in
 * no cache. So what every panic does stands in one short function, asks for what is far away at
 * once, and stores neighbours together; what few need is out of line behind it. */

/* The site's number, defined at need; at any level. */
GPURT_DEVN uint32_t gpurt_panic_number(gpurt_site_t *site)
{
    uint32_t gate = gpurt_log_gate(site);

    if (gpurt_log_is_rare(gate) && (int32_t)gate >= 0)
        gate = gpurt_log_define_as(site, 0);
    return gate & GPURT_GATE_NUMBER;
}

/* Where it happened, and in what. Two functions, because of one nvcc reads all before it stores
 * any of it, in registers that each kernel that can panic would have to have. */
GPURT_DEVN void gpurt_panic_place(gpurt_panic_t *p)
{
    uint32_t sm = gpurt_sm(), slot = gpurt_warp_slot();

    p->sm = sm;
    p->warp_slot = slot;
    p->block.x = gpurt_block_x();
    p->block.y = gpurt_block_y();
    p->block.z = gpurt_block_z();
    p->thread.x = gpurt_thread_x();
    p->thread.y = gpurt_thread_y();
    p->thread.z = gpurt_thread_z();
}
GPURT_DEVN void gpurt_panic_shape(gpurt_panic_t *p)
{
    p->cluster_rank = gpurt_cluster_rank();
    p->cluster_size = gpurt_cluster_size();
    p->grid.x = gpurt_grid_dim_x();
    p->grid.y = gpurt_grid_dim_y();
    p->grid.z = gpurt_grid_dim_z();
    p->block_dim.x = gpurt_block_dim_x();
    p->block_dim.y = gpurt_block_dim_y();
    p->block_dim.z = gpurt_block_dim_z();
    p->launch = gpurt_launch_number();
}

/* Messages that the warp's ring has taken. */
GPURT_DEV uint64_t gpurt_panic_sequence(void)
{
    uint32_t head = gpurt_log_head_here();

    if (head >= gpurt_log_port.heads_end)
        return 0;
    return gpurt_load_relaxed_blk_u64(/* relaxed: this warp's own */
                                      &gpurt_log_ring(head).head->xrecords);
}

/* Of a text of a site, as it is remembered there: relaxed, because another number is no worse
 * than none. */
GPURT_DEV uint32_t gpurt_panic_known(const uint32_t *word)
{
#if GPURT_ON_CUDA
    return gpurt_load_relaxed_blk_u32(word);
#else
    return gpurt_load_relaxed_dev_u32(word);
#endif
}
GPURT_DEV bool gpurt_panic_is_known(uint32_t word)
{
    return word >> 16 == gpurt_log_port.epoch;
}

/* The number of a site's text, which is remembered. */
GPURT_DEVN uint32_t gpurt_panic_text(uint32_t *word, const char *text)
{
    uint32_t known = gpurt_panic_known(word);

    if (gpurt_panic_is_known(known))
        return known & 0xffffu;
    known = gpurt_log_string(text);
    if (known <= 0xffffu)
        gpurt_store_relaxed_dev_u32(word, gpurt_log_port.epoch << 16 | known);
    return known;
}

GPURT_DEVN void gpurt_panic_texts(gpurt_panic_t *p, uint32_t first, uint32_t end)
{
    GPURT_ROLLED
    for (uint32_t k = first; k < end; k++) {
        uint32_t *to = NULL;
        uint64_t address = gpurt_trail_text(p, k / 8, k % 8, &to);

        if (address)
            *to = gpurt_log_string((const char *)(uintptr_t)address);
    }
}

GPURT_DEVN void gpurt_panic_windows(gpurt_panic_t *p, const gpurt_panic_site_t *site,
                                    gpurt_frame_t args)
{
    const uint64_t *memory = (const uint64_t *)gpurt_frame_at(args) + site->site.arg_count;

    if (site->memory)
        gpurt_window_tell(p, memory[0], memory[1], memory[2]);
    GPURT_ROLLED
    for (uint32_t i = 0; i < GPURT_PANIC_WINDOWS; i++)
        gpurt_window_tell_named(p, site->site.types, i);
}

/* The rare parts of a panic: notes, texts that are new at the site, windows. Don't search
 * for missing definitions here; the drainer waits for them. Without a log nobody would see
 * windows, and a bad pointer is not worth a context then. */
GPURT_DEVN void gpurt_panic_rest(gpurt_panic_t *p, gpurt_panic_site_t *site,
                                 gpurt_frame_t args)
{
    if (gpurt_log_port.trails) {
        gpurt_trail_tell_frames(p);
        gpurt_trail_tell_contexts(p);
        gpurt_trail_tell_held(p);
        gpurt_panic_texts(p, 0, 8 * GPURT_TRAIL_WINDOWS);
    }
    p->condition = gpurt_panic_text(&site->xcondition, site->condition);
    p->function = gpurt_panic_text(&site->xfunction, site->function);
    p->site = gpurt_panic_number(&site->site);
    if (gpurt_log_port.groups && (site->memory || gpurt_trail_windows())) {
        /* Memory is read last: if a bad pointer ends the lane, the rest is there. */
        gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_COPYING); /* B6.rel */
        gpurt_panic_windows(p, site, args);
        gpurt_panic_texts(p, 8 * GPURT_TRAIL_WINDOWS, 8 * GPURT_TRAIL_ROWS);
    }
}

/* By the lane that goes on with the slot. Returns: false when there is more to tell. */
GPURT_DEV bool gpurt_panic_tell(gpurt_panic_t *p, const gpurt_panic_site_t *site,
                                const uint64_t *args, uint32_t count)
{
    const char *kernel = gpurt_kernel_name(); /* NULL on a GPU */
    uint32_t gate = gpurt_log_gate(&site->site), category = site->category;
    uint32_t condition = gpurt_panic_known(&site->xcondition), own = site->own;
    uint32_t function = gpurt_panic_known(&site->xfunction), memory = site->memory;

    GPURT_ROLLED
    for (uint32_t i = 0; i < count; i++)
        p->args[i] = args[i];
    p->category = (uint16_t)category;
    p->own = (uint16_t)own;
    p->condition = condition & 0xffffu;
    p->function = function & 0xffffu;
    p->kernel = kernel ? gpurt_log_string(kernel) : 0;
    p->site = gate & GPURT_GATE_NUMBER;
    return !gpurt_log_is_rare(gate) && gpurt_panic_is_known(condition) &&
           gpurt_panic_is_known(function) && !memory && !gpurt_log_port.trails;
}

#if !GPURT_ON_CUDA
/* To the executor, which knows of it without a box. */
GPURT_DEVN void gpurt_panic_tell_executor(const gpurt_panic_site_t *site,
                                          const uint64_t *args, uint32_t mask,
                                          uint32_t failed)
{
    gpurt_simt_panic_t p;

    p.format = site->site.format;
    p.file = site->site.file;
    p.condition = site->condition;
    p.function = site->function;
    p.args = args;
    p.types = site->site.types;
    p.line = site->site.line;
    p.arg_count = site->site.arg_count;
    p.own = site->own;
    p.category = site->category;
    p.mask = mask;
    p.failed = failed;
    gpurt_simt_panic(&p);
}
#endif

/* mask: the lanes that came here, each with its args, one 64-bit value an operand; failed:
 * those of them that panic. Returns when nothing is connected, too. */
GPURT_DEVN void gpurt_panic_raise(gpurt_panic_site_t *site, uint32_t mask, uint32_t failed,
                                  gpurt_frame_t frame)
{
    const uint64_t *args = (const uint64_t *)gpurt_frame_at(frame);
    uint32_t leader = gpurt_leader(failed), index = 0, count;
    uint64_t now = gpurt_globaltimer(), clock = gpurt_clock();
    const bool alone = (mask & (mask - 1)) == 0;
    gpurt_panic_t *p;

#if !GPURT_ON_CUDA
    if (gpurt_lane() == leader)
        gpurt_panic_tell_executor(site, args, mask, failed);
#endif
    if (!gpurt_log_port.panic_count)
        return;
    /* On their way while the bus is asked. */
    count = site->site.arg_count;
    gpurt_soon(site->site.xgate);
    gpurt_soon(&site->xcondition);
    if (gpurt_lane() == leader)
        index = gpurt_add_relaxed_sys_u32(gpurt_log_port.xpanics, 1);
    if (!alone)
        index = gpurt_shfl_u32(mask, index, leader);
    if (index >= gpurt_log_port.panic_count)
        return;
    p = gpurt_log_port.panics + index;
    GPURT_STATIC_ASSERT(GPURT_PANIC_OWN == 2, "these");
    if (count > 0)
        p->lanes[0][gpurt_lane()] = args[0];
    if (count > 1)
        p->lanes[1][gpurt_lane()] = args[1];
    if (!alone)
        gpurt_syncwarp(mask); /* the lanes' values come before the leader's release */
    if (gpurt_lane() != leader)
        return;
    p->lane = gpurt_lane();
    p->mask = mask;
    p->failed = failed;
    p->time_ns = now;
    p->clock = clock;
    p->number = index;
    gpurt_panic_place(p);
    gpurt_panic_shape(p);
    p->warp = gpurt_warp();
    p->log_sequence = gpurt_panic_sequence();
    if (!gpurt_panic_tell(p, site, args, count))
        GPURT_FAR(gpurt_panic_rest)(p, site, frame);
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
}

/* A launch with a guard has a verdict of its own; any other fails by its panic, and the host
 * reads that here when it waits. Behind the record, which comes first. */
GPURT_DEVN void gpurt_panic_count(uint32_t mask)
{
    if (!gpurt_log_port.panic_count || !gpurt_is_leader(mask))
        return;
    /* relaxed: a count, which the end of the kernel orders, and why it was trapped */
    if (!gpurt_guard_here())
        gpurt_add_relaxed_sys_u32(gpurt_log_port.xfailed, 1);
    if (gpurt_must_trap())
        gpurt_store_relaxed_sys_u32(gpurt_box_trap(gpurt_log_port.xfailed),
                                    gpurt_must_trap());
}

/* Runs after the record of the lanes in `mask` is complete. Not told to end where nvcc sees
 * it: see GPURT_ENDS. */
GPURT_DEVN GPURT_ENDS void gpurt_panic_end(uint32_t mask)
{
    gpurt_panic_count(mask);
    gpurt_unwind(mask);
}

/* Both. As one call, it takes least of the kernel's code and registers. */
GPURT_DEVN GPURT_ENDS void gpurt_panic_fail(gpurt_panic_site_t *site, uint32_t mask,
                                            gpurt_frame_t args)
{
    gpurt_panic_raise(site, mask, mask, args);
    gpurt_panic_count(mask);
    GPURT_FAR(gpurt_unwind)(mask);
}

/* ---- the parts of the macros ----------------------------------------------------------- */

#define GPURT_PANIC_ARG_(index, x) gpurt_a_[gpurt_own_ + (index)] = GPURT_ARG_BITS(x);

#define GPURT_PANIC_TYPES_(own, own_types, ...) \
    ((own_types) | GPURT_TYPES(_, ##__VA_ARGS__) << (4 * (own)))
/* The function that the word stands in, not the one of GPURT_KEPT. */
#if defined(__cplusplus)
#    define GPURT_FUNCTION_NAMED_ constexpr const char *gpurt_function_ = __func__;
#    define GPURT_FUNCTION_       gpurt_function_
#else
#    define GPURT_FUNCTION_NAMED_
#    define GPURT_FUNCTION_ __func__
#endif

/* Declares gpurt_s_ and gpurt_a_. own: how many of the operands come before the message's;
 * own_types: their types; memory: 1 where a window is given; put: statements that fill gpurt_a_
 * with them. */
#define GPURT_PANIC_PREPARE_(category_, condition_, own_, own_types_, memory_, put, fmt,   \
                             ...)                                                          \
    GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);                 \
    enum {                                                                                 \
        gpurt_own_ = own_,                                                                 \
        gpurt_count_ = own_ + GPURT_ARG_COUNT(_, ##__VA_ARGS__)                            \
    };                                                                                     \
    GPURT_KEPT_NUMBER(gpurt_types_, GPURT_PANIC_TYPES_(own_, own_types_, ##__VA_ARGS__))   \
    GPURT_FUNCTION_NAMED_                                                                  \
    GPURT_KEPT(                                                                            \
        gpurt_panic_site_t, gpurt_s_,                                                      \
        {GPURT_SITE_INIT(GPURT_LEVEL_PANIC, GPURT_KIND_PANIC,                              \
                         GPURT_KEPT_AS(gpurt_types_, GPURT_PANIC_TYPES_(own_, own_types_,  \
                                                                        ##__VA_ARGS__)),   \
                         gpurt_count_, fmt),                                               \
         condition_, GPURT_FUNCTION_, (uint16_t)(category_), (uint16_t)(own_), memory_, 0, \
         0});                                                                              \
    GPURT_KEPT_ROOM(uint64_t, gpurt_a_, gpurt_count_ + 1 + 3 * (memory_));                 \
                                                                                           \
    gpurt_a_[0] = 0;                                                                       \
    put GPURT_ARGS(GPURT_PANIC_ARG_, ##__VA_ARGS__)

#if GPURT_HOST_SIDE
/* The host's side of a function for both: as assert() of C. */
static inline GPURT_NORETURN void gpurt_panic_on_host(const gpurt_panic_site_t *site,
                                                      const uint64_t *args)
{
    gpurt_hostside_fail(&site->site, site->condition, site->function, site->own, args);
}
#    define GPURT_PANIC_FAIL_(category, condition, own, own_types, memory, put, ...) \
        {                                                                            \
            GPURT_PANIC_PREPARE_(category, condition, own, own_types, memory, put,   \
                                 __VA_ARGS__)                                        \
            gpurt_panic_on_host(&gpurt_s_, gpurt_a_);                                \
        }
#else
/* The lanes that come here have all failed. mask: of gpurt_activemask in the macro itself, see
 * gpurt_log_call. */
#    define GPURT_PANIC_FAIL_(category, condition, own, own_types, memory, put, ...) \
        {                                                                            \
            const uint32_t gpurt_mask_ = gpurt_activemask();                         \
                                                                                     \
            GPURT_PANIC_PREPARE_(category, condition, own, own_types, memory, put,   \
                                 __VA_ARGS__)                                        \
            gpurt_panic_fail(&gpurt_s_, gpurt_mask_, gpurt_frame_of(gpurt_a_));      \
            GPURT_NEVER();                                                           \
        }
#endif

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
#    if GPURT_HOST_SIDE
#        define GPURT_ASSERT_LANES(cond, ...) GPURT_ASSERT(cond, ##__VA_ARGS__)
#    else
/* The lanes that run together vote; where all is well that is the whole price. What is called
 * with the mask else is out of line, where ptxas knows nothing of where it came from. */
#        define GPURT_ASSERT_LANES(cond, ...)                                            \
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
#    endif
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
            GPURT_OPERAND(gpurt_p_, array, array);                                  \
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
