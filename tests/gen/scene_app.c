/* SPDX-License-Identifier: Apache-2.0 */
/* scene_app MILLISECONDS RECORDS_A_SECOND [status] [panic] [quiet] [kill] [fork]
 * [until=FILE] - an application as a drainer sees one: makes a box, hands it over, writes
 * what a device would, for so long or until the file is there. */
#include "check.h"
#include "feed.h"
#include "handover.h"
#include "hosttime.h"
#include "scene.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SMS = 16,
    SLOTS = 8,
    APP_SITES = 7
};

static void define(const gpurt_boxmap_t *map)
{
    for (uint32_t i = 0; i < APP_SITES; i++) {
        gpurt_def_t *def = gpurt_boxmap_def(map, 0, i);
        const char *format = scene_format(i), *file = scene_file(i);

        def->slots = 1;
        def->level = (uint8_t)scene_level(i);
        def->arg_count = 2;
        def->line = scene_line(i);
        def->kind = GPURT_KIND_LOG;
        def->types = GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4;
        def->format_bytes = (uint16_t)strlen(format);
        def->file_bytes = (uint16_t)strlen(file);
        memcpy(gpurt_def_text(def), format, def->format_bytes);
        memcpy(gpurt_def_text(def) + def->format_bytes, file, def->file_bytes);
        gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
    }
}

/* Returns: messages that found room. */
static uint64_t feed(const gpurt_boxmap_t *map, uint64_t until_ns, uint64_t rate,
                     bool panics, const char *until_file)
{
    uint64_t start = gpurt_real_ns(), sent = 0, tried = 0, now;
    uint32_t panic = 0, x = 12345;

    while ((now = gpurt_real_ns()) < until_ns &&
           !(until_file && access(until_file, F_OK) == 0)) {
        uint64_t due = (now - start) / 1000 * rate / 1000000;
        struct timespec pause = {0, 2000000};

        for (; tried < due; tried++) {
            uint32_t ring = (x = x * 1664525u + 1013904223u) >> 16;
            gpurt_ring_port_t port =
                gpurt_boxmap_port(map, 0, (ring % (SMS * SLOTS * 3 / 4)));

            sent += feed_uniform(&port, 1 + x / 7919 % APP_SITES, ring, (uint32_t)tried,
                                 x % 64, gpurt_real_ns());
        }
        if (panics && panic < 3 && (now - start) / 300000000u > panic)
            feed_panic(map, 0, panic++, 7);
        nanosleep(&pause, NULL);
    }
    return sent;
}

static bool given(int argc, char **argv, const char *word)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

static const char *until_file(int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (strncmp(argv[i], "until=", 6) == 0)
            return argv[i] + 6;
    return NULL;
}

int main(int argc, char **argv)
{
    gpurt_section_plan_t section = {.kind = GPURT_SECTION_CPU,
                                    .sm_count = SMS,
                                    .warp_slots = SLOTS,
                                    .ring_bytes = 65536,
                                    .name = "feed"};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    gpurt_clock_fit_t same = {0};
    gpurt_boxmap_t map;
    gpurt_error_t err = {0};
    uint64_t sent;
    pid_t other = 0;

    CHECK_MSG(argc >= 3,
              "usage: scene_app MILLISECONDS RECORDS_A_SECOND [status] [word...]");
    if (given(argc, argv, "fork"))
        other = fork();
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    same.device_ns = same.real_ns = gpurt_real_ns();
    gpurt_boxmap_set_clock(&map, 0, &same);
    define(&map);
    gpurt_store_release_sys_u32(&map.box->xlife, GPURT_LIFE_OPEN); /* B4.rel */
    gpurt_handover_give(&map, &err);
    if (!given(argc, argv, "quiet"))
        printf("scene_app: started \033[32mgreen\033[0m\n");
    fflush(stdout);
    sent = feed(&map, gpurt_real_ns() + strtoull(argv[1], NULL, 10) * 1000000u,
                strtoull(argv[2], NULL, 10), given(argc, argv, "panic"),
                until_file(argc, argv));
    if (given(argc, argv, "kill"))
        kill(getpid(), SIGKILL);
    gpurt_store_release_sys_u32(&map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(&map);
    if (other > 0)
        waitpid(other, NULL, 0);
    if (!given(argc, argv, "quiet"))
        printf("scene_app: sent %llu\n", (unsigned long long)sent);
    return argc > 3 ? atoi(argv[3]) : 0;
}
