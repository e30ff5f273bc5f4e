/* SPDX-License-Identifier: Apache-2.0 */
/* test_service_soak [SECONDS]: a service on every multiprocessor, with room beside it, runs all the
 * time. Meanwhile the host opens and destroys heaps, grows one, collects, launches kernels in
 * streams and CUDA graphs, logs, lets a block of another service panic, saves a heap that the
 * service declared, and asks the service between all of that. Nothing may wait for the service, and
 * each answer is looked at. The CPU back end has no graphs, which the last line says. */
#include "../gpu/graph_beside.h"
#include "../kernels/device_kernels.h"
#include "../kernels/object_stage.h"
#include "../kernels/service_kernels.h"

#include <gpurt/checkpoint.h>
#include <gpurt/hostlog.h>
#include <gpurt/hostwords.h>
#include <gpurt/services.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SECONDS = 3,
    MOST_BLOCKS = 160,
    MIB = 1 << 20,
    GROWS = 24, /* MiB of the heap that grows */
    LANES = 4 * 64
};
#define WAIT_NS 60000000000ull

static const gpurt_launch_t lanes = {.grid = {4, 1, 1}, .block = {64, 1, 1}};

/* The service, what it declared, and what others use. */
static struct {
    gpurt_service_t handle;
    struct service_args args;
    uint32_t blocks, round;
    gpurt_heap_t declared, growing;
    struct device_args objects;
    uint64_t grown;
    uint32_t *graph_words, graphs; /* launched so often */
    char path[64];
} soak;

static void *host_zeros(size_t bytes)
{
    void *memory;

    OK(gpurt_host_create(rt, bytes, &memory, &err));
    memset(memory, 0, bytes);
    return memory;
}

/* ---- the service ----------------------------------------------------------------------- */

static void service_ask(void)
{
    uint32_t before = soak.round++;

    for (uint32_t i = 0; i < SERVICE_WORDS; i++)
        soak.args.desk->question[i] = soak.round * 1000u + i;
    OK(gpurt_hostword_store(rt, &soak.args.desk->xask, soak.round, &err));
    OK(gpurt_service_ring(rt, soak.handle));
    for (uint32_t b = 0; b < soak.blocks; b++) {
        const service_reply_t *r = &soak.args.replies[b];

        OK(gpurt_hostword_wait(rt, &r->xround, before, WAIT_NS, NULL, &err));
        for (uint32_t i = 0; i < SERVICE_WORDS; i++)
            CHECK_EQ(r->answer[i], (soak.round * 1000u + i) * 31u + b);
    }
}

static void service_begin(void)
{
    const gpurt_heap_t *heap = &soak.declared;
    const gpurt_service_options_t options = {
        .stop_ms = 60000, .heaps = &heap, .heap_count = 1, .name = "soak"};
    gpurt_launch_t shape = {.block = {64, 1, 1}};
    gpurt_info_t info;

    OK(gpurt_info(rt, &info));
    soak.blocks = info.sm_count < MOST_BLOCKS ? info.sm_count : MOST_BLOCKS;
    shape.grid = (gpurt_dim3_t){soak.blocks, 1, 1};
    soak.args.desk = host_zeros(sizeof *soak.args.desk);
    soak.args.replies = host_zeros(soak.blocks * sizeof *soak.args.replies);
    OK(gpurt_service_launch(rt, &shape, service_echo, &soak.args, &options, &soak.handle,
                            &err));
}

static void service_end(void)
{
    soak.args.desk->farewell = 11;
    OK(gpurt_service_stop(rt, soak.handle, &err));
    CHECK_EQ(soak.args.desk->xturn, soak.blocks);
    for (uint32_t b = 0; b < soak.blocks; b++)
        CHECK_EQ(soak.args.replies[b].heard, 11);
    OK(gpurt_host_destroy(rt, soak.args.desk));
    OK(gpurt_host_destroy(rt, soak.args.replies));
}

