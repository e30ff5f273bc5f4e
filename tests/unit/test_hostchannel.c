/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with one end on the host: orders that are acknowledged and answered, each policy, what is
 * refused, waits that end late, by a cancel, a close or a destroy; wraps; a child; an idle host. */
#include "must.h"

#include "../kernels/hostchannel_kernels.h"

#include <gpurt/hostchannels.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ORDERS = 200,
    ASLEEP_MS = 300
};
#define SOON_NS  UINT64_C(3000000)
#define LONG_NS  UINT64_C(5000000000)
#define LIMIT_NS UINT64_C(20000000000)

static gpurt_t *rt;
static gpurt_error_t err;
static struct hostchannel_args args;
static int32_t status[HOSTCHANNEL_THREADS];

/* ---- stage ----------------------------------------------------------------------------- */

static void reset(void)
{
    memset(status, 0x77, sizeof status);
    memset(args.asks, 0, HOSTCHANNEL_NOTES * sizeof *args.asks);
    memset(args.did, 0, HOSTCHANNEL_NOTES * sizeof *args.did);
    args.ns = UINT64_MAX;
    must(gpurt_copy(rt, 0, args.status, status, sizeof status, &err));
    must(gpurt_fill(rt, 0, args.wrong, 0, 4, &err));
    must(gpurt_fill(rt, 0, args.xcame, 0, 4, &err));
    must(gpurt_sync(rt, &err));
}

static void make(uint32_t policy)
{
    gpurt_hostchannel_options_t options = {.struct_size = sizeof options, .policy = policy};

    must(gpurt_make_hostchannel(rt, &args.orders, &options, &err));
    must(gpurt_make_hostchannel(rt, &args.smalls, &options, &err));
    must(gpurt_make_hostchannel(rt, &args.answers, &options, &err));
    reset();
}

static void destroy(void)
{
    must(gpurt_hostchannel_destroy(rt, &args.orders.channel, &err));
    must(gpurt_hostchannel_destroy(rt, &args.smalls.channel, &err));
    must(gpurt_hostchannel_destroy(rt, &args.answers.channel, &err));
    CHECK(!args.orders.channel.words);
}

static void start(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};

    args.threads = blocks * threads;
    must(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
}

static gpurt_status_t finish(void)
{
    gpurt_status_t st = gpurt_sync(rt, &err);
    uint32_t wrong;

    must(gpurt_copy(rt, 0, status, args.status, sizeof status, &err));
    must(gpurt_copy(rt, 0, &wrong, args.wrong, sizeof wrong, &err));
    must(gpurt_sync(rt, &err));
    CHECK_EQ(wrong, 0);
    return st;
}

static gpurt_hostchannel_status_t counts(const gpurt_hostchannel_t *c)
{
    gpurt_hostchannel_status_t s;

    must(gpurt_hostchannel_status(rt, c, &s, &err));
    CHECK_EQ(s.counts.sent, s.counts.received + s.counts.dropped + s.counts.depth);
    return s;
}

static struct hostchannel_order order_of(uint32_t number)
{
    struct hostchannel_order order = {.number = number};

    for (uint32_t i = 0; i < 18; i++)
        order.words[i] = number * 31 + i;
    args.asks[number] = number + 1;
    return order;
}

/* ---- cases ----------------------------------------------------------------------------- */

