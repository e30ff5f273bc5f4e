/* SPDX-License-Identifier: Apache-2.0 */
/* port_hash SEED - runs one seeded kernel and compares the schedule's hash and the result with
 * what every other processor and compiler got. GPURT_SEED must be SEED. */
#include <gpurt/device.h>
#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>

struct tally_args {
    uint32_t *count;
};

/* A lost update: how much is lost depends on nothing but the schedule. */
GPURT_KERNEL(tally, struct tally_args, p)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t v = gpurt_load_relaxed_dev_u32(p->count);

        gpurt_store_relaxed_dev_u32(p->count, v + 1);
    }
}

static const struct {
    uint64_t hash;
    uint32_t count;
} expected[] = {{0, 0},
                {0xa0cda0d638431742u, 102},
                {0x674476620429a887u, 39},
                {0xfb67b96a0b30a5d6u, 16}};

int main(int argc, char **argv)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};
    gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    uint32_t count = 0;
    struct tally_args args = {&count};
    size_t seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
    gpurt_counters_t counters;
    gpurt_error_t err;
    gpurt_t *rt;

    if (seed == 0 || seed >= sizeof expected / sizeof expected[0])
        return 2;
    if (gpurt_open(&options, &rt, &err) != GPURT_OK ||
        gpurt_launch(rt, &launch, tally, &args, &err) != GPURT_OK ||
        gpurt_sync(rt, &err) != GPURT_OK) {
        fprintf(stderr, "port_hash: %s\n", err.text);
        return 1;
    }
    gpurt_counters(rt, &counters);
    gpurt_close(rt, NULL);
    if (counters.hash != expected[seed].hash || count != expected[seed].count) {
        fprintf(stderr, "port_hash: seed %zu: hash %016llx count %u, expected %016llx %u\n",
                seed, (unsigned long long)counters.hash, count,
                (unsigned long long)expected[seed].hash, expected[seed].count);
        return 1;
    }
    return 0;
}
