/* SPDX-License-Identifier: Apache-2.0 */
/* feed_app - an application for tests of drainers: opens a box, hands it over, writes COUNT
 * messages over 8 rings, and ends as asked:
 *   exit=N  kill=SIGNAL  close (all descriptors first)  daemon (goes on in a child)
 *   panic (one)  drop (does not wait for room)  hang (sleeps until killed)
 *   fork (a child comes and goes half way)  exec=PROGRAM (becomes it) */
#include "check.h"
#include "feed.h"
#include "handover.h"
#include "procfs.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RINGS = 8
};

static const char *word(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);

    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0)
            return argv[i] + length;
    return NULL;
}

static void become_daemon(void)
{
    if (fork() != 0)
        _exit(0);
    setsid();
}

static void write_all(const gpurt_boxmap_t *map, uint32_t count, bool drop)
{
    for (uint32_t i = 0; i < count; i++) {
        gpurt_ring_port_t port = gpurt_boxmap_port(map, 0, i % RINGS);

        while (!feed_uniform(&port, 1 + i % FEED_SITES, i, i, i % RINGS, gpurt_real_ns()) &&
               !drop)
            usleep(50);
    }
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
    bool drop = word(argc, argv, "drop") != NULL;
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = RINGS,
                              .name = "feed \"8\"",
                              .policy =
                                  drop ? GPURT_POLICY_DROP_NEWEST : GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    const char *end;
    gpurt_boxmap_t map;
    gpurt_error_t err;

    if (word(argc, argv, "close"))
        for (int fd = 3; fd < 256; fd++)
            close(fd);
    if (word(argc, argv, "daemon"))
        become_daemon();
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    CHECK_MSG(gpurt_handover_give(&map, &err) == GPURT_OK, "no drainer");
    if (word(argc, argv, "fork")) {
        if (fork() == 0)
            _exit(3);
        wait(NULL);
    }
    write_all(&map, count, drop);
    if ((end = word(argc, argv, "exec=")) != NULL)
        execl(end, end, (char *)NULL);
    if (word(argc, argv, "panic"))
        feed_panic(&map, 0, 0, 2);
    if ((end = word(argc, argv, "kill=")) != NULL)
        raise(atoi(end));
    while (word(argc, argv, "hang"))
        pause();
    end = word(argc, argv, "exit=");
    _exit(end ? atoi(end)
              : 0); /* no clean close: most programs that matter end like this */
}
