/* SPDX-License-Identifier: Apache-2.0 */
/* doomed_app DUMP [box] [panic] [child] [hang] [on=DEVICES] - a program whose GPU faults, without a GPU: it leaves
 * DUMP where the CUDA driver would leave a core dump, and dies as the driver would have it
 * die; where no dump is asked for, it hears of the error and exits with 1.
 *   box    it opened gpurt, and its rings hold RECORDS messages of the warp that fails and
 *          OTHERS of its neighbour on SM 126
 *   panic  the warp had panicked right before; with box
 *   on=10  it has these devices open, a digit each, and so a box for each; with box
 *   hang   it does not fail but waits until it is asked for the dump through its pipe
 *   child  a process that it starts does all this; it waits for it and exits with 3 */
#include "check.h"
#include "feed.h"
#include "handover.h"
#include "hosttime.h"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SMS = 132,
    SLOTS = 4,
    SM = 126,
    SLOT = 1,
    WARP = 1,
    BLOCK = 4, /* 1,1,0 of a grid three wide */
    RECORDS = 40,
    OTHERS = 10,
    PATTERN = PATH_MAX - 16
};

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

static const char *devices_of(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "on=", 3) == 0)
            return argv[i] + 3;
    return "0";
}

/* In the slot that feed_panic fills, at the place of the fault. */
static void write_panic(const gpurt_boxmap_t *map)
{
    gpurt_panic_t *p = gpurt_boxmap_panic(map, 0, 0);

    feed_panic(map, 0, 0, 2);
    p->block = (gpurt_dim3_t){1, 1, 0};
    p->thread = (gpurt_dim3_t){7, 1, 0};
    p->sm = SM;
    p->warp_slot = SLOT;
    p->warp = WARP;
    p->time_ns = gpurt_real_ns() & GPURT_TIME_MASK;
}

static void write_records(uint32_t device, bool panics)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CUDA,
                              .device = device,
                              .sm_count = SMS,
                              .warp_slots = SLOTS,
                              .ring_bytes = 4096,
                              .name = "NVIDIA H200",
                              .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_ring_port_t port;
    gpurt_boxmap_t map;
    gpurt_error_t err;

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    port = gpurt_boxmap_port(&map, 0, SM * SLOTS + SLOT);
    for (uint32_t i = 0; i < RECORDS; i++)
        CHECK(feed_warp(&port, 1, BLOCK, WARP, i, SLOT, gpurt_real_ns()));
    port = gpurt_boxmap_port(&map, 0, SM * SLOTS);
    for (uint32_t i = 0; i < OTHERS; i++)
        CHECK(feed_warp(&port, 1, BLOCK, 0, i, 0, gpurt_real_ns()));
    if (panics)
        write_panic(&map);
    CHECK_MSG(gpurt_handover_give(&map, &err) == GPURT_OK, "no drainer");
}

static void copy(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char bytes[4096];
    size_t got;

    CHECK_MSG(in && out, "%s, %s", from, to);
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0)
        CHECK_EQ(fwrite(bytes, 1, got, out), got);
    fclose(in);
    CHECK_EQ(fclose(out), 0);
}

/* "/folder/%p.x" with our process's number. */
static void path_of(const char *pattern, char out[PATH_MAX])
{
    const char *place = pattern ? strstr(pattern, "%p") : NULL;

    CHECK_MSG(place && strlen(pattern) < PATTERN, "pattern %s", check_text(pattern));
    snprintf(out, PATH_MAX, "%.*s%d%s", (int)(place - pattern), pattern, (int)getpid(),
             place + 2);
}

/* As the driver does where CUDA_ENABLE_USER_TRIGGERED_COREDUMP is set. */
static void wait_until_asked(void)
{
    const char *on = getenv("CUDA_ENABLE_USER_TRIGGERED_COREDUMP");
    char path[PATH_MAX], bytes[16];
    FILE *pipe;

    CHECK_MSG(on && strcmp(on, "1") == 0, "nobody will ask");
    path_of(getenv("CUDA_COREDUMP_PIPE"), path);
    CHECK_EQ(mkfifo(path, 0600), 0);
    pipe = fopen(path, "rb");
    CHECK(pipe && fread(bytes, 1, sizeof bytes, pipe) > 0);
    fclose(pipe);
    unlink(path);
}

static void die(const char *dump)
{
    const char *on = getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
    const char *flags = getenv("CUDA_COREDUMP_GENERATION_FLAGS");
    char path[PATH_MAX];

    if (!on || strcmp(on, "1") != 0)
        _exit(1);
    CHECK_MSG(flags && strstr(flags, "skip_global_memory"), "a whole dump");
    CHECK_MSG(!strstr(flags, "skip_abort"), "skip_abort hides errors");
    path_of(getenv("CUDA_COREDUMP_FILE"), path);
    copy(dump, path);
    signal(SIGABRT, SIG_DFL);
    abort();
}

int main(int argc, char **argv)
{
    CHECK_MSG(argc > 1, "doomed_app DUMP [box] [panic] [child] [hang] [on=DEVICES]");
    if (has_word(argc, argv, "child") && fork() != 0) {
        wait(NULL);
        return 3;
    }
    if (has_word(argc, argv, "box"))
        for (const char *d = devices_of(argc, argv); *d; d++)
            write_records((uint32_t)(*d - '0'), has_word(argc, argv, "panic"));
    if (has_word(argc, argv, "hang"))
        wait_until_asked();
    die(argv[1]);
    return 0;
}
