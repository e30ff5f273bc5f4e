/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of a model that is written all the time sees each part whole; names of files,
 * their rights, and writers that died. Meant for ThreadSanitizer too. */
#include "check.h"
#include "hosttime.h"
#include "modelshare.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 1000,
    PARTS = 6
};
static const uint32_t part_numbers = 1, part_panics = 4, part_low = 8;

static uint32_t done; /* written by: the writer */

/* Every word of a part is its round. */
static void fill(void *part, size_t bytes, uint64_t round)
{
    uint64_t *words = part;

    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = round * 0x0101010101010101ull;
}

/* Back to back, so that a part is nearly always being written while it is read. */
static void write_rounds(gpurt_modelshare_t *s, uint32_t rounds)
{
    gpurt_modelview_t *v[2] = {calloc(1, sizeof **v), calloc(1, sizeof **v)};

    for (uint64_t i = 0; i < 2; i++) {
        fill(&v[i]->numbers, sizeof v[i]->numbers, i + 1);
        fill(&v[i]->panics, sizeof v[i]->panics, i + 1);
        fill(&v[i]->lines[0], sizeof v[i]->lines[0], i + 1);
    }
    for (uint32_t round = 0; round < rounds; round++)
        gpurt_modelshare_publish(s, v[round & 1],
                                 round % 8 < 4   ? part_numbers
                                 : round % 8 < 6 ? part_low
                                                 : part_panics);
    free(v[0]);
    free(v[1]);
}

static void *write_all(void *context)
{
    write_rounds(context, ROUNDS);
    gpurt_store_release_sys_u32(&done, 1);
    return NULL;
}

/* Terminators that the reader sets in texts are the only words that may differ. */
static void check_whole(const void *part, size_t bytes, uint32_t texts)
{
    const uint64_t *words = part;
    uint32_t other = 0;

    for (size_t i = 1; i < bytes / 8; i++)
        other += words[i] != words[0];
    CHECK_MSG(other <= texts, "%u words of another round", other);
}

