/* SPDX-License-Identifier: Apache-2.0 */
/* What device memory holds goes to a file and comes back in another process, byte for byte,
 * pointers included; files that are cut, damaged or of another version are refused before
 * anything is touched. */
#include "test_checkpoint.h"

#include "check.h"

#include <gpurt/checkpoint.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NODES = 3000,
    STATE_WORDS = 70000,
    HEAP_BYTES = 16 << 20,
    PAD_BYTES = 1 << 30
};

static char folder[] = "/tmp/gpurt-checkpoint-XXXXXX";

/* What a process registers. */
typedef struct world {
    gpurt_t *rt;
    gpurt_heap_t heap;
    uint32_t *state; /* device memory; word 0 and 1: the head of the list */
    uint64_t *sum;   /* device memory */
    uint32_t *host;  /* STATE_WORDS */
    gpurt_checkpoint_t *c;
    bool cuda;
} world_t;

static const char *file(const char *name)
{
    static char path[4][128];
    static uint32_t next;

    snprintf(path[next % 4], sizeof path[0], "%s/%s", folder, name);
    return path[next++ % 4];
}

static void world_open(world_t *w)
{
    gpurt_info_t info;
    void *memory;

    memset(w, 0, sizeof *w);
    CHECK(gpurt_open(NULL, &w->rt, NULL) == GPURT_OK);
    CHECK(gpurt_info(w->rt, &info) == GPURT_OK);
    w->cuda = info.backend == GPURT_BACKEND_CUDA;
    CHECK(gpurt_mem_create(w->rt, 4 * STATE_WORDS, &memory, NULL) == GPURT_OK);
    w->state = (uint32_t *)memory;
    CHECK(gpurt_mem_create(w->rt, 8, &memory, NULL) == GPURT_OK);
    w->sum = (uint64_t *)memory;
    w->host = (uint32_t *)calloc(STATE_WORDS, 4);
    CHECK(gpurt_checkpoint_create(w->rt, &w->c, NULL) == GPURT_OK);
}

static void world_register(world_t *w, uint32_t version, uint32_t flags)
{
    CHECK(gpurt_checkpoint_add_heap(w->c, "objects", &w->heap, flags, NULL) == GPURT_OK);
    CHECK(gpurt_checkpoint_add_memory(w->c, "state", version, w->state, 4 * STATE_WORDS,
                                      NULL) == GPURT_OK);
    CHECK(gpurt_checkpoint_add_memory(w->c, "state", 1, w->state, 4, NULL) ==
          GPURT_E_INVALID); /* the name is taken */
}

static void world_close(world_t *w)
{
    gpurt_checkpoint_destroy(w->c);
    CHECK(gpurt_heap_destroy(w->rt, &w->heap, NULL) == GPURT_OK);
    gpurt_mem_destroy(w->rt, w->state);
    gpurt_mem_destroy(w->rt, w->sum);
    free(w->host);
    CHECK(gpurt_close(w->rt, NULL) == GPURT_OK);
}

static struct list_args args_of(const world_t *w)
{
    struct list_args args = {
        .heap = w->heap, .head = (struct node **)w->state, .sum = w->sum, .count = NODES};

    return args;
}

static uint64_t sum_of(world_t *w)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct list_args args = args_of(w);
    uint64_t sum = 0;

    CHECK(gpurt_launch(w->rt, &launch, list_sum, &args, NULL) == GPURT_OK);
    CHECK(gpurt_copy(w->rt, GPURT_STREAM_DEFAULT, &sum, w->sum, 8, NULL) == GPURT_OK);
    CHECK(gpurt_sync(w->rt, NULL) == GPURT_OK);
    return sum;
}

static void copy_state(world_t *w, bool to_device)
{
    CHECK(gpurt_copy(w->rt, GPURT_STREAM_DEFAULT, to_device ? w->state : w->host,
                     to_device ? w->host : w->state, 4 * STATE_WORDS, NULL) == GPURT_OK);
    CHECK(gpurt_sync(w->rt, NULL) == GPURT_OK);
}

static void note_write(uint64_t sum, uint64_t live)
{
    FILE *f = fopen(file("note"), "w");

    CHECK(f &&
          fprintf(f, "%llu %llu\n", (unsigned long long)sum, (unsigned long long)live) > 0);
    fclose(f);
}

static void note_read(uint64_t *sum, uint64_t *live)
{
    unsigned long long a, b;
    FILE *f = fopen(file("note"), "r");

    CHECK(f && fscanf(f, "%llu %llu", &a, &b) == 2);
    fclose(f);
    *sum = a;
    *live = b;
}

static bool same_files(const char *a, const char *b)
{
    FILE *x = fopen(a, "r"), *y = fopen(b, "r");
    int p, q;

    CHECK(x && y);
    do {
        p = getc(x);
        q = getc(y);
    } while (p == q && p != EOF);
    fclose(x);
    fclose(y);
    return p == q;
}

