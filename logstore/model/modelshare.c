/* SPDX-License-Identifier: Apache-2.0 */
/* Order. Each part has a sequence number, odd while the part is written.
 *   M1  part word.rel -> part word.acq     a reader that sees a word of the writer's next
 *                                          round sees its odd number too, and tries again
 *   M2  even number.rel -> first look.acq  the words belong to that number
 *   M3  ready.rel -> open.acq              the head is whole
 * Words are stored and loaded one by one, each whole, so there is no race to speak of. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "modelshare.h"

#include "procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SHARE_MAGIC 0x314c444f4d545247ull /* "GRTMODL1", little endian */
enum {
    PARTS = 10,
    PLACES = 64, /* boxes of one process that are shown */
    SHARE_VERSION = 15,
    READ_TRIES = 64,
    LOCK_TRIES = 500,
    LOCK_STEP_NS = 1000000,
    PATH_ROOM = 256,
    PLACE_NAME = 16 /* "/4194304.63" */
};
#define TICK_NS 100000000ull

typedef struct share_part {
    uint32_t xseq; /* written by: the writer's end */
    uint32_t reserved;
} share_part_t;

/* Stays where it is in each version: who sweeps meets files of others. */
typedef struct share_head {
    uint64_t magic;
    uint32_t version, bytes;
    uint32_t writer, watched; /* process numbers */
    uint64_t writer_ticks;    /* start of the writer: a number used again is noticed */
} share_head_t;

/* What is mapped. */
typedef struct share_map {
    share_head_t head;
    uint64_t box_ns;  /* when the box was made, which tells it from others */
    uint32_t xready;  /* 1 when the above is there; written by: the writer's end */
    uint32_t xcoming; /* of all sections; written by: the drain's thread */
    share_part_t parts[PARTS];
    gpurt_modelview_t view; /* written by: the writer's end, word by word */
} share_map_t;

/* Owner: whoever made it. */
struct gpurt_modelshare {
    share_map_t *map;
    int fd;
    bool writer;
    char path[PATH_ROOM];                /* the writer's file, "" none */
    uint32_t seen[PARTS];                /* a reader's */
    uint64_t next_ns;                    /* the writer's tick */
    gpurt_modelview_t *own;              /* the writer's */
    uint32_t coming[GPURT_BOX_SECTIONS]; /* the drain's thread's */
};

static const struct {
    size_t offset, bytes;
} parts[PARTS] = {
    {offsetof(gpurt_modelview_t, numbers), sizeof(gpurt_model_numbers_t)},
    {offsetof(gpurt_modelview_t, names), sizeof(gpurt_model_names_t)},
    {offsetof(gpurt_modelview_t, panics), sizeof(gpurt_model_panics_t)},
    {offsetof(gpurt_modelview_t, lines[0]), sizeof(gpurt_model_lines_t)},
    {offsetof(gpurt_modelview_t, lines[1]), sizeof(gpurt_model_lines_t)},
    {offsetof(gpurt_modelview_t, lines[2]), sizeof(gpurt_model_lines_t)},
    {offsetof(gpurt_modelview_t, activity), sizeof(gpurt_model_activity_t)},
    {offsetof(gpurt_modelview_t, timeline), sizeof(gpurt_timeline_t)},
    {offsetof(gpurt_modelview_t, objects), sizeof(gpurt_model_objects_t)},
    {offsetof(gpurt_modelview_t, warps), sizeof(gpurt_model_warps_t)},
};
GPURT_STATIC_ASSERT(sizeof(gpurt_model_activity_t) % 8 == 0 &&
                        sizeof(gpurt_timeline_t) % 8 == 0 &&
                        sizeof(gpurt_model_objects_t) % 8 == 0 &&
                        sizeof(gpurt_model_warps_t) % 8 == 0,
                    "copied by words");

/* ---- sequence locks ------------------------------------------------------------------ */

static void part_write(share_map_t *map, const gpurt_modelview_t *view, uint32_t part)
{
    uint64_t *to = (uint64_t *)((char *)&map->view + parts[part].offset);
    const uint64_t *from = (const uint64_t *)((const char *)view + parts[part].offset);
    uint32_t *seq = &map->parts[part].xseq;
    uint32_t odd = gpurt_load_relaxed_sys_u32(seq) + 1; /* relaxed: only we write it */

    gpurt_store_relaxed_sys_u32(seq, odd); /* relaxed: M1 carries it */
    for (size_t i = 0; i < parts[part].bytes / 8; i++)
        gpurt_store_release_sys_u64(&to[i], from[i]); /* M1.rel */
    gpurt_store_release_sys_u32(seq, odd + 1);        /* M2.rel */
}