/* Batches of up to three, so that they come across the end of a lap; then one by one. */
static void orders_are_done(uint32_t blocks)
{
    struct hostchannel_order orders[3];
    struct hostchannel_answer answers[4];
    uint32_t seen[ORDERS] = {0}, sent = 0, got = 0, n;
    uint64_t ticket = 0;
    gpurt_status_t st = GPURT_OK;

    make(GPURT_CHANNEL_BLOCK);
    start(&gpurt_kernel_hostchannel_serve, blocks, 1);
    while (st == GPURT_OK) {
        for (n = 0; n < 3 && sent + n < ORDERS; n++)
            orders[n] = order_of(sent + n);
        if (n) {
            st = gpurt_device_send_many(rt, &args.orders, orders, n, 0, &n, &ticket, &err);
            CHECK(st == GPURT_OK || st == GPURT_E_FULL);
            sent += n;
            if (n && sent - got <= 4) { /* else kernels may wait for us */
                must(gpurt_device_await(rt, &args.orders, ticket, LIMIT_NS, &err));
                CHECK_EQ(args.did[sent - 1],
                         1); /* it was done before it was acknowledged */
            }
            if (sent == ORDERS)
                must(gpurt_hostchannel_close(rt, &args.orders.channel, &err));
        }
        st = gpurt_device_receive_many(rt, &args.answers, answers, 4,
                                       sent < ORDERS ? 0 : LIMIT_NS, &n, &err);
        for (uint32_t i = 0; i < n; i++, got++)
            seen[answers[i].number]++;
        if (st == GPURT_E_EMPTY)
            st = GPURT_OK;
    }
    CHECK_EQ(st, GPURT_E_CHANNEL_CLOSED);
    must(finish());
    CHECK_EQ(got, ORDERS);
    for (uint32_t i = 0; i < ORDERS; i++)
        CHECK(seen[i] == 1 && args.did[i] == 1);
    for (uint32_t i = 0; i < blocks; i++)
        CHECK_EQ(status[i], GPURT_E_CHANNEL_CLOSED);
    CHECK_EQ(counts(&args.orders.channel).counts.received, ORDERS);
    CHECK_EQ(counts(&args.answers.channel).counts.received, ORDERS);
    destroy();
}

/* One after the other, then in batches; lanes alone, and groups. */
static void small_ones_come(uint32_t blocks, uint32_t threads)
{
    struct hostchannel_small smalls[ORDERS];
    uint64_t ticket;
    uint32_t n;

    make(GPURT_CHANNEL_BLOCK);
    for (uint32_t i = 0; i < ORDERS; i++) {
        smalls[i] = (struct hostchannel_small){i, 2 * i};
        args.asks[i] = i + 1;
    }
    start(&gpurt_kernel_hostchannel_sip, blocks, threads);
    for (uint32_t i = 0; i < ORDERS / 2; i++) {
        must(gpurt_device_send(rt, &args.smalls, &smalls[i], LIMIT_NS, &ticket, &err));
        must(gpurt_device_await(rt, &args.smalls, ticket, LIMIT_NS, &err));
    }
    must(gpurt_device_send_many(rt, &args.smalls, smalls + ORDERS / 2, ORDERS / 2, LIMIT_NS,
                                &n, &ticket, &err));
    must(gpurt_hostchannel_close(rt, &args.smalls.channel, &err));
    must(finish());
    for (uint32_t i = 0; i < ORDERS; i++)
        CHECK_EQ(args.did[i], 1);
    CHECK_EQ(counts(&args.smalls.channel).counts.received, ORDERS);
    destroy();
}

/* The kernel sends 8 a thread into 4 slots; the host begins when all is over, or at once. */
static void a_kernel_sends(uint32_t policy)
{
    struct hostchannel_answer answer;
    gpurt_hostchannel_status_t s;
    uint64_t sent = 0;
    uint32_t got = 0;

    make(policy);
    args.rounds = 8;
    start(&gpurt_kernel_hostchannel_pour, 2, 40);
    if (policy != GPURT_CHANNEL_BLOCK)
        must(finish());
    while (gpurt_device_receive(rt, &args.answers, &answer, LIMIT_NS, &err) == GPURT_OK) {
        CHECK_EQ(args.did[answer.number], answer.number + 1);
        got++;
    }
    must(finish());
    for (uint32_t i = 0; i < 80; i++)
        sent += (uint32_t)status[i];
    s = counts(&args.answers.channel);
    CHECK_EQ(got, policy == GPURT_CHANNEL_BLOCK ? 640 : 4);
    CHECK_EQ(sent, got);
    CHECK_EQ(s.counts.received, got);
    CHECK_EQ(s.counts.dropped, policy == GPURT_CHANNEL_DROP_NEWEST ? 636 : 0);
    CHECK_EQ(s.refused, policy == GPURT_CHANNEL_FAIL ? 636 : 0);
    destroy();
}