/* ---- the processes ------------------------------------------------------------------- */
static void do_save(void)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    gpurt_heap_options_t options = {.bytes = HEAP_BYTES};
    gpurt_checkpoint_entry_t entries[4];
    gpurt_heap_stats_t stats;
    struct list_args args;
    uint32_t count;
    world_t w;

    /* So that the heap lies where a process like this one, but without it, has nothing:
     * addresses may be the same each time. */
    CHECK(mmap(NULL, PAD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
               0) != MAP_FAILED);
    world_open(&w);
    CHECK(gpurt_heap_create(w.rt, &options, &w.heap, NULL) == GPURT_OK);
    world_register(&w, 7, 0);
    for (uint32_t i = 0; i < STATE_WORDS; i++)
        w.host[i] = i * 40503u;
    copy_state(&w, true);
    args = args_of(&w);
    CHECK(gpurt_launch(w.rt, &launch, list_make, &args, NULL) == GPURT_OK);
    CHECK(gpurt_heap_stats(w.rt, &w.heap, &stats, NULL) == GPURT_OK);
    CHECK(stats.live == NODES - NODES / 3 && stats.large > 0);
    note_write(sum_of(&w), stats.live);
    CHECK(gpurt_checkpoint_save(w.c, file("saved"), NULL) == GPURT_OK);
    CHECK(gpurt_checkpoint_look(file("saved"), entries, 4, &count, NULL) == GPURT_OK);
    CHECK(count == 2 && strcmp(entries[0].name, "objects") == 0);
    CHECK(strcmp(entries[1].name, "state") == 0 && entries[1].bytes == 4 * STATE_WORDS &&
          entries[1].version == 7);
    world_close(&w);
}

/* With a heap that had to move its list is put right by the program, which knows its
 * pointers. */
static void list_follow(world_t *w, const gpurt_heap_t *old)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct list_args args = args_of(w);

    args.moved = (int64_t)((intptr_t)w->heap.chunks - (intptr_t)old->chunks);
    CHECK(gpurt_launch(w->rt, &launch, list_move, &args, NULL) == GPURT_OK);
}

static void check_restored(world_t *w, bool moved)
{
    uint64_t sum, live;
    gpurt_heap_stats_t stats;

    note_read(&sum, &live);
    CHECK(gpurt_heap_stats(w->rt, &w->heap, &stats, NULL) == GPURT_OK);
    CHECK(stats.live == live);
    if (!moved) { /* nothing differs: what would be saved now is what was loaded */
        CHECK(gpurt_checkpoint_save(w->c, file("again"), NULL) == GPURT_OK);
        CHECK(same_files(file("saved"), file("again")));
    }
    copy_state(w, false);
    for (uint32_t i = 2; i < STATE_WORDS; i++)
        CHECK(w->host[i] == i * 40503u);
}

/* The heap goes on: what is allocated now overlaps nothing that is there. */
static void check_alive(world_t *w)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct list_args args = args_of(w);
    uint64_t sum, live;

    note_read(&sum, &live);
    CHECK(sum_of(w) == sum);
    args.head = (struct node **)(w->state + 2); /* a second list */
    args.count = 500;
    CHECK(gpurt_launch(w->rt, &launch, list_make, &args, NULL) == GPURT_OK);
    CHECK(sum_of(w) == sum);
    CHECK(gpurt_heap_check(w->rt, &w->heap, NULL) == GPURT_OK);
}

static void do_load(bool taken)
{
    gpurt_heap_t old = {0};
    gpurt_error_t err;
    gpurt_status_t st;
    world_t w;
    FILE *f = fopen(file("base"), "r");
    void *base = NULL, *wall = MAP_FAILED;

    if (f) {
        CHECK(fscanf(f, "%p", &base) == 1);
        fclose(f);
    }
    world_open(&w);
    world_register(&w, 7, 0);
    if (taken)
        wall = mmap(base, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    st = gpurt_checkpoint_load(w.c, file("saved"), &err);
    if (st == GPURT_OK) {
        CHECK(!taken && (w.cuda || w.heap.chunks == (char *)base));
        check_restored(&w, false);
        check_alive(&w);
        world_close(&w);
        return;
    }
    CHECK(st == GPURT_E_MOVED && (taken || w.cuda)); /* said, and not done */
    CHECK(!w.heap.chunks && (w.cuda || strstr(err.text, "taken")));
    gpurt_checkpoint_destroy(w.c);
    CHECK(gpurt_checkpoint_create(w.rt, &w.c, NULL) == GPURT_OK);
    world_register(&w, 7, GPURT_CHECKPOINT_MAY_MOVE);
    CHECK(gpurt_checkpoint_load(w.c, file("saved"), NULL) == GPURT_OK);
    check_restored(&w, true);
    old.chunks = (char *)base;
    list_follow(&w, &old);
    check_alive(&w);
    world_close(&w);
    if (wall != MAP_FAILED)
        munmap(wall, 4096);
}

/* ---- files that are wrong ------------------------------------------------------------ */
static char *bytes_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    struct stat info;
    char *bytes;

    CHECK(f && fstat(fileno(f), &info) == 0);
    *size = (size_t)info.st_size;
    bytes = (char *)malloc(*size);
    CHECK(fread(bytes, 1, *size, f) == *size);
    fclose(f);
    return bytes;
}