/* Returns: whether *view now holds a whole part that it did not hold before. */
static bool part_read(gpurt_modelshare_t *s, gpurt_modelview_t *view, uint32_t part)
{
    const uint64_t *from =
        (const uint64_t *)((const char *)&s->map->view + parts[part].offset);
    uint64_t *to = (uint64_t *)((char *)view + parts[part].offset);
    const uint32_t *seq = &s->map->parts[part].xseq;

    for (int tries = 0; tries < READ_TRIES; tries++) {
        uint32_t before = gpurt_load_acquire_sys_u32(seq); /* M2.acq */

        if (before == s->seen[part] && tries == 0)
            return false;
        if (before & 1) {
            sched_yield(); /* the writer may wait for this processor */
            continue;
        }
        for (size_t i = 0; i < parts[part].bytes / 8; i++)
            to[i] = gpurt_load_acquire_sys_u64(&from[i]); /* M1.acq */
        if (gpurt_load_relaxed_sys_u32(seq) == before) {  /* relaxed: behind the acquires */
            s->seen[part] = before;
            return true;
        }
    }
    s->seen[part] = UINT32_MAX; /* odd: matches nothing, so the next read tries again */
    return false;
}

void gpurt_modelshare_publish(gpurt_modelshare_t *s, const gpurt_modelview_t *view,
                              uint32_t which)
{
    for (uint32_t i = PARTS; i-- > 0;) /* the first, which may say that it was all, last */
        if (which >> i & 1)
            part_write(s->map, view, i);
}

void gpurt_modelshare_put(gpurt_modelshare_t *s, const gpurt_model_t *m, uint64_t now_ns,
                          uint32_t state)
{
    gpurt_modelshare_publish(s, s->own, gpurt_model_view(m, now_ns, state, s->own));
    s->next_ns = now_ns + TICK_NS;
}

/* relaxed: it says only that something comes */
void gpurt_modelshare_alarm(gpurt_modelshare_t *s, uint32_t section, uint32_t coming)
{
    uint32_t all = 0;

    s->coming[section] = coming;
    for (uint32_t i = 0; i < GPURT_BOX_SECTIONS; i++)
        all += s->coming[i];
    gpurt_store_relaxed_sys_u32(&s->map->xcoming, all);
}

uint32_t gpurt_modelshare_coming(const gpurt_modelshare_t *s)
{
    return gpurt_load_relaxed_sys_u32(&s->map->xcoming); /* relaxed: see above */
}

bool gpurt_modelshare_tick(gpurt_modelshare_t *s, const gpurt_model_t *m, uint64_t now_ns,
                           uint32_t state)
{
    /* A clock that was set back must not silence us. */
    if (now_ns < s->next_ns && s->next_ns - now_ns <= TICK_NS)
        return false;
    gpurt_modelshare_put(s, m, now_ns, state);
    return true;
}

void gpurt_modelshare_range(gpurt_modelshare_t *s, uint64_t first_ns, uint64_t last_ns)
{
    s->own->numbers.range_first_ns = first_ns;
    s->own->numbers.range_last_ns = last_ns;
}

static void host_texts_end(gpurt_model_host_rows_t *rows)
{
    for (int i = 0; i <= GPURT_MODEL_HOST_ROWS; i++) {
        rows->list[i].name[GPURT_MODEL_KERNEL_NAME - 1] = '\0';
        rows->list[i].domain[GPURT_MODEL_DOMAIN - 1] = '\0';
    }
}

static void memory_texts_end(gpurt_model_memory_t *m)
{
    for (int i = 0; i <= GPURT_MODEL_MEMORIES; i++)
        m->list[i].kind[GPURT_MODEL_WORDS - 1] = '\0';
    for (int i = 0; i < GPURT_MODEL_POOLS; i++)
        m->pools[i].what[GPURT_MODEL_WORDS - 1] = m->pools[i].kind[GPURT_MODEL_WORDS - 1] =
            '\0';
}

