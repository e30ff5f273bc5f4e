/* SPDX-License-Identifier: Apache-2.0 */
/* Making and attaching boxes. boxcheck.c decides what is a box. */
#include "boxmap.h"

#include "boxcheck.h"
#include "hosttime.h"
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- layout -------------------------------------------------------------------------- */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

static uint32_t power_of_two(uint32_t bytes, uint32_t most)
{
    uint32_t p = GPURT_RING_MIN_BYTES;

    while (p < bytes && p < most)
        p *= 2;
    return p;
}

static uint64_t take(uint64_t *end, uint64_t bytes)
{
    uint64_t at = *end;

    *end = (at + bytes + GPURT_BOX_PAGE - 1) & ~(uint64_t)(GPURT_BOX_PAGE - 1);
    return at;
}

/* Fills one entry and moves *end behind its parts, each on its own page. */
static void section_lay(const gpurt_section_plan_t *plan, gpurt_box_section_t *s,
                        uint64_t *end)
{
    /* The CPU back end has a thousand warp slots a worker, and its drainer is near. */
    uint32_t ring = plan->kind == GPURT_SECTION_HOST  ? GPURT_HOST_RING_BYTES
                    : plan->kind == GPURT_SECTION_CPU ? GPURT_RING_MIN_BYTES
                                                      : 4 * GPURT_RING_MIN_BYTES;

    s->kind = plan->kind;
    s->device = plan->device;
    s->sm_count = or_default(plan->sm_count, 1);
    s->warp_slots = or_default(plan->warp_slots, 1);
    s->ring_count = s->sm_count * s->warp_slots;
    s->ring_bytes = power_of_two(or_default(plan->ring_bytes, ring), GPURT_RING_MAX_BYTES);
    s->policy = plan->policy;
    s->floor = plan->floor;
    s->def_count = or_default(plan->def_count, 4096);
    s->panic_count = or_default(plan->panic_count, 256);
    s->state_bytes =
        or_default(plan->state_bytes,
                   plan->kind == GPURT_SECTION_HOST
                       ? (uint32_t)(sizeof(gpurt_threadpage_t) + sizeof(gpurt_taskpage_t))
                       : (uint32_t)gpurt_state_bytes(s->ring_count, GPURT_STATE_OBJECTS));
    s->rings_offset = take(end, (uint64_t)s->ring_count * sizeof(gpurt_ring_control_t));
    s->data_offset = take(end, (uint64_t)s->ring_count * s->ring_bytes);
    s->defs_offset = take(end, (uint64_t)s->def_count * GPURT_DEF_BYTES);
    s->panics_offset = take(end, (uint64_t)s->panic_count * GPURT_PANIC_BYTES);
    s->state_offset = take(end, s->state_bytes);
    if (plan->uuid)
        memcpy(s->uuid, plan->uuid, sizeof s->uuid);
    if (plan->name)
        snprintf(s->name, sizeof s->name, "%s", plan->name);
}

static void shelf_lay(const gpurt_box_plan_t *plan, gpurt_box_shelf_t *s, uint64_t *end)
{
    uint32_t bytes = power_of_two(or_default(plan->shelf_bytes, GPURT_SHELF_BYTES),
                                  GPURT_SHELF_MAX_BYTES);

    s->group_count = bytes / GPURT_GROUP_BYTES;
    s->offset = take(end, bytes);
    s->xfirst = s->xend = GPURT_RING_START;
}

static gpurt_status_t plan_check(const gpurt_box_plan_t *plan, gpurt_error_t *err)
{
    if (plan->struct_size != sizeof *plan || plan->section_count == 0 ||
        plan->section_count > GPURT_BOX_SECTIONS || !plan->sections)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "box: 1 to %d sections, struct_size set", GPURT_BOX_SECTIONS);
    for (uint32_t i = 0; i < plan->section_count; i++) {
        const gpurt_section_plan_t *s = &plan->sections[i];

        if (s->kind < GPURT_SECTION_CUDA || s->kind > GPURT_SECTION_HOST ||
            s->policy > GPURT_POLICY_BLOCK || s->sm_count > GPURT_BOX_SIDE ||
            s->warp_slots > GPURT_BOX_SIDE || s->def_count > GPURT_DEF_MAX_COUNT ||
            s->panic_count > 65536 || s->state_bytes > 1u << 30)
            return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                              "box: section %u is out of bounds", i);
        if (s->ring_bytes > gpurt_boxcheck_ring_max(s->policy))
            return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                              "box: rings of %u bytes; at most %u (GPURT_RING_BYTES)",
                              s->ring_bytes, gpurt_boxcheck_ring_max(s->policy));
    }
    return GPURT_OK;
}

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* glibc before 2.35; Linux has it from 5.14 on */
#endif

/* ---- creation ------------------------------------------------------------------------ */

