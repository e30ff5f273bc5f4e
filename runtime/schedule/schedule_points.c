/* SPDX-License-Identifier: Apache-2.0 */
/* What a program compiled with -fsanitize=thread calls, when it is linked with this library
 * instead of the race detector: each plain access to memory becomes a preemption point.
 *
 * The calls come from every instrumented function: of lanes, of host threads, of
 * constructors before main. All they use is the budget of point.h, which is thread-local
 * and refills itself on threads that run no lane. The point lies before the access, so
 * another lane can come between the load and the store of `x = x + 1`.
 *
 * The dialect's atomics have their own points and reach the functions here only under gcc,
 * which cannot leave them out: so they are plain atomics here, sequentially consistent,
 * whatever order was asked for. */
#include <gpurt/atomic.h>
#include <gpurt/impl/dialect.h>

#include <string.h>

#if defined(__SANITIZE_THREAD__)
#    error "schedule_points.c must not be instrumented: it would call itself"
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        error "schedule_points.c must not be instrumented: it would call itself"
#    endif
#endif

/* gpurt-check looks for this name in a program; __tsan_init holds it against the linker. */
extern const char gpurt_schedule_build[];
const char gpurt_schedule_build[] = "plain accesses are preemption points";

void __tsan_init(void);
void __tsan_init(void)
{
    __asm__ __volatile__("" : : "r"(gpurt_schedule_build));
}

static inline bool is_inside(const void *addr, const void *object, size_t bytes)
{
    return (uintptr_t)addr - (uintptr_t)object < bytes;
}

/* The budget is counted down in instrumented code: no point inside of a point. And what a
 * lane reads of its own ids never changes while it runs: points there only thin out the
 * others. */
static inline bool is_of_the_executor(const void *addr)
{
    const gpurt_simt_lane_t *self = gpurt_simt_self;

    return addr == &gpurt_point_budget || addr == &gpurt_simt_self ||
           is_inside(addr, self, sizeof *self) ||
           is_inside(addr, self->block, sizeof *self->block);
}

static inline void plain_point(const void *addr, size_t bytes)
{
    if (!is_of_the_executor(addr))
        gpurt_point(addr, bytes < UINT16_MAX ? (uint32_t)bytes : UINT16_MAX,
                    GPURT_SCOPE_SYS, GPURT_POINT_PLAIN);
}

/* ---- accesses ------------------------------------------------------------------------ */
#define ACCESS(name, bytes)                \
    void __tsan_##name##bytes(void *addr); \
    void __tsan_##name##bytes(void *addr)  \
    {                                      \
        plain_point(addr, bytes);          \
    }
#define ACCESSES(name) \
    ACCESS(name, 1) ACCESS(name, 2) ACCESS(name, 4) ACCESS(name, 8) ACCESS(name, 16)
#define UNALIGNED(name) ACCESS(name, 2) ACCESS(name, 4) ACCESS(name, 8) ACCESS(name, 16)

ACCESSES(read)
ACCESSES(write)
ACCESSES(read_write)
ACCESSES(volatile_read)
ACCESSES(volatile_write)
UNALIGNED(unaligned_read)
UNALIGNED(unaligned_write)
UNALIGNED(unaligned_read_write)
UNALIGNED(unaligned_volatile_read)
UNALIGNED(unaligned_volatile_write)

#define RANGE(name)                                      \
    void __tsan_##name(void *addr, unsigned long bytes); \
    void __tsan_##name(void *addr, unsigned long bytes)  \
    {                                                    \
        plain_point(addr, bytes);                        \
    }
RANGE(read_range)
RANGE(write_range)

/* ---- blocks of memory: two halves, so that another lane can see one without the other  */
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes);

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    size_t half = bytes / 2;
    /* They may overlap: the first half to go is the one the other does not lie on. */
    bool up = (uintptr_t)to <= (uintptr_t)from;
    size_t first = up ? 0 : half, second = up ? half : 0;

    plain_point(from, bytes);
    memmove((char *)to + first, (const char *)from + first, up ? half : bytes - half);
    plain_point(to, bytes);
    memmove((char *)to + second, (const char *)from + second, up ? bytes - half : half);
    return to;
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    return __tsan_memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, size_t bytes)
{
    size_t half = bytes / 2;

    plain_point(to, bytes);
    memset(to, byte, half);
    plain_point(to, bytes);
    memset((char *)to + half, byte, bytes - half);
    return to;
}

/* ---- C++ objects: their table of virtual functions is a word like any other ---------- */
void __tsan_vptr_read(void **addr);
void __tsan_vptr_update(void **addr, void *value);

void __tsan_vptr_read(void **addr)
{
    plain_point(addr, sizeof *addr);
}

void __tsan_vptr_update(void **addr, void *value)
{
    (void)value;
    plain_point(addr, sizeof *addr);
}

/* ---- nothing to do ------------------------------------------------------------------- */
#define NOTHING(name, ...)           \
    void __tsan_##name(__VA_ARGS__); \
    void __tsan_##name(__VA_ARGS__) {}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
NOTHING(func_exit, void)
NOTHING(ignore_thread_begin, void)
NOTHING(ignore_thread_end, void)

/* ---- order: the dialect's fences, in the race detector's words ----------------------- */
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_acquire(void *addr)
{
    (void)addr;
    gpurt_fence_seq_cst_sys();
}

void __tsan_release(void *addr)
{
    (void)addr;
    gpurt_fence_seq_cst_sys();
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    gpurt_fence_seq_cst_sys();
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __asm__ __volatile__("" : : : "memory");
}