/* ---- what happens beside it ------------------------------------------------------------- */

/* Each lane takes an object, fills it, looks at it, gives it back. */
static void heap_use(const gpurt_heap_t *heap)
{
    uint32_t verdict[2];

    soak.objects.heap = *heap;
    OK(gpurt_launch(rt, &lanes, device_take_of, &soak.objects, &err));
    OK(gpurt_launch(rt, &lanes, device_give_of, &soak.objects, &err));
    OK(gpurt_sync(rt, &err));
    stage_read(verdict, soak.objects.refused, sizeof verdict);
    CHECK_EQ(verdict[0], 0);
    CHECK_EQ(verdict[1], 0);
}

static void heap_comes_and_goes(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB};
    gpurt_heap_stats_t stats;
    gpurt_heap_t heap;

    OK(gpurt_heap_create(rt, &options, &heap, &err));
    heap_use(&heap);
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    CHECK_EQ(stats.live, 0);
    OK(gpurt_heap_destroy(rt, &heap, &err));
}

static void heap_grows(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB,
                                    .reserve_bytes = (uint64_t)GROWS * MIB};

    if (soak.grown + 4 > GROWS) {
        OK(gpurt_heap_destroy(rt, &soak.growing, &err));
        soak.grown = 0;
    }
    if (!soak.grown)
        OK(gpurt_heap_create(rt, &options, &soak.growing, &err));
    else
        OK(gpurt_heap_grow(rt, &soak.growing, 4 * MIB, &err));
    soak.grown += 4;
    heap_use(&soak.growing);
}

static void heap_is_collected(void)
{
    static const setting_t small = {.heap = {.bytes = 4 * MIB},
                                    .objects = 400,
                                    .roots = 4,
                                    .sections = 8,
                                    .wait_ms = 60000,
                                    .blocks = 1,
                                    .threads = 32,
                                    .bytes = 64,
                                    .cells = 200};
    stage_t s;

    stage_open(&s, &small, 1);
    s.args.mode = 2;
    RUN_AS(&s, lane, object_list);
    CHECK_EQ(stage_stats(&s).objects, 200);
    stage_settle(&s);
    stage_close(&s);
}

static void streams_work(void)
{
    gpurt_launch_t shape = lanes;
    gpurt_event_t event;

    OK(gpurt_stream_create(rt, &shape.stream, &err));
    OK(gpurt_event_create(rt, &event, &err));
    soak.objects.rounds = 64;
    OK(gpurt_launch(rt, &shape, device_say, &soak.objects, &err));
    CHECK_EQ(gpurt_event_record(rt, event, shape.stream), GPURT_OK);
    OK(gpurt_event_sync(rt, event, &err));
    CHECK_EQ(gpurt_event_destroy(rt, event), GPURT_OK);
    CHECK_EQ(gpurt_stream_destroy(rt, shape.stream), GPURT_OK);
}

/* A graph is made, launched and destroyed. */
static void graphs_work(void)
{
    uint32_t words[GRAPH_WORDS];
    const char *error;
    gpurt_info_t info;

    OK(gpurt_info(rt, &info));
    if (info.backend != GPURT_BACKEND_CUDA)
        return;
    CHECK(graph_beside);
    error = graph_beside(soak.graph_words);
    if (error)
        fprintf(stderr, "graph: %s\n", error);
    CHECK(!error);
    soak.graphs += GRAPH_LAUNCHES;
    stage_read(words, soak.graph_words, sizeof words);
    for (uint32_t i = 0; i < GRAPH_WORDS; i++)
        CHECK_EQ(words[i], soak.graphs * GRAPH_NODES);
}

static void host_logs(void)
{
    gpurt_log(GPURT_LEVEL_INFO, "the host, in round %u", soak.round);
}