/* The host sends ten into four slots that nobody empties; then a kernel does. */
static void the_host_sends(uint32_t policy, gpurt_status_t want)
{
    struct hostchannel_order orders[10];
    gpurt_hostchannel_status_t s;
    uint64_t ticket;
    uint32_t n;

    make(policy);
    for (uint32_t i = 0; i < 10; i++)
        orders[i] = order_of(i);
    CHECK_EQ(gpurt_device_send_many(rt, &args.orders, orders, 10,
                                    policy == GPURT_CHANNEL_BLOCK ? SOON_NS : GPURT_FOREVER,
                                    &n, &ticket, &err),
             want);
    CHECK_EQ(n, 4);
    CHECK_EQ(gpurt_device_await(rt, &args.orders, ticket, SOON_NS, &err), GPURT_E_TIMEOUT);
    CHECK_EQ(gpurt_device_send(rt, &args.orders, orders, 0, NULL, &err), GPURT_E_FULL);
    CHECK_CONTAINS(err.text, "is full: 4 messages are not acknowledged");
    s = counts(&args.orders.channel);
    CHECK_EQ(s.counts.depth, 4);
    CHECK_EQ(s.counts.dropped, want == GPURT_E_DROPPED ? 6 : 0);
    CHECK_EQ(s.refused, want == GPURT_E_FULL ? 7 : 1);
    CHECK_EQ(s.timed_out, want == GPURT_E_TIMEOUT ? 2 : 1);
    must(gpurt_hostchannel_close(rt, &args.orders.channel, &err));
    start(&gpurt_kernel_hostchannel_drink, 1, 32); /* one look is all there is */
    must(finish());
    must(gpurt_device_await(rt, &args.orders, ticket, 0, &err));
    s = counts(&args.orders.channel);
    CHECK_EQ(s.counts.received, 4);
    CHECK_EQ(s.state, GPURT_CHANNEL_SHUT);
    CHECK_EQ(gpurt_device_send(rt, &args.orders, orders, GPURT_FOREVER, NULL, &err),
             GPURT_E_CHANNEL_CLOSED);
    CHECK_EQ(gpurt_hostchannel_close(rt, &args.orders.channel, &err),
             GPURT_E_CHANNEL_CLOSED);
    destroy();
}

static gpurt_status_t create(uint32_t capacity, uint32_t bytes, uint32_t way,
                             uint32_t policy)
{
    gpurt_hostchannel_options_t o = {sizeof o, capacity, bytes, way, policy, NULL};
    gpurt_hostchannel_t c;

    return gpurt_hostchannel_create(rt, &o, &c, &err);
}