/* Texts end where their room ends, whatever the writer's memory holds. */
static void texts_end(gpurt_modelview_t *v, uint32_t part)
{
    if (part == 0)
        for (int i = 0; i < GPURT_MODEL_SECTIONS; i++)
            v->numbers.sections[i].name[GPURT_BOX_NAME - 1] = '\0';
    if (part == 1) {
        v->names.identity.host[GPURT_BOX_NAME - 1] = '\0';
        v->names.identity.program[GPURT_BOX_NAME - 1] = '\0';
        for (int i = 0; i < GPURT_MODEL_SITES; i++) {
            v->names.sites[i].file[GPURT_MODEL_WHERE - 1] = '\0';
            v->names.sites[i].format[GPURT_MODEL_SITE_TEXT - 1] = '\0';
            v->names.sites[i].last[GPURT_MODEL_SITE_TEXT - 1] = '\0';
        }
    }
    if (part == 6) {
        v->activity.state[sizeof v->activity.state - 1] = '\0';
        for (int i = 0; i < GPURT_MODEL_DEVICES; i++)
            v->activity.gpus[i].name[sizeof v->activity.gpus[i].name - 1] = '\0';
        for (int i = 0; i < GPURT_MODEL_COLLECTORS; i++) {
            v->activity.collectors[i].program[GPURT_BOX_NAME - 1] = '\0';
            v->activity.collectors[i].state[GPURT_MODEL_STATE - 1] = '\0';
        }
        for (int i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++)
            v->activity.kernels[i].name[GPURT_MODEL_KERNEL_NAME - 1] = '\0';
        host_texts_end(&v->activity.call_rows);
        host_texts_end(&v->activity.range_rows);
        memory_texts_end(&v->activity.memories);
    }
    if (part == 8)
        gpurt_objects_end(&v->objects);
    for (int i = 0; part == 2 && i < GPURT_MODEL_PANICS; i++) {
        gpurt_model_panic_t *e = &v->panics.list[i];

        e->file[sizeof e->file - 1] = e->format[sizeof e->format - 1] = '\0';
        e->message[sizeof e->message - 1] = '\0';
    }
}

/* A part is copied in place: one that was torn in all tries leaves a mix behind, so the
 * whole part is read again before anything is shown; numbers in a mix are bounded by who
 * uses them. */
uint32_t gpurt_modelshare_read(gpurt_modelshare_t *s, gpurt_modelview_t *view)
{
    uint32_t copied = 0;

    for (uint32_t i = 0; i < PARTS; i++)
        if (part_read(s, view, i)) {
            texts_end(view, i);
            copied |= 1u << i;
        }
    return copied;
}

/* ---- files --------------------------------------------------------------------------- */

/* A folder of ours that nobody else can write. */
static bool folder_path(char *path, size_t room, bool make)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat info;
    int used;

    if (runtime && runtime[0] == '/')
        used = snprintf(path, room, "%s/gpurt", runtime);
    else
        used = snprintf(path, room, "/dev/shm/gpurt-%u", (unsigned)getuid());
    if (used < 0 || (size_t)used >= room)
        return false;
    if (make)
        mkdir(path, 0700);
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid() &&
           (info.st_mode & 022) == 0;
}

static void file_path(char *path, const char *folder, uint32_t pid, uint32_t place)
{
    int used = snprintf(path, PATH_ROOM, "%s/%u", folder, pid);

    if (place)
        snprintf(path + used, (size_t)(PATH_ROOM - used), ".%u", place);
}

static gpurt_status_t map_fd(gpurt_modelshare_t *s, gpurt_error_t *err)
{
    int protection = s->writer ? PROT_READ | PROT_WRITE : PROT_READ;

    s->map = mmap(NULL, sizeof *s->map, protection, MAP_SHARED, s->fd, 0);
    if (s->map == MAP_FAILED) {
        s->map = NULL;
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "mapping a model");
    }
    return GPURT_OK;
}

static bool writer_alive(const share_map_t *map)
{
    return gpurt_process_alive(map->head.writer, map->head.writer_ticks);
}

/* ---- both ends ----------------------------------------------------------------------- */

void gpurt_modelshare_close(gpurt_modelshare_t *s)
{
    if (!s)
        return;
    if (s->writer && s->path[0])
        unlink(s->path);
    if (s->map)
        munmap(s->map, sizeof *s->map);
    if (s->fd >= 0)
        close(s->fd);
    free(s->own);
    free(s);
}

