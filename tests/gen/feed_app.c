/* SPDX-License-Identifier: Apache-2.0 */
/* feed_app - an application for tests of drainers: opens a box, hands it over, writes COUNT
 * messages over 8 rings, and ends as asked. With boxes=N it has N devices open: a box each, of
 * which box i gets COUNT + i messages.
 *   exit=N  kill=SIGNAL  close (all descriptors first)  daemon (goes on in a child)
 *   panic (one)  drop (does not wait for room)  hang (sleeps until killed)
 *   fork (a child comes and goes half way)  exec=PROGRAM (becomes it)
 *   cuda (boxes of GPUs)  shut (the first box, before the end)  late (makes the last box when a line comes on
 *   standard input)  slow (waits for a line before it hands a box over)  strangers=N (so many come to the drainer
 *   before that, and have no box) */
#include "check.h"
#include "feed.h"
#include "handover.h"
#include "hosttime.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RINGS = 8,
    BOXES = 8
};

static const char *word(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);

    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0)
            return argv[i] + length;
    return NULL;
}

static void stranger_come(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = getenv(GPURT_HANDOVER_ENV);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    char answer;

    CHECK(fd >= 0 && name);
    memcpy(address.sun_path + 1, name, strlen(name)); /* a leading 0: abstract */
    CHECK_EQ(
        connect(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))),
        0);
    CHECK_EQ(send(fd, "good day", 8, 0), 8);
    CHECK(recv(fd, &answer, 1, 0) <= 0); /* until it is sent away */
    close(fd);
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

static void box_make(gpurt_boxmap_t *map, uint32_t kind, uint32_t device, bool drop,
                     bool slow)
{
    gpurt_section_plan_t s = {.kind = kind,
                              .device = device,
                              .sm_count = RINGS,
                              .name = "feed \"8\"",
                              .policy =
                                  drop ? GPURT_POLICY_DROP_NEWEST : GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_error_t err;

    CHECK_MSG(gpurt_boxmap_create(&plan, map, &err) == GPURT_OK, "%s", err.text);
    feed_define(map, 0);
    if (slow)
        getchar();
    CHECK_MSG(gpurt_handover_give(map, &err) == GPURT_OK, "no drainer");
}

static void box_shut(gpurt_boxmap_t *map)
{
    gpurt_store_release_sys_u32(&map->box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(map);
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
    bool drop = word(argc, argv, "drop") != NULL, late = word(argc, argv, "late") != NULL;
    bool slow = word(argc, argv, "slow") != NULL;
    const char *end = word(argc, argv, "boxes=");
    uint32_t boxes = end ? (uint32_t)strtoul(end, NULL, 10) : 1;
    uint32_t kind = word(argc, argv, "cuda") ? GPURT_SECTION_CUDA : GPURT_SECTION_CPU;
    gpurt_boxmap_t map[BOXES];

    CHECK_MSG(boxes > 0 && boxes <= BOXES, "%u boxes", boxes);
    if (word(argc, argv, "close"))
        for (int fd = 3; fd < 256; fd++)
            close(fd);
    if (word(argc, argv, "daemon"))
        become_daemon();
    if ((end = word(argc, argv, "strangers=")) != NULL)
        for (int i = 0; i < atoi(end); i++)
            stranger_come();
    for (uint32_t i = 0; i < boxes - late; i++)
        box_make(&map[i], kind, i, drop, slow);
    if (word(argc, argv, "fork")) {
        if (fork() == 0)
            _exit(3);
        wait(NULL);
    }
    for (uint32_t i = 0; i < boxes; i++) {
        if (late && i == boxes - 1) {
            getchar();
            box_make(&map[i], kind, i, drop, slow);
        }
        write_all(&map[i], count + i, drop);
    }
    if ((end = word(argc, argv, "exec=")) != NULL)
        execl(end, end, (char *)NULL);
    for (uint32_t i = 0; i < boxes && word(argc, argv, "panic"); i++)
        feed_panic(&map[i], 0, 0, 2);
    if (word(argc, argv, "shut"))
        box_shut(&map[0]);
    if ((end = word(argc, argv, "kill=")) != NULL)
        raise(atoi(end));
    while (word(argc, argv, "hang"))
        pause();
    end = word(argc, argv, "exit=");
    _exit(end ? atoi(end)
              : 0); /* no clean close: most programs that matter end like this */
}