static void what_cannot_be_is_told(void)
{
    static const int32_t want[] = {
        GPURT_E_EMPTY,          GPURT_E_TIMEOUT,       GPURT_E_HANDLE,
        GPURT_E_INVALID,        GPURT_E_INVALID,       GPURT_OK,
        GPURT_E_FULL,           GPURT_E_TIMEOUT,       GPURT_OK,
        GPURT_E_CHANNEL_CLOSED, GPURT_E_CHANNEL_CLOSED};
    struct hostchannel_answer answer;
    struct hostchannel_args copy;
    uint32_t word = 0;

    CHECK_EQ(create(0, 4, GPURT_TO_HOST, 0), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "a capacity of 0: a power of two");
    CHECK_EQ(create(6, 4, GPURT_TO_HOST, 0), GPURT_E_INVALID);
    CHECK_EQ(create(4, 4093, GPURT_TO_HOST, 0), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "send pointers to larger ones");
    CHECK_EQ(create(4, 4, 3, 0), GPURT_E_INVALID);
    CHECK_EQ(create(4, 4, GPURT_TO_HOST, GPURT_CHANNEL_DROP_OLDEST), GPURT_E_INVALID);
    make(GPURT_CHANNEL_BLOCK);
    CHECK_EQ(
        gpurt_hostchannel_send(rt, &args.orders.channel, &word, 4, 1, 0, NULL, NULL, &err),
        GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "a message of 4 bytes, its have 76");
    CHECK_EQ(
        gpurt_hostchannel_receive(rt, &args.orders.channel, &word, 4, 1, 0, NULL, &err),
        GPURT_E_INVALID);
    CHECK_EQ(gpurt_device_receive_many(rt, &args.answers, &answer, 0, 0, NULL, &err),
             GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "0 messages: pass 1 or more");
    CHECK_EQ(gpurt_hostchannel_close(rt, &args.answers.channel, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_device_receive(rt, &args.answers, &answer, 0, &err), GPURT_E_EMPTY);
    start(&gpurt_kernel_hostchannel_cases, 1, 32);
    must(finish());
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_MSG(status[i] == want[i], "case %u: %s", i, gpurt_status_name(status[i]));
    CHECK_EQ(counts(&args.answers.channel).counts.depth, 4); /* closed, and not lost */
    copy = args;
    destroy();
    CHECK_EQ(gpurt_hostchannel_destroy(rt, &copy.orders.channel, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_device_receive(rt, &copy.answers, &answer, 0, &err), GPURT_E_HANDLE);
    args = copy; /* a kernel that uses it is told, too */
    reset();
    start(&gpurt_kernel_hostchannel_wait, 1, 32);
    must(finish());
    CHECK_EQ(status[31], GPURT_E_HANDLE);
}

/* The victim's waits end; then four orders are those of the others. */
static void a_cancelled_block_takes_nothing(void)
{
    struct hostchannel_order orders[4];
    uint32_t n;

    make(GPURT_CHANNEL_BLOCK);
    for (uint32_t i = 0; i < 4; i++)
        orders[i] = order_of(i);
    args.victim = 1;
    start(&gpurt_kernel_hostchannel_cancel, 2, 4);
    while (counts(&args.orders.channel).cancelled < 3)
        usleep(1000);
    must(gpurt_device_send_many(rt, &args.orders, orders, 4, 0, &n, NULL, &err));
    must(finish());
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQ(status[i], i < 4 ? GPURT_OK : 0x77777777);
    CHECK_EQ(counts(&args.orders.channel).counts.received, 4);
    destroy();
}

/* ---- threads that wait ------------------------------------------------------------------ */

static void *wait_long(void *st)
{
    struct hostchannel_answer answer;

    *(gpurt_status_t *)st = gpurt_device_receive(rt, &args.answers, &answer, LONG_NS, NULL);
    return NULL;
}

static uint64_t used_ns(pthread_t thread)
{
    struct timespec t = {0};
    clockid_t clock;

    CHECK(pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* It sleeps meanwhile, and a destroy ends its wait. */
static void a_thread_sleeps_and_is_told(void)
{
    gpurt_status_t st = GPURT_OK;
    pthread_t thread;
    uint64_t used;

    make(GPURT_CHANNEL_BLOCK);
    CHECK(pthread_create(&thread, NULL, wait_long, &st) == 0);
    usleep(100000);
    used = used_ns(thread);
    usleep(ASLEEP_MS * 1000);
    used = used_ns(thread) - used;
    printf("asleep, %.2f %% of a core\n", (double)used / (ASLEEP_MS * 1e4));
    CHECK(CHECK_SANITIZED || used < ASLEEP_MS * 1000000ull / 20);
    CHECK_EQ(counts(&args.answers.channel).host_waiting, 1);
    destroy();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQ(st, GPURT_E_HANDLE);
}

static void a_child_is_told(void)
{
    struct hostchannel_answer answer;
    int how = 0;
    pid_t child;

    if (CHECK_SANITIZED)
        return; /* a child of threads is not the race detector's */
    make(GPURT_CHANNEL_BLOCK);
    child = fork();
    if (child == 0)
        _Exit(gpurt_device_receive(rt, &args.answers, &answer, 0, NULL) == GPURT_E_FORKED
                  ? 0
                  : 1);
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how));
    CHECK_EQ(WEXITSTATUS(how), 0);
    destroy();
}

int main(void)
{
    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    must(gpurt_mem_create(rt, sizeof status, (void **)&args.status, &err));
    must(gpurt_mem_create(rt, 4, (void **)&args.wrong, &err));
    must(gpurt_mem_create(rt, 4, (void **)&args.xcame, &err));
    must(gpurt_host_create(rt, HOSTCHANNEL_NOTES * 4, (void **)&args.asks, &err));
    must(gpurt_host_create(rt, HOSTCHANNEL_NOTES * 4, (void **)&args.did, &err));
    orders_are_done(1);
    orders_are_done(3);
    small_ones_come(1, 1);
    small_ones_come(2, 33);
    for (uint32_t policy = 0; policy < GPURT_CHANNEL_DROP_OLDEST; policy++)
        a_kernel_sends(policy);
    the_host_sends(GPURT_CHANNEL_BLOCK, GPURT_E_TIMEOUT);
    the_host_sends(GPURT_CHANNEL_FAIL, GPURT_E_FULL);
    the_host_sends(GPURT_CHANNEL_DROP_NEWEST, GPURT_E_DROPPED);
    what_cannot_be_is_told();
    a_cancelled_block_takes_nothing();
    a_thread_sleeps_and_is_told();
    a_child_is_told();
    must(gpurt_close(rt, &err));
    return 0;
}
