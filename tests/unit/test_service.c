/* SPDX-License-Identifier: Apache-2.0 */
/* Services: they run beside everything else, answer, rest without taking processor time, stop when
 * they are told, and gpurt_close names one that does not. */
#include "../kernels/service_stage.h"

#include <gpurt/heap.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../kernels/stream_kernels.h"

enum {
    ROUNDS = 50,
    SECOND_MS = 1000,
    LIMIT_MS = 200 /* for a livelock */
};

/* ---- words ------------------------------------------------------------------------------- */

static void words_both_ways(void)
{
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct service_args a = args_make();

    must(gpurt_launch(rt, &one, hostword_once, &a, &err));
    must(gpurt_hostword_wait(rt, &a.replies[0].xround, 0, WAIT_NS, NULL, &err));
    round_ask(&a, 1);
    round_hear(&a, HOSTWORD_HERE, 1, 1);
    must(gpurt_sync(rt, &err));
    args_free(&a);
}

static void wait_of_a_kernel_ends_in_time(void)
{
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct service_args a = args_make();

    a.value = 2000;
    must(gpurt_launch(rt, &one, hostword_late, &a, &err));
    must(gpurt_sync(rt, &err));
    CHECK_EQ(a.replies[0].xround, 1);
    CHECK(a.replies[0].passes >= 2000000);
    args_free(&a);
}

static void wait_of_the_host_ends_in_time(void)
{
    uint32_t *word = host_memory(sizeof *word), value = 1;

    CHECK_EQ(gpurt_hostword_wait(rt, word, 0, 3000000, &value, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "is still 0 after 0.003 s");
    CHECK_EQ(value, 0);
    CHECK_EQ(gpurt_hostword_wait(rt, word, 7, 0, &value, &err), GPURT_OK);
    CHECK_EQ(gpurt_hostword_store(rt, NULL, 1, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_hostword_store(rt, (uint32_t *)((uintptr_t)word + 1), 1, &err),
             GPURT_E_INVALID);
    must(gpurt_host_destroy(rt, word));
}

/* ---- services ---------------------------------------------------------------------------- */

static void it_answers(void)
{
    struct service_args a = args_make();
    gpurt_service_status_t status;
    gpurt_service_t echo;

    must(gpurt_service_launch(rt, &shape, service_echo, &a, NULL, &echo, &err));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        round_ask(&a, round);
        must(gpurt_service_ring(rt, echo));
        round_hear(&a, round - 1, round, BLOCKS);
    }
    status = status_of(echo);
    CHECK_EQ(status.state, GPURT_SERVICE_IS_RUNNING);
    CHECK_EQ(status.blocks, BLOCKS);
    CHECK_EQ(status.running, BLOCKS);
    CHECK_STR(status.name, "service_echo");
    must(gpurt_service_stop(rt, echo, &err));
    CHECK_EQ(gpurt_service_stop(rt, echo, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_service_ring(rt, echo), GPURT_E_HANDLE);
    CHECK_EQ(a.desk->xturn, BLOCKS);
    args_free(&a);
}

/* Launches, waits, copies, memory, events: none waits for the service. */
static void nothing_waits_for_it(void)
{
    const gpurt_launch_t one_warp = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct service_args a = args_make();
    struct stream_args step = {.value = 3};
    gpurt_stream_t stream;
    gpurt_service_t busy;
    uint64_t first = 1;
    void *data;

    must(gpurt_service_launch(rt, &shape, service_busy, &a, NULL, &busy, &err));
    state_await(busy, GPURT_SERVICE_IS_RUNNING);
    must(gpurt_sync(rt, &err));
    must(gpurt_stream_create(rt, &stream, &err));
    must(gpurt_mem_create(rt, 32 * sizeof(uint64_t), &data, &err));
    must(gpurt_fill(rt, stream, data, 0, 32 * sizeof(uint64_t), &err));
    step.data = data;
    for (uint32_t i = 0; i < 20; i++) {
        gpurt_launch_t launch = one_warp;

        launch.stream = stream;
        must(gpurt_launch(rt, &launch, stream_step, &step, &err));
    }
    must(gpurt_sync(rt, &err));
    must(gpurt_copy(rt, stream, &first, data, sizeof first, &err));
    must(gpurt_stream_sync(rt, stream, &err));
    CHECK(first != 1 && first != 0);
    must(gpurt_stream_destroy(rt, stream));
    CHECK_EQ(status_of(busy).state, GPURT_SERVICE_IS_RUNNING);
    must(gpurt_service_stop(rt, busy, &err));
    must(gpurt_mem_destroy(rt, data));
    args_free(&a);
}

static void failures_beside_it_are_told(void)
{
    const gpurt_launch_t one_warp = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct service_args a = args_make();
    struct stream_args step = {.value = 5};
    gpurt_service_t echo;

    if (info.backend == GPURT_BACKEND_CUDA)
        return; /* a trap takes the context */
    must(gpurt_service_launch(rt, &shape, service_echo, &a, NULL, &echo, &err));
    must(gpurt_launch(rt, &one_warp, stream_trap, &step, &err));
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_TRAP);
    must(gpurt_sync(rt, &err));
    must(gpurt_service_stop(rt, echo, &err));
    args_free(&a);
}

static uint64_t processor_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000u;
}

