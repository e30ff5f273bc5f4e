/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in for the race detector's runtime: each access it is told of is a point, its
 * copies and atomics do what they say, and a thread without lanes is left alone. */
#include "../check.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/dialect.h>

#include <pthread.h>

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read1(void *addr);
void __tsan_read16(void *addr);
void __tsan_write8(void *addr);
void __tsan_unaligned_write4(void *addr);
void __tsan_read_range(void *addr, unsigned long bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes);
uint8_t __tsan_atomic8_fetch_nand(volatile uint8_t *p, uint8_t v, int order);
uint16_t __tsan_atomic16_exchange(volatile uint16_t *p, uint16_t v, int order);
uint32_t __tsan_atomic32_fetch_add(volatile uint32_t *p, uint32_t v, int order);
uint64_t __tsan_atomic64_load(const volatile uint64_t *p, int order);
int __tsan_atomic64_compare_exchange_strong(volatile uint64_t *p, uint64_t *want,
                                            uint64_t v, int order, int fail);
void __tsan_atomic128_store(volatile gpurt_wide_t *p, gpurt_wide_t v, int order);
gpurt_wide_t __tsan_atomic128_load(const volatile gpurt_wide_t *p, int order);
extern const char gpurt_schedule_build[];

enum {
    ORDER = 5
}; /* any will do */

static gpurt_point_t last;
static unsigned points;

static void hook(const gpurt_point_t *point)
{
    last = *point;
    points++;
    gpurt_point_budget = 1;
}

static void expect_point(const void *addr, unsigned bytes)
{
    CHECK_EQ(points, 1);
    CHECK(last.addr == addr);
    CHECK_EQ(last.bytes, bytes);
    CHECK_EQ(last.kind, GPURT_POINT_PLAIN);
    points = 0;
}

static void test_accesses(void)
{
    static uint64_t words[2];

    gpurt_point_budget = 1;
    __tsan_read1(words);
    expect_point(words, 1);
    __tsan_read16(words);
    expect_point(words, 16);
    __tsan_write8(&words[1]);
    expect_point(&words[1], 8);
    __tsan_unaligned_write4((char *)words + 1);
    expect_point((char *)words + 1, 4);
    __tsan_read_range(words, 1ul << 20);
    expect_point(words, UINT16_MAX);
    __tsan_func_entry(words);
    __tsan_func_exit();
    __tsan_write8(&gpurt_point_budget);
    __tsan_read16(&gpurt_simt_self);
    __tsan_read1((void *)(uintptr_t)&gpurt_simt_self->thread.y);
    __tsan_read1((void *)(uintptr_t)&gpurt_simt_self->block->grid.z);
    CHECK_EQ(points, 0);
    gpurt_point_budget = 3;
    __tsan_read1(words);
    __tsan_read1(words);
    CHECK_EQ(points, 0);
    __tsan_read1(words);
    expect_point(words, 1);
}

static void test_copies(void)
{
    char text[] = "0123456789", other[sizeof text];

    CHECK(__tsan_memcpy(other, text, sizeof text) == other);
    CHECK_EQ(points, 2); /* so that half a copy can be seen */
    CHECK_STR(other, "0123456789");
    __tsan_memmove(text + 1, text, 9);
    CHECK_STR(text, "0012345678");
    __tsan_memmove(text, text + 1, 9);
    CHECK_STR(text, "0123456788");
    __tsan_memmove(text + 4, text, 5);
    CHECK_STR(text, "0123012348");
    CHECK(__tsan_memset(text, 'x', 3) == text);
    CHECK_STR(text, "xxx3012348");
    points = 0;
}

static void test_atomics(void)
{
    static gpurt_wide_t wide;
    uint64_t u64 = 1ull << 40, want = 0;
    uint32_t u32 = 7;
    uint16_t u16 = 5;
    uint8_t u8 = 0x0f;

    CHECK_EQ(__tsan_atomic8_fetch_nand(&u8, 0x3c, ORDER), 0x0f);
    CHECK_EQ(u8, 0xf3);
    CHECK_EQ(__tsan_atomic16_exchange(&u16, 9, ORDER), 5);
    CHECK_EQ(u16, 9);
    CHECK_EQ(__tsan_atomic32_fetch_add(&u32, 3, ORDER), 7);
    CHECK_EQ(u32, 10);
    CHECK_EQ(__tsan_atomic64_load(&u64, ORDER), 1ull << 40);
    CHECK_EQ(__tsan_atomic64_compare_exchange_strong(&u64, &want, 3, ORDER, ORDER), 0);
    CHECK_EQ(want, 1ull << 40);
    CHECK_EQ(__tsan_atomic64_compare_exchange_strong(&u64, &want, 3, ORDER, ORDER), 1);
    CHECK_EQ(u64, 3);
    __tsan_atomic128_store(&wide, (gpurt_wide_t)1 << 100 | 5, ORDER);
    CHECK(__tsan_atomic128_load(&wide, ORDER) == ((gpurt_wide_t)1 << 100 | 5));
    CHECK_EQ(points, 0); /* the dialect's atomics have passed theirs before */
}

static void *other_thread(void *word)
{
    for (unsigned i = 0; i < 1000; i++)
        __tsan_read1(word);
    return NULL;
}

static void test_host_thread(void)
{
    pthread_t thread;
    char word = 0;

    CHECK_EQ(pthread_create(&thread, NULL, other_thread, &word), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(points, 0);
}

/* Instrumented constructors run before any executor exists. */
static void __attribute__((constructor)) before_main(void)
{
    static char word;

    __tsan_init();
    gpurt_point_budget = 1;
    __tsan_read1(&word);
}

int main(void)
{
    CHECK(gpurt_schedule_build[0] != '\0');
    gpurt_point_install(hook);
    test_accesses();
    test_copies();
    test_atomics();
    test_host_thread();
    return 0;
}
