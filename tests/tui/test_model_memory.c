/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program as the model adds it up: what is taken at last and at most, by kind, GPU and
 * process, records that come in any order, alone, or are too many at a time; pools; and what is
 * written of them. */
#include "activity_text.h"
#include "model_stage.h"
#include "written.h"

#include <inttypes.h>

enum {
    TAKEN = 8192, /* what may be taken at a time, */
    EARLY = 512   /* and given back before it is known to have been taken */
};

static void put_memory(uint32_t device, const char *what, const char *kind,
                       uint64_t address, uint64_t bytes, uint64_t at)
{
    gpurt_activity_memory_t row = {string(what), gpurt_pair(bytes), gpurt_pair(address),
                                   string(kind)};

    put_on(device, GPURT_KIND_MEMORY, GPURT_LEVEL_TRACE, T0 + at, &row, sizeof row);
}

static void take(uint64_t address, uint64_t bytes, uint64_t at)
{
    put_memory(0, "take", "device", address, bytes, at);
}

/* Without its size: nobody says that a record of it has one. */
static void give(uint64_t address, uint64_t at)
{
    put_memory(0, "give back", "device", address, 0, at);
}

static const gpurt_model_memory_t *memory(void)
{
    look();
    return &view->activity.memories;
}

static const gpurt_model_memory_sums_t *first(void)
{
    return &memory()->list[0].sums;
}

static void check_sums(uint64_t bytes, uint64_t peak, uint64_t takes, uint64_t gives)
{
    const gpurt_model_memory_sums_t *s = first();

    CHECK_MSG(s->bytes == bytes && s->peak_bytes == peak && s->takes == takes &&
                  s->gives == gives,
              "%" PRIu64 " bytes, %" PRIu64 " at most, %" PRIu64 " taken, %" PRIu64
              " given back",
              s->bytes, s->peak_bytes, s->takes, s->gives);
}

static void write_plain(FILE *out, const gpurt_model_activity_t *a)
{
    activity_plain(out, a, 8);
}

/* ---- taken, given back --------------------------------------------------------------- */