/* It is idle for longer than the limit for a livelock. */
static void idle_takes_no_time_and_is_no_livelock(void)
{
    struct service_args a = args_make();
    gpurt_service_t echo;
    uint64_t before;

    must(gpurt_service_launch(rt, &shape, service_echo, &a, NULL, &echo, &err));
    round_ask(&a, 1);
    must(gpurt_service_ring(rt, echo));
    round_hear(&a, 0, 1, BLOCKS);
    ms_pass(50);
    before = processor_ns();
    ms_pass(SECOND_MS);
    if (!CHECK_SANITIZED)
        CHECK_MSG(processor_ns() - before < 50000000, "%llu ns of a second",
                  (unsigned long long)(processor_ns() - before));
    CHECK_EQ(status_of(echo).state, GPURT_SERVICE_IS_RUNNING);
    round_ask(&a, 2);
    must(gpurt_service_ring(rt, echo));
    round_hear(&a, 1, 2, BLOCKS);
    must(gpurt_service_stop(rt, echo, &err));
    args_free(&a);
}

/* While a kernel waits for the host, another that spins may wait for what it does next. */
static void who_spins_beside_it_is_no_livelock(void)
{
    const gpurt_launch_t one_warp = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct service_args a = args_make();
    struct stream_args spin = {.flag = host_memory(sizeof *spin.flag),
                               .data = host_memory(32 * sizeof *spin.data),
                               .value = 1};
    gpurt_service_t echo;

    must(gpurt_service_launch(rt, &shape, service_echo, &a, NULL, &echo, &err));
    must(gpurt_launch(rt, &one_warp, stream_wait, &spin, &err));
    CHECK_EQ(gpurt_stream_query(rt, GPURT_STREAM_DEFAULT, &err), GPURT_E_NOT_READY);
    ms_pass(LIMIT_MS * 2);
    must(gpurt_hostword_store(rt, spin.flag, 1, &err));
    must(gpurt_sync(rt, &err));
    must(gpurt_service_stop(rt, echo, &err));
    must(gpurt_host_destroy(rt, spin.flag));
    must(gpurt_host_destroy(rt, spin.data));
    args_free(&a);
}

static void a_livelock_after_it_is_seen(void)
{
    const gpurt_launch_t one_warp = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct stream_args spin = {.flag = host_memory(sizeof *spin.flag), .value = 1};

    if (info.backend == GPURT_BACKEND_CUDA)
        return;
    must(gpurt_launch(rt, &one_warp, stream_wait, &spin, &err));
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_LIVELOCK);
    must(gpurt_host_destroy(rt, spin.flag));
}