static void bytes_write(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "w");

    CHECK(f && fwrite(bytes, 1, size, f) == size);
    fclose(f);
}

static void expect(world_t *w, const char *path, gpurt_status_t want)
{
    gpurt_error_t err = {0};
    gpurt_status_t st = gpurt_checkpoint_load(w->c, path, &err);

    if (st != want)
        fprintf(stderr, "%s, not %s: %s\n", gpurt_status_name(st), gpurt_status_name(want),
                err.text);
    CHECK(st == want && err.text[0]);
    CHECK(!w->heap.chunks); /* nothing was made */
    copy_state(w, false);
    for (uint32_t i = 0; i < STATE_WORDS; i += 997)
        CHECK(w->host[i] == 0); /* nothing was touched */
}

static void check_wrong_files(void)
{
    const gpurt_status_t head[] = {GPURT_E_DAMAGED, GPURT_E_VERSION};
    size_t size;
    char *bytes = bytes_read(file("saved"), &size);
    world_t w;

    world_open(&w);
    world_register(&w, 7, GPURT_CHECKPOINT_MAY_MOVE);
    copy_state(&w, true); /* zeros */
    for (size_t cut = 0; cut < size; cut += size / 23 + 1) {
        bytes_write(file("cut"), bytes, cut);
        expect(&w, file("cut"), GPURT_E_TRUNCATED);
    }
    for (size_t i = 0; i < 40; i++) {
        size_t at = i < 20 ? i * 2 : size / 20 * (i - 20) + 39;

        bytes[at] ^= (char)(1 << i % 8);
        bytes_write(file("flipped"), bytes, size);
        expect(&w, file("flipped"), head[at >= 8 && at < 12]);
        bytes[at] ^= (char)(1 << i % 8);
    }
    bytes_write(file("longer"), bytes, size);
    CHECK(truncate(file("longer"), (off_t)size + 8) == 0);
    expect(&w, file("longer"), GPURT_E_DAMAGED);
    expect(&w, file("nothing"), GPURT_E_OS);
    gpurt_checkpoint_destroy(w.c);

    CHECK(gpurt_checkpoint_create(w.rt, &w.c, NULL) == GPURT_OK);
    world_register(&w, 8,
                   GPURT_CHECKPOINT_MAY_MOVE); /* of another version of the program */
    expect(&w, file("saved"), GPURT_E_VERSION);
    gpurt_checkpoint_destroy(w.c);

    CHECK(gpurt_checkpoint_create(w.rt, &w.c, NULL) == GPURT_OK);
    CHECK(gpurt_checkpoint_add_memory(w.c, "others", 7, w.state, 4, NULL) == GPURT_OK);
    expect(&w, file("saved"), GPURT_E_PART);
    world_close(&w);
    free(bytes);
}

/* A disk that is full leaves the checkpoint before as it was. */
static void check_full_disk(void)
{
    world_t w;
    gpurt_error_t err;

    world_open(&w);
    CHECK(gpurt_checkpoint_add_memory(w.c, "state", 7, w.state, 4 * STATE_WORDS, NULL) ==
          GPURT_OK);
    CHECK(gpurt_checkpoint_save(w.c, "/nonexistent/x", &err) == GPURT_E_OS);
    CHECK(gpurt_checkpoint_save(w.c, "/dev/full/x", &err) == GPURT_E_OS);
    world_close(&w);
}

static void run(const char *program, const char *what)
{
    char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)what, folder,
                          NULL};
    int status;
    pid_t pid;

    CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Where the heap lay: in the file, behind the head of its part. */
static void base_note(void)
{
    size_t size;
    char *bytes = bytes_read(file("saved"), &size);
    FILE *f = fopen(file("base"), "w");
    uint64_t base;

    memcpy(&base, bytes + 40 + 72, sizeof base);
    CHECK(f && fprintf(f, "0x%llx\n", (unsigned long long)base) > 0);
    fclose(f);
    free(bytes);
}

int main(int argc, char **argv)
{
    char command[64];

    if (argc == 3) {
        strcpy(folder, argv[2]);
        if (strcmp(argv[1], "save") == 0)
            do_save();
        else
            do_load(strcmp(argv[1], "taken") == 0);
        return 0;
    }
    CHECK(mkdtemp(folder) != NULL);
    run(argv[0], "save");
    base_note();
    run(argv[0], "load");
    run(argv[0], "taken");
    check_wrong_files();
    check_full_disk();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