static void test_race(void)
{
    gpurt_modelview_t *v = calloc(1, sizeof *v);
    gpurt_modelshare_t *writer, *reader;
    uint32_t reads[PARTS] = {0};
    gpurt_error_t err;
    pthread_t thread;
    bool last;

    CHECK_MSG(gpurt_modelshare_create(NULL, &writer, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_modelshare_join(writer, &reader, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(pthread_create(&thread, NULL, write_all, writer) == 0, "thread");
    do {
        uint32_t got;

        last = gpurt_load_acquire_sys_u32(&done);
        got = gpurt_modelshare_read(reader, v);
        for (int i = 0; i < PARTS; i++)
            reads[i] += got >> i & 1;
        if (got & part_numbers)
            check_whole(&v->numbers, sizeof v->numbers, GPURT_MODEL_SECTIONS);
        if (got & part_panics)
            check_whole(&v->panics, sizeof v->panics, 3 * GPURT_MODEL_PANICS);
        if (got & part_low)
            check_whole(&v->lines[0], sizeof v->lines[0], 0);
    } while (!last);
    pthread_join(thread, NULL);
    CHECK_MSG(reads[0] > 0 && reads[2] > 0 && reads[3] > 0, "every part was read");
    CHECK_MSG(v->panics.count == 2 * 0x0101010101010101ull, "the last round is seen");
    CHECK_MSG(gpurt_modelshare_read(reader, v) == 0, "nothing new, nothing copied");
    gpurt_modelshare_close(reader);
    gpurt_modelshare_close(writer);
    free(v);
}

static void *write_on(void *context)
{
    while (!gpurt_load_acquire_sys_u32(&done))
        write_rounds(context, 64);
    return NULL;
}

/* Both on one processor: each is stopped in the middle of its work, and finds the
 * other's work done when it goes on. Side by side they would run at one pace and hardly
 * ever cross. */
static void test_preempted(void)
{
    gpurt_modelview_t *v = calloc(1, sizeof *v);
    gpurt_modelshare_t *writer, *reader;
    const uint64_t began = gpurt_real_ns();
    gpurt_error_t err;
    pthread_t thread;
    cpu_set_t one, all;
    uint32_t reads = 0;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    gpurt_store_release_sys_u32(&done, 0);
    CHECK_MSG(gpurt_modelshare_create(NULL, &writer, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(pthread_create(&thread, NULL, write_on, writer) == 0, "thread");
    /* A busy machine needs longer for some. */
    while (gpurt_real_ns() - began < (reads > 10 ? 1500000000u : 100000000000ull)) {
        uint32_t got;

        /* A new end has seen nothing and reads everything. */
        CHECK_MSG(gpurt_modelshare_join(writer, &reader, &err) == GPURT_OK, "%s", err.text);
        got = gpurt_modelshare_read(reader, v);
        gpurt_modelshare_close(reader);
        if (got & part_numbers)
            check_whole(&v->numbers, sizeof v->numbers, GPURT_MODEL_SECTIONS);
        if (got & part_low)
            check_whole(&v->lines[0], sizeof v->lines[0], 0);
        reads += got != 0;
    }
    gpurt_store_release_sys_u32(&done, 1);
    pthread_join(thread, NULL);
    sched_setaffinity(0, sizeof all, &all);
    CHECK_MSG(reads > 10, "%u reads", reads);
    gpurt_modelshare_close(writer);
    free(v);
}

static const gpurt_box_identity_t watched = {.pid = 4242, .real_ns = 1000};

static gpurt_modelshare_t *create(uint32_t box_ns, gpurt_status_t expected)
{
    gpurt_box_identity_t box = watched;
    gpurt_modelshare_t *writer;
    gpurt_error_t err = {0};
    gpurt_status_t st;

    box.real_ns = box_ns;
    st = gpurt_modelshare_create(&box, &writer, &err);
    CHECK_MSG(st == expected, "box %u: %d, not %d: %s", box_ns, st, expected, err.text);
    return writer;
}

static uint32_t shown(void)
{
    gpurt_modelshare_t *all[16];
    uint32_t count = gpurt_modelshare_find(4242, all, 16);

    for (uint32_t i = 0; i < count; i++)
        gpurt_modelshare_close(all[i]);
    return count;
}

static void test_files(const char *folder)
{
    gpurt_modelshare_t *writer, *reader;
    char path[256], other[256], dead[256], alive[256];
    struct stat info;
    int held;
    pid_t child;

    snprintf(path, sizeof path, "%s/gpurt/4242", folder);
    snprintf(other, sizeof other, "%s/elsewhere", folder);
    snprintf(dead, sizeof dead, "%s/gpurt/4243.1", folder);
    snprintf(alive, sizeof alive, "%s/gpurt/4244", folder);
    CHECK_MSG(shown() == 0, "nobody is there");
    writer = create(1000, GPURT_OK);
    CHECK_MSG(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600, "rights %o",
              info.st_mode & 0777);
    create(1000, GPURT_E_BUSY);
    CHECK_MSG(gpurt_modelshare_find(4242, &reader, 1) == 1, "one writer, one reader");
    gpurt_modelshare_alarm(writer, 0, 2);
    gpurt_modelshare_alarm(writer, 1, 3);
    gpurt_modelshare_alarm(writer, 0, 1);
    CHECK_MSG(gpurt_modelshare_coming(reader) == 4,
              "panics that come, of both sections: %u", gpurt_modelshare_coming(reader));
    gpurt_modelshare_close(writer);
    CHECK_MSG(access(path, F_OK) != 0, "the file goes with its writer");
    gpurt_modelshare_close(reader);

    child = fork();
    if (child == 0) {
        create(1000, GPURT_OK);
        _exit(0); /* without a close */
    }
    CHECK_MSG(waitpid(child, NULL, 0) == child, "wait");
    CHECK_MSG(access(path, F_OK) == 0 && shown() == 0, "its writer is dead");
    writer = create(1000, GPURT_OK);
    CHECK_MSG(shown() == 1, "in the place of the dead one");
    gpurt_modelshare_close(writer);

    /* One of a process that nobody watches any more goes when the next writer begins; one of a
     * writer that lives, in whichever version or namespace, does not. */
    child = fork();
    if (child == 0) {
        create(1000, GPURT_OK);
        CHECK(rename(path, dead) == 0);
        _exit(0);
    }
    CHECK_MSG(waitpid(child, NULL, 0) == child && access(dead, F_OK) == 0, "left behind");
    CHECK((held = open(alive, O_CREAT | O_RDWR, 0600)) >= 0 && flock(held, LOCK_EX) == 0);
    gpurt_modelshare_close(create(1000, GPURT_OK));
    CHECK_MSG(access(dead, F_OK) != 0, "nobody needs it, and it stays");
    CHECK_MSG(access(alive, F_OK) == 0, "its writer holds it");
    CHECK(unlink(alive) == 0 && close(held) == 0);

    CHECK_MSG(close(open(other, O_CREAT | O_WRONLY, 0600)) == 0 &&
                  symlink(other, path) == 0,
              "a link in the way");
    CHECK_MSG(shown() == 0, "a link");
    unlink(path);
    CHECK_MSG(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0, "an empty file");
    CHECK_MSG(shown() == 0, "too small");
    CHECK_MSG(truncate(path, 8 << 20) == 0, "truncate");
    CHECK_MSG(shown() == 0, "zeros");
    unlink(path);
    snprintf(path, sizeof path, "%s/gpurt", folder);
    CHECK_MSG(chmod(path, 0777) == 0, "chmod");
    create(1000, GPURT_E_OS);
    CHECK_MSG(chmod(path, 0700) == 0, "chmod");
}

/* Each box of a process has a model, and a file, of its own. */
static void test_boxes(const char *folder)
{
    gpurt_modelshare_t *writers[3], *readers[4];
    gpurt_modelview_t *view = calloc(1, sizeof *view);
    char path[256];

    snprintf(path, sizeof path, "%s/gpurt/4242.1", folder);
    writers[0] = create(3000, GPURT_OK); /* drainers begin in any order */
    writers[1] = create(1000, GPURT_OK);
    writers[2] = create(2000, GPURT_OK);
    CHECK_MSG(access(path, F_OK) == 0, "where the second lies");
    create(2000, GPURT_E_BUSY);
    CHECK_MSG(gpurt_modelshare_find(4242, readers, 4) == 3, "all three");
    for (uint64_t i = 0; i < 3; i++)
        CHECK_MSG(gpurt_modelshare_box_ns(readers[i]) == 1000 * (i + 1),
                  "box %u at place %u", (uint32_t)gpurt_modelshare_box_ns(readers[i]),
                  (uint32_t)i);
    gpurt_modelshare_alarm(writers[1], 0, 7);
    CHECK_MSG(gpurt_modelshare_coming(readers[0]) == 7 &&
                  gpurt_modelshare_coming(readers[2]) == 0,
              "each its own");

    /* The end of one is its last picture, or the end of its writer. */
    CHECK_MSG(!gpurt_modelshare_over(readers[0]), "it goes on");
    view->numbers.state = GPURT_MODEL_ENDED;
    gpurt_modelshare_publish(writers[1], view, 1);
    CHECK_MSG(gpurt_modelshare_over(readers[0]) && !gpurt_modelshare_over(readers[1]),
              "one has ended");
    gpurt_modelshare_close(writers[1]);
    CHECK_MSG(shown() == 2, "its place is free");
    CHECK_MSG(access(path, F_OK) != 0, "and its file gone");
    writers[1] = create(4000, GPURT_OK);
    CHECK_MSG(access(path, F_OK) == 0, "another takes it");
    for (int i = 0; i < 3; i++) {
        gpurt_modelshare_close(writers[i]);
        gpurt_modelshare_close(readers[i]);
    }
    CHECK_MSG(shown() == 0, "nothing is left");
    free(view);
}

/* Many at once, each with a box of its own: nobody takes another's place. */
static void test_begin_at_once(void)
{
    enum {
        MANY = 8
    };
    gpurt_modelshare_t *all[MANY + 1];
    uint32_t count = 0;
    pid_t child[MANY];

    for (uint32_t i = 0; i < MANY; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            create(100 + i, GPURT_OK);
            pause();
        }
    }
    for (int tries = 0; tries < 10000 && count < MANY; tries++) {
        usleep(1000);
        count = shown();
    }
    count = gpurt_modelshare_find(4242, all, MANY + 1);
    CHECK_MSG(count == MANY, "%u of them are seen", count);
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK_MSG(gpurt_modelshare_box_ns(all[i]) == 100 + i, "box %u", i);
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
        CHECK_MSG(gpurt_modelshare_over(all[i]), "its writer is gone");
        gpurt_modelshare_close(all[i]);
    }
}

int main(void)
{
    char folder[] = "/tmp/test_modelshare.XXXXXX", command[64];

    CHECK_MSG(mkdtemp(folder), "mkdtemp");
    setenv("XDG_RUNTIME_DIR", folder, 1);
    test_race();
    test_preempted();
    test_files(folder);
    test_boxes(folder);
    test_begin_at_once();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