static void a_second_loop_ends_too(void)
{
    struct service_args a = args_make();
    gpurt_service_t service;

    a.value = BLOCKS; /* nobody panics */
    must(gpurt_service_launch(rt, &shape, service_panics, &a, NULL, &service, &err));
    state_await(service, GPURT_SERVICE_IS_RUNNING);
    must(gpurt_service_stop(rt, service, &err));
    args_free(&a);
}

static void a_panic_is_told_by_its_stop(void)
{
    struct service_args a = args_make();
    gpurt_service_t service;

    a.value = 1;
    must(gpurt_service_launch(rt, &shape, service_panics, &a, NULL, &service, &err));
    must(gpurt_hostword_store(rt, &a.desk->xask, 1, &err));
    must(gpurt_service_ring(rt, service));
    CHECK_MSG(gpurt_service_stop(rt, service, &err) == GPURT_E_PANIC, "%s", err.text);
    CHECK_CONTAINS(err.text, "panic"); /* whose words differ by back end */
    must(gpurt_sync(rt, &err));
    args_free(&a);
}

static void one_that_fails_has_ended(void)
{
    struct service_args a = args_make();
    gpurt_service_t service;

    if (info.backend == GPURT_BACKEND_CUDA)
        return;
    must(gpurt_service_launch(rt, &shape, service_traps, &a, NULL, &service, &err));
    must(gpurt_hostword_store(rt, &a.desk->xask, 1, &err));
    must(gpurt_service_ring(rt, service));
    state_await(service, GPURT_SERVICE_IS_ENDED);
    CHECK_EQ(status_of(service).ended, GPURT_E_TRAP);
    CHECK_EQ(gpurt_service_stop(rt, service, &err), GPURT_E_TRAP);
    must(gpurt_sync(rt, &err));
    args_free(&a);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void room_is_left_for_others(void)
{
    gpurt_launch_t many = shape;
    struct service_args a = {0};
    gpurt_service_t service = 1, half;
    uint32_t fit;

    must(gpurt_occupancy(rt, &shape, &gpurt_kernel_service_echo, &fit, &err));
    many.grid.x = fit - fit / 8 + 1;
    CHECK_EQ(gpurt_service_launch(rt, &many, service_echo, &a, NULL, &service, &err),
             GPURT_E_ROOM);
    CHECK_EQ(service, 0);
    CHECK_CONTAINS(err.text, "would leave no room for other kernels");
    if (CHECK_SANITIZED)
        return; /* half of a device is too many threads for the race detector */
    a = args_make();
    must(gpurt_host_destroy(rt, a.replies));
    a.replies = host_memory(fit * sizeof(service_reply_t));
    many.grid.x = fit / 2;
    must(gpurt_service_launch(rt, &many, service_echo, &a, NULL, &half, &err));
    CHECK_EQ(gpurt_service_launch(rt, &many, service_echo, &a, NULL, &service, &err),
             GPURT_E_ROOM);
    must(gpurt_service_stop(rt, half, &err));
    CHECK_EQ(a.desk->xturn, fit / 2);
    must(gpurt_service_launch(rt, &many, service_echo, &a, NULL, &half, &err));
    must(gpurt_service_stop(rt, half, &err));
    args_free(&a);
}

static void what_cannot_be_is_refused(void)
{
    gpurt_service_options_t options = {.struct_size = 1000};
    gpurt_launch_t many = shape;
    struct service_args a = {0};
    gpurt_service_t service;

    CHECK_EQ(gpurt_service_launch(rt, &shape, service_echo, &a, &options, &service, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_service_launch(rt, &shape, service_echo, &a, NULL, NULL, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_service_launch_kernel(rt, &shape, &gpurt_kernel_service_echo, &a,
                                         sizeof a, sizeof a - 4, NULL, &service, &err),
             GPURT_E_ARGS);
    many.grid.x = GPURT_SERVICE_BLOCKS + 1;
    CHECK_EQ(gpurt_service_launch(rt, &many, service_echo, &a, NULL, &service, &err),
             GPURT_E_GRID);
    CHECK_EQ(gpurt_service_stop(rt, 12345, &err), GPURT_E_HANDLE);
    CHECK_CONTAINS(err.text, "gpurt_service_launch");
}

/* ---- the end ----------------------------------------------------------------------------- */

/* The first stops last. */
static void close_stops_the_latest_first(void)
{
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    service_desk_t *desk = host_memory(sizeof *desk);
    service_reply_t *replies = host_memory(3 * sizeof *replies);
    gpurt_service_t service;

    for (uint32_t i = 0; i < 3; i++) {
        struct service_args a = {.desk = desk, .replies = &replies[i]};

        must(gpurt_service_launch(rt, &one, service_echo, &a, NULL, &service, &err));
    }
    if (info.backend == GPURT_BACKEND_CUDA) { /* closing takes the memory's device away */
        must(gpurt_service_stop(rt, service, &err));
        must(gpurt_close(rt, &err));
        return;
    }
    must(gpurt_close(rt, &err));
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ(replies[i].ended, 3 - i);
    free(desk); /* the CPU's memory is the host's */
    free(replies);
}

static void close_names_one_that_does_not_stop(void)
{
    gpurt_service_options_t options = {.stop_ms = 50, .name = "mule"};
    gpurt_service_t mule, echo;
    gpurt_heap_options_t checked = {
        .struct_size = sizeof checked, .bytes = 1 << 20, .checks = GPURT_CHECKS_FULL};
    char path[64];
    struct service_args a, b;
    gpurt_heap_t heap;

    open_with(0);
    a = args_make();
    b = args_make();
    snprintf(path, sizeof path, "/tmp/test_service.%d.leaks", (int)getpid());
    setenv("GPURT_HEAP_LEAKS", path, 1);
    must(gpurt_heap_create(rt, &checked, &heap, &err));
    must(gpurt_service_launch(rt, &shape, service_deaf, &a, &options, &mule, &err));
    must(gpurt_service_launch(rt, &shape, service_echo, &b, NULL, &echo, &err));
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "service mule ");
    CHECK_CONTAINS(err.text, "3 of its 3 blocks");
    CHECK_EQ(status_of(mule).state, GPURT_SERVICE_IS_STOPPING);
    CHECK_EQ(gpurt_service_ring(rt, echo), GPURT_E_HANDLE); /* it did stop, */
    CHECK(access(path, F_OK) != 0); /* and no heap has told yet what is left in it */
    must(gpurt_sync(rt, &err));
    must(gpurt_service_launch(rt, &shape, service_echo, &b, NULL, &echo, &err));
    must(gpurt_hostword_store(rt, &a.desk->xask, 1, &err));
    must_at_last(gpurt_service_stop(rt, mule, &err));
    must(gpurt_service_stop(rt, echo, &err));
    must(gpurt_heap_destroy(rt, &heap, &err));
    CHECK_EQ(unlink(path), 0);
    unsetenv("GPURT_HEAP_LEAKS");
    args_free(&a);
    args_free(&b);
    must(gpurt_close(rt, &err));
}

int main(void)
{
    open_with(LIMIT_MS);
    words_both_ways();
    wait_of_a_kernel_ends_in_time();
    wait_of_the_host_ends_in_time();
    it_answers();
    nothing_waits_for_it();
    failures_beside_it_are_told();
    idle_takes_no_time_and_is_no_livelock();
    who_spins_beside_it_is_no_livelock();
    a_livelock_after_it_is_seen();
    a_second_loop_ends_too();
    a_panic_is_told_by_its_stop();
    one_that_fails_has_ended();
    room_is_left_for_others();
    what_cannot_be_is_refused();
    close_stops_the_latest_first();
    close_names_one_that_does_not_stop();
    return 0;
}
