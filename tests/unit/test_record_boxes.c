/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes that a recorder takes in: one that it found by itself is not another when its program hands
 * it over, and one that it did not find is. */
#include "record_box.h"

#include "boxes.h"
#include "check.h"
#include "handover.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NOBODY = 65534
};

static gpurt_error_t err;

static void say(int pipe_end)
{
    CHECK_EQ(write(pipe_end, "x", 1), 1);
}

static void wait_for_word(int pipe_end)
{
    char word;

    CHECK_EQ(read(pipe_end, &word, 1), 1);
}

static void make(gpurt_boxmap_t *map)
{
    gpurt_section_plan_t section = {
        .kind = GPURT_SECTION_CPU, .def_count = 8, .panic_count = 1};
    gpurt_box_plan_t plan = {.struct_size = sizeof plan,
                             .section_count = 1,
                             .sections = &section,
                             .shelf_bytes = 4096};

    CHECK_MSG(gpurt_boxmap_create(&plan, map, &err) == GPURT_OK, "%s", err.text);
}

/* A program: its first box is there before it is handed over, its second is found in no other
 * way. */
static void program(const char *recorder, int says, int hears)
{
    gpurt_boxmap_t first, second;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also of a test that fails */
    make(&first);
    say(says);
    wait_for_word(hears);
    CHECK_MSG(gpurt_handover_give_to(recorder, &first, &err) == GPURT_OK, "%s", err.text);
    make(&second);
    CHECK_MSG(gpurt_handover_give_to(recorder, &second, &err) == GPURT_OK, "%s", err.text);
    say(says);
    wait_for_word(hears);
    _exit(0);
}

static void accept_until(record_boxes_t *b, uint32_t count)
{
    for (int tries = 0; tries < 10000 && record_boxes_count(b) < count; tries++) {
        record_boxes_accept(b);
        usleep(1000);
    }
    CHECK_MSG(record_boxes_count(b) == count, "%u boxes: %s", record_boxes_count(b),
              b->err.text);
}

static void check_taken_once(gpurt_writer_t *w)
{
    static record_boxes_t recorder;
    static gpurt_boxes_t found;
    int to[2], from[2], status;
    pid_t pid;

    CHECK_EQ(record_boxes_open(&recorder, w, false, &err), GPURT_OK);
    CHECK_EQ(pipe(to), 0);
    CHECK_EQ(pipe(from), 0);
    pid = fork();
    if (pid == 0)
        program(recorder.lobby.name, from[1], to[0]);
    CHECK(pid > 0);
    wait_for_word(from[0]);
    CHECK_EQ(gpurt_boxes_of_pid((uint32_t)pid, true, &found, &err), GPURT_OK);
    CHECK_EQ(found.count, 1);
    CHECK_EQ(record_boxes_add(&recorder, gpurt_boxes_take(&found, 0)), GPURT_OK);
    say(to[1]);
    accept_until(&recorder, 2);
    wait_for_word(from[0]);
    CHECK_EQ(recorder.seen, 2);
    CHECK_MSG(recorder.unread == 0, "%s", recorder.err.text);
    say(to[1]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    record_boxes_close(&recorder);
}

/* A program of another user gives its box to root, and to nobody else. */
static void check_of_others(gpurt_writer_t *w)
{
    static record_boxes_t recorder;
    gpurt_boxmap_t map;
    int status;
    pid_t pid;

    CHECK_EQ(record_boxes_open(&recorder, w, false, &err), GPURT_OK);
    pid = fork();
    if (pid == 0) {
        CHECK_EQ(setgid(NOBODY), 0);
        CHECK_EQ(setuid(NOBODY), 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user ends it */
        make(&map);
        CHECK_MSG(gpurt_handover_give_to(recorder.lobby.name, &map, &err) == GPURT_OK, "%s",
                  err.text);
        pause(); /* its box lives as long as it does */
    }
    CHECK(pid > 0);
    accept_until(&recorder, 1);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_MSG(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "a program: %x", status);
    record_boxes_close(&recorder);
}

/* Somebody who has come and not spoken yet is waited for, though the application is gone. */
static void check_last_breath(gpurt_writer_t *w)
{
    static record_boxes_t recorder;
    struct sockaddr_un address;
    socklen_t bytes;
    int fd, status;
    pid_t pid;

    CHECK_EQ(record_boxes_open(&recorder, w, false, &err), GPURT_OK);
    bytes = gpurt_handover_address(recorder.lobby.name, &address);
    fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&address, bytes), 0);
    pid = fork();
    if (pid == 0) {
        usleep(200000);
        CHECK_EQ(send(fd, "good day", 8, 0), 8);
        _exit(0);
    }
    CHECK(pid > 0);
    record_boxes_end(&recorder);
    CHECK_EQ(recorder.strangers, 1);
    CHECK_EQ(recorder.lobby.guests, 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    close(fd);
    record_boxes_close(&recorder);
}

int main(void)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options};
    char path[] = "/tmp/test_record_boxes.XXXXXX";
    gpurt_writer_t *w;
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    CHECK_MSG(gpurt_writer_open(path, &options, &w, &err) == GPURT_OK, "%s", err.text);
    check_taken_once(w);
    check_last_breath(w);
    if (getuid() == 0)
        check_of_others(w);
    CHECK_EQ(gpurt_writer_close(w, &err), GPURT_OK);
    unlink(path);
    return 0;
}