/* ---- a reader's end ------------------------------------------------------------------ */

static gpurt_status_t reader_make(int fd, const char *name, gpurt_modelshare_t **out,
                                  gpurt_error_t *err)
{
    gpurt_modelshare_t *s = calloc(1, sizeof *s);
    struct stat info;
    gpurt_status_t st;

    if (!s) {
        close(fd);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "model share");
    }
    s->fd = fd;
    for (uint32_t i = 0; i < PARTS; i++)
        s->seen[i] = UINT32_MAX;
    if (fstat(fd, &info) != 0 || info.st_uid != getuid() ||
        (uint64_t)info.st_size < sizeof *s->map) {
        st = gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                        "%s holds no model of ours", name);
        goto fail;
    }
    st = map_fd(s, err);
    if (st != GPURT_OK)
        goto fail;
    if (gpurt_load_acquire_sys_u32(&s->map->xready) != 1 || /* M3.acq */
        s->map->head.magic != SHARE_MAGIC || s->map->head.version != SHARE_VERSION ||
        s->map->head.bytes != sizeof *s->map) {
        st = gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                        "%s holds no model of this version", name);
        goto fail;
    }
    *out = s;
    return GPURT_OK;

fail:
    gpurt_modelshare_close(s);
    return st;
}

/* NULL: there is none, or one that is not ours. */
static gpurt_modelshare_t *place_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    gpurt_modelshare_t *s = NULL;

    if (fd >= 0)
        reader_make(fd, path, &s, NULL);
    return s;
}

gpurt_status_t gpurt_modelshare_join(const gpurt_modelshare_t *end,
                                     gpurt_modelshare_t **out, gpurt_error_t *err)
{
    int fd = fcntl(end->fd, F_DUPFD_CLOEXEC, 0);

    *out = NULL;
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "model share");
    return reader_make(fd, "the model", out, err);
}

uint64_t gpurt_modelshare_box_ns(const gpurt_modelshare_t *s)
{
    return s->map->box_ns;
}

bool gpurt_modelshare_over(const gpurt_modelshare_t *s)
{
    uint32_t state = gpurt_load_acquire_sys_u32(&s->map->view.numbers.state); /* M1.acq */

    return state == GPURT_MODEL_ENDED || !writer_alive(s->map);
}

uint32_t gpurt_modelshare_find(uint32_t pid, gpurt_modelshare_t **out, uint32_t room)
{
    char folder[PATH_ROOM - PLACE_NAME], path[PATH_ROOM];
    uint32_t count = 0;

    if (!folder_path(folder, sizeof folder, false))
        return 0;
    for (uint32_t place = 0; place < PLACES && count < room; place++) {
        gpurt_modelshare_t *s;
        uint32_t at = count;

        file_path(path, folder, pid, place);
        s = place_open(path);
        if (!s || !writer_alive(s->map)) {
            gpurt_modelshare_close(s);
            continue;
        }
        for (; at > 0 && out[at - 1]->map->box_ns > s->map->box_ns; at--)
            out[at] = out[at - 1];
        out[at] = s;
        count++;
    }
    return count;
}

/* ---- the writer's end ---------------------------------------------------------------- */

/* The first place that nobody alive has: a file of a writer that is gone is in the way, and
 * what is no file of ours. */
static gpurt_status_t place_find(const char *folder, const gpurt_box_identity_t *box,
                                 char path[PATH_ROOM], gpurt_error_t *err)
{
    uint32_t best = PLACES;

    for (uint32_t place = 0; place < PLACES; place++) {
        gpurt_modelshare_t *other;
        uint64_t shown = 0;
        uint32_t writer = 0;

        file_path(path, folder, box->pid, place);
        other = place_open(path);
        if (other && writer_alive(other->map)) {
            writer = other->map->head.writer;
            shown = other->map->box_ns;
        }
        gpurt_modelshare_close(other);
        if (writer && shown == box->real_ns)
            return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                              "process %u is already watched by process %u", box->pid,
                              writer);
        if (!writer && best == PLACES)
            best = place;
    }
    if (best == PLACES)
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "%d boxes of process %u are watched already", PLACES, box->pid);
    file_path(path, folder, box->pid, best);
    return GPURT_OK;
}

/* A file of a writer that was killed, of any version: it holds no lock, and its number is not that
 * of a process that lives. What has no head was left as it was made: we have the folder's lock. */