/* Of another service: one block panics, the others leave when they are told. */
static void block_panics(void)
{
    const gpurt_launch_t shape = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    gpurt_service_options_t options = {.stop_ms = 60000, .name = "doomed"};
    struct service_args args = {.value = 1};
    gpurt_service_status_t status;
    gpurt_service_t doomed;
    gpurt_error_t told;

    args.desk = host_zeros(sizeof *args.desk);
    args.replies = host_zeros(2 * sizeof *args.replies);
    OK(gpurt_service_launch(rt, &shape, service_panics, &args, &options, &doomed, &err));
    OK(gpurt_hostword_store(rt, &args.desk->xask, 1, &err));
    CHECK_EQ(gpurt_service_ring(rt, doomed), GPURT_OK);
    for (uint32_t ms = 0;; ms++) {
        struct timespec step = {0, 1000000};

        CHECK_EQ(gpurt_service_status(rt, doomed, &status), GPURT_OK);
        if (status.left == 1)
            break;
        CHECK(ms < 60000);
        nanosleep(&step, NULL);
    }
    CHECK_EQ(gpurt_service_stop(rt, doomed, &told), GPURT_E_PANIC);
    (void)gpurt_sync(rt, &told); /* the panic may be told once more */
    OK(gpurt_host_destroy(rt, args.desk));
    OK(gpurt_host_destroy(rt, args.replies));
}

static void heap_is_saved(void)
{
    gpurt_checkpoint_t *c;

    OK(gpurt_checkpoint_create(rt, &c, &err));
    OK(gpurt_checkpoint_add_heap(c, "declared", &soak.declared, 0, &err));
    OK(gpurt_checkpoint_save(c, soak.path, &err));
    gpurt_checkpoint_destroy(c);
}

static void (*const deeds[])(void) = {heap_comes_and_goes, heap_grows,    heap_is_collected,
                                      streams_work,        graphs_work,   host_logs,
                                      block_panics,        heap_is_saved, service_ask};

/* ---- all of it -------------------------------------------------------------------------- */

static void stage_begin(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB};
    uint32_t *words = (uint32_t *)stage_zeros(2 * sizeof *words);

    soak.objects.objects = (uint32_t **)stage_zeros(LANES * sizeof *soak.objects.objects);
    soak.graph_words = (uint32_t *)stage_zeros(GRAPH_WORDS * sizeof *soak.graph_words);
    soak.objects.refused = words;
    soak.objects.wrong = words + 1;
    OK(gpurt_heap_create(rt, &options, &soak.declared, &err));
    snprintf(soak.path, sizeof soak.path, "/tmp/gpurt_soak_%d", (int)getpid());
}

static void stage_end(void)
{
    unlink(soak.path);
    if (soak.grown)
        OK(gpurt_heap_destroy(rt, &soak.growing, &err));
    OK(gpurt_heap_destroy(rt, &soak.declared, &err));
    OK(gpurt_mem_destroy(rt, soak.graph_words));
    OK(gpurt_mem_destroy(rt, soak.objects.objects));
    OK(gpurt_mem_destroy(rt, soak.objects.refused));
}

int main(int argc, char **argv)
{
    time_t seconds = argc > 1 ? atol(argv[1]) : SECONDS, end;
    uint32_t done = 0, count = sizeof deeds / sizeof deeds[0];

    setenv("GPURT_CUDA_WAITS", "1", 0); /* a call that waits for a service fails */
    setenv("GPURT_PANICS", "quiet", 0);
    OK(gpurt_open(NULL, &rt, &err));
    stage_begin();
    service_begin();
    /* Each at least twice, however slow the machine is. */
    for (end = time(NULL) + seconds; time(NULL) < end || done < 2 * count; done++) {
        deeds[done % count]();
        service_ask();
    }
    service_end();
    stage_end();
    OK(gpurt_close(rt, &err));
    printf("%u deeds, %u rounds of %u blocks, ", done, soak.round, soak.blocks);
    if (soak.graphs)
        printf("%u launches of graphs\n", soak.graphs);
    else
        printf("SKIP: no graphs: the CPU back end has none\n");
    return 0;
}