static void check_kinds(void)
{
    static const char *const plain[] = {
        "memory     device, GPU 0: 5.0 KiB at last, 7.0 KiB at most, taken 3 times, given "
        "back 1 time\n",
        "memory     device, GPU 1: 9 B at last,",
        "memory     pinned: 300 B at last, 300 B at most, taken 2 times, given back 0 "
        "times\n",
        NULL};
    static const char *const json[] = {
        "\"memory_list\":[{\"kind\":\"device\",\"gpu\":0,\"bytes\":5120,\"peak_bytes\":"
        "7168,"
        "\"takes\":3,\"gives\":1},{\"kind\":\"device\",\"gpu\":1,\"bytes\":9,",
        "{\"kind\":\"pinned\",\"gpu\":null,\"bytes\":300,",
        "],\"memory_about\":{\"gives_alone\":0,\"gives_missed\":0,\"no_room\":0,"
        "\"pools_left_out\":0},\"pool_list\":[]}",
        NULL};

    take(0x1000, 4096, 0);
    take(0x3000, 3072, 1);
    give(0x3000, 2);
    take(0x3000, 1024, 3); /* the address of before */
    put_memory(1, "take", "device", 0x9000, 9, 4);
    put_memory(0, "take", "pinned", 0xa000, 100, 5);
    put_memory(1, "take", "pinned", 0xb000, 200, 6); /* the host's is of no device */
    check_sums(5120, 7168, 3, 1);
    CHECK_EQ(memory()->count, 3);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* The buffers of two threads are read one after the other. */
static void check_any_order(void)
{
    take(0x1, 10, 0);
    give(0x2, 500); /* before it is known to be taken */
    check_sums(10, 10, 1, 1);
    CHECK_EQ(memory()->about.gives_alone, 1);
    take(0x2, 7, 400);
    check_sums(10, 10, 2, 1);
    CHECK_EQ(memory()->about.gives_alone, 0);
    take(0x1, 20, 100); /* taken again, so it was given back */
    check_sums(20, 20, 3, 1);
    CHECK_EQ(memory()->about.gives_missed, 1);
    give(0x1, 50); /* which is told now */
    check_sums(20, 20, 3, 2);
    CHECK_EQ(memory()->about.gives_missed, 0);
    take(0x1, 99, 60); /* one between those two: it is not there any more */
    check_sums(20, 20, 4, 2);
    CHECK_EQ(memory()->about.gives_missed, 1);
    give(0x1, 70);
    give(0x1, 200);
    check_sums(0, 20, 4, 4);
    CHECK_EQ(memory()->about.gives_missed, 0);
    CHECK_EQ(memory()->about.gives_alone, 0);
}

static void check_alone(void)
{
    static const char *const plain[] = {
        "memory     2 given back whose taking is not known: they change no sum\n",
        "memory     1 taken anew at an address that is not known to have been given "
        "back\n",
        NULL};

    give(0x1, 10); /* taken before anybody looked */
    take(0x1, 5, 20);
    give(0x1, 30);
    give(0x1, 40);
    take(0x2, 6, 50);
    take(0x2, 7, 60);
    check_sums(7, 7, 3, 3);
    CHECK_EQ(memory()->about.gives_alone, 2);
    check_written(write_plain, &view->activity, plain);
}

/* Each process has addresses of its own; its rows say whose they are. */
static void check_processes(void)
{
    static const char *const plain[] = {
        "memory     device, GPU 0, process 100: 0 B at last, 4 B at most,",
        "memory     device, GPU 0, process 200: 8 B at last,", NULL};
    static const char *const json[] = {
        "{\"kind\":\"device\",\"gpu\":0,\"pid\":200,\"bytes\":8,", NULL};

    stage_program = process(100, "one");
    take(0x1000, 4, 0);
    stage_program = process(200, "other");
    take(0x1000, 8, 1);
    stage_program = process(100, "one");
    give(0x1000, 2);
    check_sums(0, 4, 1, 1);
    CHECK_EQ(memory()->about.gives_missed, 0);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* What finds no room is in no sum of bytes, and said; what is given back makes room. */
static void check_full(void)
{
    static const char *const plain[] = {
        "memory     2 given back whose taking is not known",
        "memory     2 taken for which there was no room: the sums are without them\n",
        NULL};

    for (uint64_t i = 0; i < TAKEN + 2; i++)
        take(0x1000 + i, 1, i);
    check_sums(TAKEN, TAKEN, TAKEN + 2, 0);
    CHECK_EQ(memory()->about.no_room, 2);
    for (uint64_t i = 0; i < TAKEN + 2; i++)
        give(0x1000 + i, TAKEN + 100 + i);
    check_sums(0, TAKEN, TAKEN + 2, TAKEN + 2);
    CHECK_EQ(memory()->about.gives_alone, 2);
    check_written(write_plain, &view->activity, plain);
    take(0x10, 5, 2 * TAKEN + 200);
    check_sums(5, TAKEN, TAKEN + 3, TAKEN + 2);
    CHECK_EQ(memory()->about.no_room, 2);
    for (uint64_t i = 0; i < 3 * TAKEN;
         i++) { /* a place that is free again is used again */
        take(0x1000 + i, 1, 3 * TAKEN + i);
        give(0x1000 + i, 3 * TAKEN + i);
    }
    check_sums(5, TAKEN, 4 * TAKEN + 3, 4 * TAKEN + 2);
    CHECK_EQ(memory()->about.gives_alone, 2);
}

/* The oldest of those that were given back alone gives way. */
static void check_full_of_gives(void)
{
    for (uint64_t i = 0; i < EARLY + 1; i++)
        give(0x1000 + i, 100);
    take(0x1000, 1, 0);
    take(0x1001, 2, 0);
    check_sums(1, 1, 2, EARLY + 1);
    CHECK_EQ(memory()->about.gives_alone, EARLY);
}

static void check_crowd(void)
{
    static const char *const json[] = {
        "{\"kind\":\"(all "
        "others)\",\"gpu\":null,\"bytes\":200,\"peak_bytes\":300,\"takes\":3,"
        "\"gives\":1}],",
        NULL};
    char kind[16];

    for (uint32_t i = 0; i < GPURT_MODEL_MEMORIES + 3; i++) {
        snprintf(kind, sizeof kind, "kind %u", i);
        put_memory(0, "take", kind, 0x1000 + i, 100, i);
    }
    put_memory(0, "give back", "kind 33", 0x1000 + 33, 100, 99);
    CHECK_EQ(memory()->count, GPURT_MODEL_MEMORIES);
    check_written(write_json, &view->activity, json);
}

/* ---- pools --------------------------------------------------------------------------- */

static void put_pool(const char *what, uint64_t address, uint64_t bytes, uint64_t used,
                     uint64_t at)
{
    gpurt_activity_pool_t pool = {.name = string(what),
                                  .address = gpurt_pair(address),
                                  .bytes = gpurt_pair(bytes),
                                  .used = gpurt_pair(used),
                                  .memory = string("managed")};

    put_on(1, GPURT_KIND_POOL, GPURT_LEVEL_TRACE, T0 + at, &pool, sizeof pool);
}

static void check_pools(void)
{
    static const char *const plain[] = {
        "pool       0x7000, GPU 1, managed: 4.0 KiB, 1.0 KiB used; at last: pool "
        "trimmed\n",
        "pool       0x8000, GPU 1, managed: unknown size, unknown size used; at last: pool "
        "made\n",
        NULL};
    static const char *const json[] = {
        "\"pool_list\":[{\"address\":\"0x7000\",\"kind\":\"managed\",\"last\":\"pool "
        "trimmed\","
        "\"gpu\":1,\"bytes\":4096,\"used\":1024},{\"address\":\"0x8000\",",
        "\"bytes\":null,\"used\":null}]", NULL};

    put_pool("pool made", 0x7000, 0, 0, 10);
    put_pool("pool trimmed", 0x7000, 4096, 1024, 30);
    put_pool("pool trimmed", 0x7000, 8192, 2048, 20); /* comes late */
    put_pool("pool made", 0x8000, UINT64_MAX, UINT64_MAX, 40);
    look();
    CHECK_EQ(memory()->pool_count, 2);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* One that is new takes the row of one that is gone, and no other's. */
static void check_many_pools(void)
{
    for (uint32_t i = 0; i < GPURT_MODEL_POOLS + 2; i++)
        put_pool("pool made", 0x1000 * (i + 1), i, 0, i);
    CHECK_EQ(memory()->pool_count, GPURT_MODEL_POOLS);
    CHECK_EQ(memory()->about.pools_left_out, 2);
    put_pool("pool destroyed", 0x5000, 0, 0, 101);
    put_pool("pool destroyed", 0x3000, 0, 0, 100);
    put_pool("pool made", 0xaa000, 77, 0, 102);
    CHECK_EQ(memory()->pools[2].address, 0xaa000);
    CHECK_EQ(memory()->pools[2].bytes, 77);
    CHECK_EQ(memory()->pools[4].address, 0x5000);
    CHECK_EQ(memory()->about.pools_left_out, 2);
}

int main(void)
{
    in_model(check_kinds);
    in_model(check_any_order);
    in_model(check_alone);
    in_model(check_full);
    in_model(check_full_of_gives);
    in_model(check_crowd);
    in_model(check_pools);
    in_model(check_many_pools);
    in_model(check_processes); /* last: the dictionary knows of processes from here on */
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