static bool is_left_behind(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    share_head_t head = {0};
    struct stat info;
    bool left;

    if (fd < 0)
        return false;
    left = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == getuid() &&
           flock(fd, LOCK_EX | LOCK_NB) == 0 && pread(fd, &head, sizeof head, 0) >= 0 &&
           !gpurt_process_alive(head.writer, head.writer_ticks);
    close(fd);
    return left;
}

/* Each would take 1.7 MB until somebody watches a process of the same number. */
static void folder_sweep(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[PATH_ROOM];

    while (dir && (entry = readdir(dir)) != NULL) {
        if (strspn(entry->d_name, "0123456789.") != strlen(entry->d_name) ||
            entry->d_name[0] == '.' || strlen(entry->d_name) >= PLACE_NAME)
            continue;
        snprintf(path, sizeof path, "%s/%.*s", folder, PLACE_NAME - 1, entry->d_name);
        if (is_left_behind(path))
            unlink(path);
    }
    if (dir)
        closedir(dir);
}

static gpurt_status_t memory_make(gpurt_modelshare_t *s, gpurt_error_t *err)
{
    if (s->path[0])
        s->fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    else
        s->fd = memfd_create("gpurt-model", MFD_CLOEXEC);
    if (s->fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "making %s",
                          s->path[0] ? s->path : "a memfd");
    errno = posix_fallocate(s->fd, 0, (off_t)sizeof(share_map_t));
    if (errno)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, errno,
                          "no %zu bytes of shared memory for a model", sizeof(share_map_t));
    if (flock(s->fd, LOCK_EX | LOCK_NB) != 0) {
        /* No locks there: our number alone says that we live. */
    }
    return map_fd(s, err);
}

static gpurt_status_t head_make(gpurt_modelshare_t *s, const gpurt_box_identity_t *box,
                                gpurt_error_t *err)
{
    gpurt_status_t st = memory_make(s, err);

    if (st != GPURT_OK)
        return st;
    s->map->head.magic = SHARE_MAGIC;
    s->map->head.version = SHARE_VERSION;
    s->map->head.bytes = (uint32_t)sizeof *s->map;
    s->map->head.writer = (uint32_t)getpid();
    s->map->head.writer_ticks = gpurt_process_start((uint32_t)getpid());
    s->map->head.watched = box ? box->pid : 0;
    s->map->box_ns = box ? box->real_ns : 0;
    gpurt_store_release_sys_u32(&s->map->xready, 1); /* M3.rel */
    return GPURT_OK;
}

/* Whoever stopped with the lock does not stop others: there is no picture then. */
static bool lock_take(int fd)
{
    const struct timespec step = {.tv_nsec = LOCK_STEP_NS};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

/* With the folder locked, from the choice of a place until the file there says whose it is:
 * drainers of several boxes of a process may begin at one time. */
static gpurt_status_t file_make(gpurt_modelshare_t *s, const gpurt_box_identity_t *box,
                                gpurt_error_t *err)
{
    char folder[PATH_ROOM - PLACE_NAME];
    gpurt_status_t st;
    int lock;

    if (!folder_path(folder, sizeof folder, true))
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "no folder of ours for models; set XDG_RUNTIME_DIR");
    lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0 || !lock_take(lock)) {
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "locking %s", folder);
        goto out;
    }
    folder_sweep(folder);
    st = place_find(folder, box, s->path, err);
    if (st == GPURT_OK) {
        unlink(s->path);
        st = head_make(s, box, err);
    } else {
        s->path[0] = '\0'; /* it is another's */
    }
out:
    if (lock >= 0)
        close(lock);
    return st;
}

gpurt_status_t gpurt_modelshare_create(const gpurt_box_identity_t *box,
                                       gpurt_modelshare_t **out, gpurt_error_t *err)
{
    gpurt_modelshare_t *s = calloc(1, sizeof *s);
    gpurt_status_t st;

    *out = NULL;
    if (!s)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "model share");
    s->fd = -1;
    s->writer = true;
    s->own = calloc(1, sizeof *s->own);
    if (!s->own)
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "model share");
    else
        st = box ? file_make(s, box, err) : head_make(s, NULL, err);
    if (st == GPURT_OK)
        *out = s;
    else
        gpurt_modelshare_close(s);
    return st;
}
