/* SPDX-License-Identifier: Apache-2.0 */
/* A box is attached through a descriptor and a path; everything that is not one is refused
 * with a line of text, whatever byte of the header is wrong. test_boxes has the ways by which
 * one is found. */
#include "boxcheck.h"
#include "check.h"
#include "feed.h"
#include "procfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static gpurt_error_t err;

static void make(gpurt_boxmap_t *map, bool no_memfd)
{
    gpurt_section_plan_t sections[2] = {{.kind = GPURT_SECTION_CPU,
                                         .sm_count = 3,
                                         .warp_slots = 4,
                                         .ring_bytes = 16384,
                                         .name = "test device"},
                                        {.kind = GPURT_SECTION_HOST}};
    gpurt_box_plan_t plan = {.struct_size = sizeof plan,
                             .section_count = 2,
                             .sections = sections,
                             .folder = "/tmp",
                             .no_memfd = no_memfd};

    CHECK_MSG(gpurt_boxmap_create(&plan, map, &err) == GPURT_OK, "%s", err.text);
    feed_define(map, 0);
}

/* Beyond RLIMIT_FSIZE the kernel would end the application by SIGXFSZ. */
static void limited(void)
{
    gpurt_section_plan_t section = {.kind = GPURT_SECTION_CPU, .sm_count = 3};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    struct rlimit before, small;
    gpurt_boxmap_t map;

    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 65536;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 2; i++) {
        plan.no_memfd = i;
        CHECK_EQ(gpurt_boxmap_create(&plan, &map, &err), GPURT_E_NOMEM);
        CHECK_CONTAINS(err.text, "ulimit -f");
    }
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void same(const gpurt_boxmap_t *a, const gpurt_boxmap_t *b)
{
    CHECK_MSG(b->section_count == 2 && b->sections[0].ring_count == 12, "sections");
    CHECK_MSG(memcmp(a->sections, b->sections, offsetof(gpurt_box_section_t, clock)) == 0,
              "same table");
    CHECK_MSG(gpurt_boxmap_def(b, 0, 3)->line == 103, "definitions");
}

static void attach_ways(void)
{
    gpurt_boxmap_t map, other;
    gpurt_ring_port_t port;

    make(&map, false);
    CHECK_MSG(gpurt_boxmap_attach_fd(map.fd, false, &other, &err) == GPURT_OK, "%s",
              err.text);
    same(&map, &other);
    port = gpurt_boxmap_port(&map, 0, 7);
    CHECK_MSG(feed_uniform(&port, 1, 1, 5, 6, 1), "room");
    CHECK_MSG(memcmp(gpurt_boxmap_groups(&other, 0, 7), port.groups, 16384) == 0, "shared");
    CHECK_MSG(gpurt_boxmap_alive(&other), "we live");
    gpurt_boxmap_detach(&other);
    CHECK_MSG(ftruncate(map.fd, 4096) != 0, "the size is sealed");
    gpurt_boxmap_detach(&map);
}

static void attach_fallback(void)
{
    gpurt_boxmap_t map, other;
    char path[sizeof map.path];

    make(&map, true);
    strcpy(path, map.path);
    CHECK_MSG(gpurt_boxmap_attach_file(path, true, &other, &err) == GPURT_OK, "%s",
              err.text);
    same(&map, &other);
    gpurt_boxmap_detach(&other);
    gpurt_boxmap_detach(&map);
    CHECK_MSG(access(path, F_OK) != 0, "the file is gone with its maker");
}

/* Each byte of what never changes, flipped in turn, must be noticed or be harmless. */
static void flips(void)
{
    gpurt_boxmap_t map;
    uint8_t *page;
    unsigned refused = 0;
    size_t fixed = offsetof(gpurt_box_t, check) + 4;

    make(&map, false);
    page = (uint8_t *)map.box;
    for (size_t i = 0; i < sizeof(gpurt_box_t); i++) {
        gpurt_status_t st;

        page[i] ^= 0x41;
        st = gpurt_boxmap_check(map.box, map.bytes, &err);
        page[i] ^= 0x41;
        CHECK_MSG(i >= fixed || st != GPURT_OK, "byte %zu flipped and not noticed", i);
        refused += st != GPURT_OK;
    }
    CHECK_MSG(refused > 500, "only %u refused", refused);
    /* A header that adds up, made by an enemy: the bounds hold by themselves. */
    for (uint32_t i = 0; i < 8; i++) { /* ring_count .. panic_count */
        uint32_t *field = &map.box->sections[1].ring_count + i;
        uint32_t saved = *field;

        *field = 0xfffff000u;
        map.box->check = gpurt_boxcheck_sum(map.box);
        CHECK_MSG(gpurt_boxmap_check(map.box, map.bytes, &err) == GPURT_E_INVALID,
                  "field %u", i);
        *field = saved;
    }
    map.box->sections[1].data_offset = map.bytes - GPURT_BOX_PAGE;
    map.box->check = gpurt_boxcheck_sum(map.box);
    CHECK_MSG(gpurt_boxmap_check(map.box, map.bytes, &err) == GPURT_E_INVALID,
              "data outside");
    map.box->sections[1].data_offset = map.sections[1].data_offset;
    map.box->check = gpurt_boxcheck_sum(map.box);
    CHECK_MSG(gpurt_boxmap_check(map.box, map.bytes, &err) == GPURT_OK, "%s", err.text);
    map.box->version++;
    CHECK_MSG(gpurt_boxmap_check(map.box, map.bytes, &err) == GPURT_E_UNSUPPORTED,
              "version");
    map.box->version--;
    CHECK_MSG(gpurt_boxmap_check(map.box, map.bytes - 4096, &err) == GPURT_E_INVALID,
              "cut");
    CHECK_MSG(gpurt_boxmap_check(map.box, 100, &err) == GPURT_E_INVALID, "cut to a stub");
    gpurt_boxmap_detach(&map);
}

