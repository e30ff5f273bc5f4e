/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of a model that is written all the time sees each part whole; names of files,
 * their rights, and writers that died. Meant for ThreadSanitizer too. */
#include "check.h"
#include "modelshare.h"
#include "procfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
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

    CHECK_MSG(gpurt_modelshare_create(0, &writer, &err) == GPURT_OK, "%s", err.text);
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
    uint64_t until = gpurt_real_ns() + 1500000000u;
    gpurt_error_t err;
    pthread_t thread;
    cpu_set_t one, all;
    uint32_t reads = 0;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    gpurt_store_release_sys_u32(&done, 0);
    CHECK_MSG(gpurt_modelshare_create(0, &writer, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(pthread_create(&thread, NULL, write_on, writer) == 0, "thread");
    while (gpurt_real_ns() < until) {
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

static void test_files(const char *folder)
{
    gpurt_modelshare_t *writer, *second, *reader;
    char path[256], other[256];
    gpurt_error_t err;
    struct stat info;
    uint32_t pids[4];
    pid_t child;

    snprintf(path, sizeof path, "%s/gpurt/4242", folder);
    snprintf(other, sizeof other, "%s/elsewhere", folder);
    CHECK_MSG(gpurt_modelshare_open(4242, &reader, &err) == GPURT_E_HANDLE,
              "nobody is there");
    CHECK_MSG(gpurt_modelshare_create(4242, &writer, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600, "rights %o",
              info.st_mode & 0777);
    CHECK_MSG(gpurt_modelshare_create(4242, &second, &err) == GPURT_E_BUSY, "two writers");
    CHECK_MSG(gpurt_modelshare_open(4242, &reader, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_modelshare_list(pids, 4) == 1 && pids[0] == 4242, "list");
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
        CHECK_MSG(gpurt_modelshare_create(4242, &writer, &err) == GPURT_OK, "%s", err.text);
        _exit(0); /* without a close */
    }
    CHECK_MSG(waitpid(child, NULL, 0) == child, "wait");
    CHECK_MSG(gpurt_modelshare_open(4242, &reader, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(!gpurt_modelshare_alive(reader), "its writer is dead");
    CHECK_MSG(gpurt_modelshare_list(pids, 4) == 0, "not in the list");
    gpurt_modelshare_close(reader);
    CHECK_MSG(gpurt_modelshare_create(4242, &writer, &err) == GPURT_OK, "%s", err.text);
    gpurt_modelshare_close(writer);

    CHECK_MSG(close(open(other, O_CREAT | O_WRONLY, 0600)) == 0 &&
                  symlink(other, path) == 0,
              "a link in the way");
    CHECK_MSG(gpurt_modelshare_open(4242, &reader, &err) == GPURT_E_HANDLE, "a link");
    unlink(path);
    CHECK_MSG(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0, "an empty file");
    CHECK_MSG(gpurt_modelshare_open(4242, &reader, &err) == GPURT_E_HANDLE, "too small");
    CHECK_MSG(truncate(path, 8 << 20) == 0, "truncate");
    CHECK_MSG(gpurt_modelshare_open(4242, &reader, &err) == GPURT_E_HANDLE, "zeros");
    unlink(path);
    snprintf(path, sizeof path, "%s/gpurt", folder);
    CHECK_MSG(chmod(path, 0777) == 0, "chmod");
    CHECK_MSG(gpurt_modelshare_create(4242, &writer, &err) == GPURT_E_OS,
              "a folder that others can write");
}

int main(void)
{
    char folder[] = "/tmp/test_modelshare.XXXXXX", command[64];

    CHECK_MSG(mkdtemp(folder), "mkdtemp");
    setenv("XDG_RUNTIME_DIR", folder, 1);
    test_race();
    test_preempted();
    test_files(folder);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