/* Each box of a process has a name of its own: "gpurt-UID-PID.box", "gpurt-UID-PID-1.box". */
static int fallback_open(const gpurt_box_plan_t *plan, gpurt_boxmap_t *map)
{
    static uint32_t made;                                  /* written by: any thread */
    uint32_t number = gpurt_add_relaxed_sys_u32(&made, 1); /* relaxed: only a number */
    char which[16] = "";

    if (number)
        snprintf(which, sizeof which, "-%u", (unsigned)number);
    snprintf(map->path, sizeof map->path, "%s/gpurt-%u-%u%s.box",
             plan->folder ? plan->folder : "/dev/shm", (unsigned)getuid(),
             (unsigned)getpid(), which);
    unlink(map->path); /* of an earlier process with our number */
    return open(map->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Beyond the limit for files the kernel would end the process by a signal. */
static gpurt_status_t limit_check(const gpurt_boxmap_t *map, gpurt_error_t *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        map->bytes <= limit.rlim_cur)
        return GPURT_OK;
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                      "box: %zu bytes are more than files may have here; raise `ulimit "
                      "-f` or set GPURT_RING_BYTES lower",
                      map->bytes);
}

/* Whether shared memory is in huge pages where its owner wishes. Where it always is, nobody needs
 * to wish. */
static bool huge_is_wish(void)
{
    char text[128];
    ssize_t got;
    int fd =
        open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return strstr(text, "[advise]") != NULL;
}

/* A GPU finds its way to a few large pieces of memory quicker than to many small ones. What cannot
 * be had so is not missed: the memory is reserved next. Of a file in a folder the folder's own
 * mount decides. */
static void memory_enlarge(const gpurt_boxmap_t *map)
{
    void *memory;

    if (map->path[0] || !huge_is_wish() || ftruncate(map->fd, (off_t)map->bytes) != 0)
        return;
    memory = mmap(NULL, map->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);
    if (memory == MAP_FAILED)
        return;
    if (madvise(memory, map->bytes, MADV_HUGEPAGE) == 0)
        (void)madvise(memory, map->bytes, MADV_POPULATE_WRITE);
    munmap(memory, map->bytes);
}

static gpurt_status_t memory_map(gpurt_boxmap_t *map, int flags, gpurt_error_t *err)
{
    map->box = mmap(NULL, map->bytes, PROT_READ | PROT_WRITE, flags, map->fd, 0);
    if (map->box != MAP_FAILED)
        return GPURT_OK;
    map->box = NULL;
    return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "box: mapping %zu bytes",
                      map->bytes);
}