/* ---- atomics of 8 to 64 bits --------------------------------------------------------- */
#define ATOMIC_ACCESS(T, bits)                                       \
    T __tsan_atomic##bits##_load(const volatile T *p, int order);    \
    T __tsan_atomic##bits##_load(const volatile T *p, int order)     \
    {                                                                \
        (void)order;                                                 \
        return GPURT_RAW_load(T, p, seq_cst, sys);                   \
    }                                                                \
    void __tsan_atomic##bits##_store(volatile T *p, T v, int order); \
    void __tsan_atomic##bits##_store(volatile T *p, T v, int order)  \
    {                                                                \
        (void)order;                                                 \
        GPURT_RAW_store(p, v, seq_cst, sys);                         \
    }
#define ATOMIC_OP(T, bits, name, op)                               \
    T __tsan_atomic##bits##_##name(volatile T *p, T v, int order); \
    T __tsan_atomic##bits##_##name(volatile T *p, T v, int order)  \
    {                                                              \
        (void)order;                                               \
        return GPURT_RAW_##op(T, T, u##bits, p, v, seq_cst, sys);  \
    }
#define ATOMIC_NAND(T, bits)                                                               \
    T __tsan_atomic##bits##_fetch_nand(volatile T *p, T v, int order);                     \
    T __tsan_atomic##bits##_fetch_nand(volatile T *p, T v, int order)                      \
    {                                                                                      \
        T old = GPURT_RAW_load(T, p, seq_cst, sys);                                        \
                                                                                           \
        (void)order;                                                                       \
        while (!GPURT_RAW_cas(T, u##bits, p, &old, (T) ~(old & v), seq_cst, seq_cst, sys)) \
            ;                                                                              \
        return old;                                                                        \
    }
#define ATOMIC_CAS(T, bits, name)                                                       \
    int __tsan_atomic##bits##_##name(volatile T *p, T *want, T v, int order, int fail); \
    int __tsan_atomic##bits##_##name(volatile T *p, T *want, T v, int order, int fail)  \
    {                                                                                   \
        (void)order, (void)fail;                                                        \
        return GPURT_RAW_cas(T, u##bits, p, want, v, seq_cst, seq_cst, sys);            \
    }
#define ATOMIC_CAS_VALUE(T, bits)                                                       \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T want, T v, int order, \
                                                 int fail);                             \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T want, T v, int order, \
                                                 int fail)                              \
    {                                                                                   \
        (void)order, (void)fail;                                                        \
        (void)GPURT_RAW_cas(T, u##bits, p, &want, v, seq_cst, seq_cst, sys);            \
        return want;                                                                    \
    }
#define ATOMIC(T, bits)                          \
    ATOMIC_ACCESS(T, bits)                       \
    ATOMIC_OP(T, bits, exchange, xchg_)          \
    ATOMIC_OP(T, bits, fetch_add, add_)          \
    ATOMIC_OP(T, bits, fetch_sub, sub_)          \
    ATOMIC_OP(T, bits, fetch_and, and_)          \
    ATOMIC_OP(T, bits, fetch_or, or_)            \
    ATOMIC_OP(T, bits, fetch_xor, xor_)          \
    ATOMIC_NAND(T, bits)                         \
    ATOMIC_CAS(T, bits, compare_exchange_strong) \
    ATOMIC_CAS(T, bits, compare_exchange_weak)   \
    ATOMIC_CAS_VALUE(T, bits)

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

/* ---- atomics of 128 bits: what atomic.h is made of, by compare-exchange -------------- */
typedef union wide {
    gpurt_wide_t whole;
    gpurt_u128_t parts;
} wide_t;

static gpurt_wide_t wide_cas(volatile gpurt_wide_t *p, gpurt_wide_t want, gpurt_wide_t v)
{
    wide_t expected = {.whole = want}, desired = {.whole = v};

    (void)gpurt_cas128_raw((gpurt_u128_t *)(uintptr_t)p, &expected.parts, desired.parts,
                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected.whole;
}

gpurt_wide_t __tsan_atomic128_compare_exchange_val(volatile gpurt_wide_t *p,
                                                   gpurt_wide_t want, gpurt_wide_t v,
                                                   int order, int fail);
gpurt_wide_t __tsan_atomic128_load(const volatile gpurt_wide_t *p, int order);
gpurt_wide_t __tsan_atomic128_exchange(volatile gpurt_wide_t *p, gpurt_wide_t v, int order);
void __tsan_atomic128_store(volatile gpurt_wide_t *p, gpurt_wide_t v, int order);

gpurt_wide_t __tsan_atomic128_compare_exchange_val(volatile gpurt_wide_t *p,
                                                   gpurt_wide_t want, gpurt_wide_t v,
                                                   int order, int fail)
{
    (void)order, (void)fail;
    return wide_cas(p, want, v);
}

gpurt_wide_t __tsan_atomic128_load(const volatile gpurt_wide_t *p, int order)
{
    (void)order;
    return wide_cas((volatile gpurt_wide_t *)(uintptr_t)p, 0, 0);
}

gpurt_wide_t __tsan_atomic128_exchange(volatile gpurt_wide_t *p, gpurt_wide_t v, int order)
{
    gpurt_wide_t want, old = 0;

    (void)order;
    do {
        want = old;
        old = wide_cas(p, want, v);
    } while (old != want);
    return old;
}

void __tsan_atomic128_store(volatile gpurt_wide_t *p, gpurt_wide_t v, int order)
{
    (void)__tsan_atomic128_exchange(p, v, order);
}