/* Closing what has no descriptor must not close the program's standard input. */
static void never_attached(void)
{
    gpurt_boxmap_t map = {0};

    CHECK_MSG(fcntl(0, F_GETFD) >= 0, "a test has a standard input");
    gpurt_boxmap_detach(&map);
    CHECK_MSG(fcntl(0, F_GETFD) >= 0, "it is closed");
    gpurt_boxmap_detach(&map);
}

static void refusals(void)
{
    gpurt_section_plan_t section = {.kind = GPURT_SECTION_CPU, .ring_bytes = 1u << 20};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    gpurt_boxmap_t map;
    int fd = memfd_create("short", MFD_CLOEXEC), status;
    pid_t child;

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_E_INVALID, "ring too large");
    section.ring_bytes = 300 * 1024;
    section.policy = GPURT_POLICY_OVERWRITE;
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_E_INVALID,
              "ring that overwrites");
    plan.section_count = 0;
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, NULL) == GPURT_E_INVALID, "no section");
    CHECK_MSG(gpurt_boxmap_attach_fd(fd, false, &map, &err) == GPURT_E_INVALID,
              "empty file");
    CHECK_MSG(ftruncate(fd, 1 << 20) == 0, "grown");
    CHECK_MSG(gpurt_boxmap_attach_fd(fd, false, &map, &err) == GPURT_E_INVALID, "zeros");
    CHECK_MSG(gpurt_boxmap_attach_fd(-1, false, &map, &err) == GPURT_E_OS,
              "bad descriptor");
    CHECK_MSG(gpurt_boxmap_attach_file("/nonexistent", false, &map, &err) == GPURT_E_OS,
              "no file");
    CHECK_MSG(map.box == NULL && map.fd == -1, "left detached");
    gpurt_boxmap_detach(&map);
    close(fd);

    child = fork();
    if (child == 0)
        _exit(0);
    CHECK_MSG(gpurt_process_start((uint32_t)getpid()) != 0, "our start time");
    for (int i = 0; i < 1000 && gpurt_process_start((uint32_t)child) != 0; i++)
        usleep(1000);
    CHECK_MSG(gpurt_process_start((uint32_t)child) == 0, "a zombie does not live");
    waitpid(child, &status, 0);
}

static void *stay(void *context)
{
    pause();
    return context;
}

/* Its first thread has ended, and another one has not. */
static void half_ended(void)
{
    char path[64], text[256] = "";
    pid_t child = fork();
    uint64_t start;

    if (child == 0) {
        pthread_t other;

        if (pthread_create(&other, NULL, stay, NULL) == 0)
            pthread_exit(NULL);
        _exit(1);
    }
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    for (int i = 0; i < 10000 && !strstr(text, ") Z "); i++) {
        FILE *file = fopen(path, "r");

        CHECK_MSG(file && fgets(text, sizeof text, file), "%s", path);
        fclose(file);
        usleep(1000);
    }
    start = gpurt_process_start((uint32_t)child);
    kill(child, SIGKILL);
    CHECK_MSG(strstr(text, ") Z "), "its first thread is a zombie: %s", text);
    CHECK_MSG(start != 0, "a process lives as long as one of its threads");
    for (int i = 0; i < 10000 && gpurt_process_start((uint32_t)child) != 0; i++)
        usleep(1000);
    CHECK_MSG(gpurt_process_start((uint32_t)child) == 0, "and no longer");
    waitpid(child, NULL, 0);
}

static void clocks(void)
{
    gpurt_clock_fit_t fit = {0, 600, 5000000000ull, 1700000000000000000ull, 1000}, got;
    gpurt_boxmap_t map;

    make(&map, false);
    gpurt_boxmap_set_clock(&map, 0, &fit);
    CHECK_MSG(gpurt_boxmap_clock(&map, 0, &got) && got.real_ns == fit.real_ns &&
                  got.rate_ppb == 1000 && got.error_ns == 600,
              "fit");
    CHECK_MSG(gpurt_clock_real(&fit, 6000000000ull, fit.real_ns) ==
                  fit.real_ns + 1000001000ull,
              "1 s at +1000 ppb");
    CHECK_MSG(gpurt_clock_real(&fit, 4000000000ull, fit.real_ns) ==
                  fit.real_ns - 1000001000ull,
              "a second before");
    fit.device_ns = (5ull << 48) + 100;
    CHECK_MSG(gpurt_clock_real(&fit, GPURT_TIME_MASK, fit.real_ns) == fit.real_ns - 101,
              "across the wrap of 48 bits");
    gpurt_boxmap_detach(&map);
}

int main(void)
{
    limited();
    attach_ways();
    attach_fallback();
    flips();
    never_attached();
    refusals();
    half_ended();
    clocks();
    return 0;
}