/* Reserves the memory now: a full /dev/shm is an error here and a SIGBUS later. */
static gpurt_status_t memory_open(const gpurt_box_plan_t *plan, gpurt_boxmap_t *map,
                                  gpurt_error_t *err)
{
    gpurt_status_t st;
    int code;

    map->fd = -1;
    if (plan->bare)
        return memory_map(map, MAP_SHARED | MAP_ANONYMOUS, err);
    st = limit_check(map, err);
    if (st != GPURT_OK)
        return st;
    map->fd = plan->no_memfd
                  ? -1
                  : memfd_create(GPURT_BOX_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (map->fd < 0)
        map->fd = fallback_open(plan, map);
    if (map->fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "box: neither memfd nor %s could be made; allow one of them",
                          map->path);
    memory_enlarge(map);
    code = posix_fallocate(map->fd, 0, (off_t)map->bytes);
    if (code != 0)
        return gpurt_fail(
            err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, code,
            "box: no %zu bytes of shared memory; set GPURT_RING_BYTES lower or "
            "enlarge /dev/shm",
            map->bytes);
    if (map->path[0] == '\0' &&
        fcntl(map->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "box: sealing the memfd");
    return memory_map(map, MAP_SHARED, err);
}

static void identity_fill(gpurt_box_identity_t *id)
{
    char link[PATH_MAX] = "";

    id->pid = (uint32_t)getpid();
    id->uid = (uint32_t)getuid();
    id->start_ticks = gpurt_process_start(id->pid);
    id->real_ns = gpurt_real_ns();
    gpurt_boot_id(id->boot_id);
    if (gethostname(id->host, sizeof id->host - 1) != 0)
        id->host[0] = '\0';
    if (readlink("/proc/self/exe", link, sizeof link - 1) < 0)
        link[0] = '\0';
    gpurt_program_name(id->program, sizeof id->program, link);
}

static void rings_start(const gpurt_boxmap_t *map)
{
    for (uint32_t s = 0; s < map->section_count; s++) {
        const gpurt_box_section_t *section = &map->sections[s];
        gpurt_clock_fit_t same = {0, 0, 0, 0, 0};

        for (uint32_t r = 0; r < section->ring_count; r++) {
            gpurt_ring_control_t *c = gpurt_boxmap_control(map, s, r);

            c->xtail = c->xfiled = GPURT_RING_START;
            c->head.xhead = GPURT_RING_START;
            c->head.xlimit = GPURT_RING_START; /* the first record looks */
            c->head.xlap = 0;
        }
        gpurt_boxmap_set_clock(map, s, &same);
    }
}

gpurt_status_t gpurt_boxmap_create(const gpurt_box_plan_t *plan, gpurt_boxmap_t *map,
                                   gpurt_error_t *err)
{
    uint64_t end = GPURT_BOX_PAGE;
    gpurt_box_t *box;
    gpurt_status_t st;

    memset(map, 0, sizeof *map);
    map->fd = -1;
    st = plan_check(plan, err);
    if (st != GPURT_OK)
        return st;
    map->section_count = plan->section_count;
    for (uint32_t i = 0; i < plan->section_count; i++)
        section_lay(&plan->sections[i], &map->sections[i], &end);
    shelf_lay(plan, &map->shelf, &end);
    map->bytes = (size_t)end;
    map->writable = map->owner = true;
    map->bare = plan->bare;
    st = memory_open(plan, map, err);
    if (st != GPURT_OK)
        goto fail;

    box = map->box;
    box->magic = GPURT_BOX_MAGIC;
    box->version = GPURT_BOX_VERSION;
    box->header_bytes = (uint32_t)sizeof *box;
    box->box_bytes = end;
    box->section_count = plan->section_count;
    box->section_bytes = (uint32_t)sizeof box->sections[0];
    box->gpurt_version = GPURT_VERSION;
    box->control.xlevel = or_default(plan->level, GPURT_LEVEL_INFO);
    identity_fill(&box->identity);
    memcpy(box->sections, map->sections, sizeof box->sections);
    box->shelf = map->shelf;
    box->check = gpurt_boxcheck_sum(box);
    rings_start(map);
    gpurt_store_release_sys_u32(&box->xlife, GPURT_LIFE_OPEN); /* B4.rel */
    return GPURT_OK;

fail:
    gpurt_boxmap_detach(map);
    return st;
}

void gpurt_boxmap_detach(gpurt_boxmap_t *map)
{
    if (map->box)
        munmap(map->box, map->bytes);
    if (map->fd > 0 || (map->fd == 0 && map->bytes)) /* a zeroed map has no descriptor */
        close(map->fd);
    if (map->owner && map->path[0])
        unlink(map->path);
    memset(map, 0, sizeof *map);
    map->fd = -1;
}

/* ---- attaching ----------------------------------------------------------------------- */

/* Nor may anybody make holes in one of huge pages, which may not come back. */
bool gpurt_boxmap_keeps_size(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct statfs system;

    return seals >= 0 && (seals & F_SEAL_SHRINK) && fstatfs(fd, &system) == 0 &&
           system.f_type == TMPFS_MAGIC;
}

static gpurt_status_t owner_check(int fd, const struct stat *st, const char *what,
                                  gpurt_error_t *err)
{
    if (st->st_uid != getuid() && getuid() != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, EPERM,
                          "%s belongs to user %u; run as that user", what,
                          (unsigned)st->st_uid);
    if (st->st_uid != geteuid() && !gpurt_boxmap_keeps_size(fd))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is a box that user %u can make shorter; run as that user",
                          what, (unsigned)st->st_uid);
    if (st->st_size < GPURT_BOX_PAGE)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is too short for a gpurt box", what);
    return GPURT_OK;
}

gpurt_status_t gpurt_boxmap_attach_open(int fd, bool writable, const char *what,
                                        gpurt_boxmap_t *map, gpurt_error_t *err)
{
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    struct stat info;
    gpurt_status_t st;

    memset(map, 0, sizeof *map);
    map->fd = fd;
    map->writable = writable;
    if (fd < 0 || fstat(fd, &info) != 0) {
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", what);
        goto fail;
    }
    st = owner_check(fd, &info, what, err);
    if (st != GPURT_OK)
        goto fail;
    map->bytes = (size_t)info.st_size;
    map->box = mmap(NULL, map->bytes, protection, MAP_SHARED, fd, 0);
    if (map->box == MAP_FAILED) {
        map->box = NULL;
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "mapping %s", what);
        goto fail;
    }
    st = gpurt_boxcheck_adopt(map, err);
    if (st != GPURT_OK)
        goto fail;
    return GPURT_OK;

fail:
    gpurt_boxmap_detach(map);
    return st;
}

gpurt_status_t gpurt_boxmap_attach_fd(int fd, bool writable, gpurt_boxmap_t *map,
                                      gpurt_error_t *err)
{
    char what[48];

    snprintf(what, sizeof what, "descriptor %d", fd);
    return gpurt_boxmap_attach_open(fcntl(fd, F_DUPFD_CLOEXEC, 3), writable, what, map,
                                    err);
}

gpurt_status_t gpurt_boxmap_attach_file(const char *path, bool writable,
                                        gpurt_boxmap_t *map, gpurt_error_t *err)
{
    return gpurt_boxmap_attach_open(open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC),
                                    writable, path, map, err);
}

bool gpurt_boxmap_alive(const gpurt_boxmap_t *map)
{
    const gpurt_box_identity_t *id = &map->box->identity;

    return map->fd >= 0 && gpurt_process_alive(id->pid, id->start_ticks);
}
