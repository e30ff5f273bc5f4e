/* SPDX-License-Identifier: Apache-2.0 */
/* All boxes of a process are found, each once and the oldest first: by its number, while
 * others come and go, and in its core dump. One that is damaged, or that another user can make
 * shorter, is told of, and the others are found all the same. */
#include "boxes.h"
#include "check.h"

#include <gpurt/atomic.h>

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FAR = 200, /* a descriptor above all others */
    USER = 65534,
    LOOKS = 300
};

static gpurt_error_t err;
static gpurt_boxes_t boxes;

static void make_as(gpurt_boxmap_t *map, uint32_t device, bool no_memfd)
{
    gpurt_section_plan_t section = {
        .kind = GPURT_SECTION_CPU, .device = device, .def_count = 8, .panic_count = 1};
    gpurt_box_plan_t plan = {.struct_size = sizeof plan,
                             .section_count = 1,
                             .sections = &section,
                             .shelf_bytes = 4096,
                             .folder = "/tmp",
                             .no_memfd = no_memfd};

    CHECK_MSG(gpurt_boxmap_create(&plan, map, &err) == GPURT_OK, "%s", err.text);
}

static void make(gpurt_boxmap_t *map, uint32_t device)
{
    make_as(map, device, false);
}

static gpurt_status_t find(uint32_t pid)
{
    err = (gpurt_error_t){0};
    return gpurt_boxes_of_pid(pid, true, &boxes, &err);
}

static uint32_t self(void)
{
    return (uint32_t)getpid();
}

/* devices: of those that must be there, in their order. */
static void expect(uint32_t pid, uint32_t count, const uint32_t *devices, uint32_t refused)
{
    CHECK_MSG(find(pid) == GPURT_OK, "%s", err.text);
    CHECK_EQ(boxes.count, count);
    CHECK_EQ(boxes.refused, refused);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ(boxes.map[i].sections[0].device, devices[i]);
    gpurt_boxes_detach(&boxes);
    CHECK_EQ(boxes.count, 0);
}

static void fd_move(gpurt_boxmap_t *map, int to)
{
    int fd = fcntl(map->fd, F_DUPFD_CLOEXEC, to);

    CHECK_MSG(fd >= to, "descriptor %d", fd);
    close(map->fd);
    map->fd = fd;
}

static void order(void)
{
    gpurt_boxmap_t a, b, c, taken;
    int twice;

    CHECK_EQ(find(self()), GPURT_E_HANDLE);
    CHECK_CONTAINS(err.text, "holds no gpurt box");
    make(&a, 5);
    fd_move(&a, FAR); /* the oldest is the last that a look at the descriptors meets */
    make(&b, 3);
    make(&c, 4);
    expect(self(), 3, (uint32_t[]){5, 3, 4}, 0);
    twice = fcntl(b.fd, F_DUPFD_CLOEXEC, FAR + 1);
    expect(self(), 3, (uint32_t[]){5, 3, 4}, 0);
    gpurt_boxmap_detach(&b);
    expect(self(), 3, (uint32_t[]){5, 3, 4}, 0); /* by the other descriptor */
    close(twice);
    expect(self(), 2, (uint32_t[]){5, 4}, 0);

    CHECK_EQ(find(self()), GPURT_OK);
    taken = gpurt_boxes_take(&boxes, 0);
    CHECK_EQ(taken.sections[0].device, 5);
    CHECK_EQ(boxes.count, 1);
    CHECK_EQ(boxes.map[0].sections[0].device, 4);
    gpurt_boxes_detach(&boxes);
    CHECK_MSG(gpurt_boxmap_alive(&taken) && taken.box->magic == GPURT_BOX_MAGIC,
              "what was taken stays");
    gpurt_boxmap_detach(&taken);
    gpurt_boxmap_detach(&a);
    gpurt_boxmap_detach(&c);
    CHECK_EQ(gpurt_boxes_of_pid(0x7ffffff0u, false, &boxes, &err), GPURT_E_OS);
    CHECK_EQ(boxes.count, 0);
}

static void damaged(void)
{
    gpurt_boxmap_t a, b;

    make(&a, 1);
    make(&b, 2);
    a.box->identity.pid ^= 1;
    expect(self(), 1, (uint32_t[]){2}, 1);
    CHECK_CONTAINS(err.text, "damaged");
    b.box->box_bytes++;
    CHECK_EQ(find(self()), GPURT_E_INVALID);
    CHECK_EQ(boxes.count, 0);
    CHECK_EQ(boxes.refused, 2);
    CHECK_MSG(gpurt_boxes_of_pid(self(), true, &boxes, NULL) == GPURT_E_INVALID,
              "nobody asks why");
    gpurt_boxmap_detach(&a);
    gpurt_boxmap_detach(&b);
}

/* More than anybody has: the oldest are kept. */
static void many(void)
{
    static gpurt_boxmap_t map[GPURT_BOXES_MAX + 2];

    for (uint32_t i = 0; i < GPURT_BOXES_MAX + 2; i++) {
        make(&map[i], i % 8);
        if (i == 0)
            fd_move(&map[i], FAR);
    }
    CHECK_EQ(find(self()), GPURT_OK);
    CHECK_EQ(boxes.count, GPURT_BOXES_MAX);
    CHECK_EQ(boxes.refused, 2);
    for (uint32_t i = 0; i < GPURT_BOXES_MAX; i++)
        CHECK_EQ(boxes.map[i].sections[0].device, i % 8);
    gpurt_boxes_detach(&boxes);
    for (uint32_t i = 0; i < GPURT_BOXES_MAX + 2; i++)
        gpurt_boxmap_detach(&map[i]);
}

static void files(void)
{
    gpurt_boxmap_t a, b;
    char path[sizeof b.path];

    make_as(&a, 6, true);
    make_as(&b, 7, true);
    strcpy(path, b.path);
    CHECK_MSG(strcmp(a.path, b.path) != 0, "a name for two: %s", path);
    expect(self(), 2, (uint32_t[]){6, 7}, 0);
    gpurt_boxmap_detach(&a);
    CHECK_MSG(access(path, F_OK) == 0, "its file went with the other box");
    expect(self(), 1, (uint32_t[]){7}, 0);
    gpurt_boxmap_detach(&b);
    CHECK_MSG(access(path, F_OK) != 0, "a file stays");
}

/* A child holds its parent's boxes, too. */
static void inherited(void)
{
    gpurt_boxmap_t parents, own;
    int told[2];
    char byte;
    pid_t child;

    CHECK_EQ(pipe(told), 0);
    make(&parents, 1);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(told[0], &byte, 1) == 1)
            make(&own, 2);
        CHECK_EQ(write(told[1], "", 1), 1);
        pause();
    }
    expect((uint32_t)child, 1, (uint32_t[]){1}, 0);
    CHECK_EQ(write(told[1], "", 1), 1);
    for (int i = 0; i < 10000; i++) {
        CHECK_EQ(find((uint32_t)child), GPURT_OK);
        if (boxes.map[0].sections[0].device == 2)
            break;
        gpurt_boxes_detach(&boxes);
        usleep(1000);
    }
    gpurt_boxes_detach(&boxes);
    expect((uint32_t)child, 1, (uint32_t[]){2}, 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    gpurt_boxmap_detach(&parents);
    close(told[0]);
    close(told[1]);
}

/* A memfd with all that a box holds, which whoever has it open can make shorter. */
static int unsealed_copy(const gpurt_boxmap_t *box)
{
    int fd = memfd_create(GPURT_BOX_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    CHECK_EQ(write(fd, box->box, box->bytes), (ssize_t)box->bytes);
    return fd;
}

/* A process of another user with such a box, made by itself or, before, by root. Returns: its
 * number, when it is that user's. */
static pid_t other_user(const gpurt_boxmap_t *box, bool by_root, bool sealed)
{
    int told[2];
    char byte;
    pid_t child;

    CHECK_EQ(pipe(told), 0);
    child = fork();
    if (child == 0) {
        int fd = by_root ? unsealed_copy(box) : -1;

        close(box->fd);
        CHECK(setresgid(USER, USER, USER) == 0 && setresuid(USER, USER, USER) == 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fd = by_root ? fd : unsealed_copy(box);
        CHECK(fd >= 0 && (!sealed || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0));
        CHECK_EQ(write(told[1], "", 1), 1);
        pause();
    }
    CHECK(child > 0 && read(told[0], &byte, 1) == 1);
    close(told[0]);
    close(told[1]);
    return child;
}

/* Cut under the feet of root's gpurt-top, it would end that by a signal. */
static void shrinking(void)
{
    gpurt_boxmap_t map, other;
    char path[sizeof map.path];

    make(&map, 3);
    for (int which = 0; which < 3; which++) {
        const bool sealed = which == 2;
        pid_t child = other_user(&map, which == 1, sealed);

        if (sealed) {
            expect((uint32_t)child, 1, (uint32_t[]){3}, 0);
        } else {
            CHECK_EQ(find((uint32_t)child), GPURT_E_INVALID);
            CHECK_EQ(boxes.refused, 1);
            CHECK_CONTAINS(err.text, "can make shorter; run as");
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    gpurt_boxmap_detach(&map);
    make_as(&map, 4, true);
    strcpy(path, map.path);
    CHECK_EQ(chown(path, USER, USER), 0);
    CHECK_EQ(gpurt_boxmap_attach_file(path, false, &other, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "user 65534 can make shorter");
    CHECK_EQ(chown(path, 0, 0), 0);
    CHECK_EQ(gpurt_boxmap_attach_file(path, false, &other, &err), GPURT_OK);
    gpurt_boxmap_detach(&other);
    gpurt_boxmap_detach(&map);
}

static uint32_t xstop; /* written by: main */

/* Boxes come and go, and other files take their descriptors. */
static void *come_and_go(void *context)
{
    while (!gpurt_load_acquire_sys_u32(&xstop)) {
        gpurt_boxmap_t map;
        int fds[4];

        make(&map, 9);
        gpurt_boxmap_detach(&map);
        for (int i = 0; i < 4; i++)
            fds[i] = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
        for (int i = 0; i < 4; i++)
            close(fds[i]);
    }
    return context;
}

static void meanwhile(void)
{
    gpurt_boxmap_t stays;
    pthread_t thread;

    make(&stays, 1);
    CHECK_EQ(pthread_create(&thread, NULL, come_and_go, NULL), 0);
    for (int i = 0; i < LOOKS; i++) {
        CHECK_MSG(find(self()) == GPURT_OK, "%s", err.text);
        CHECK_MSG(boxes.refused == 0, "look %d: %s", i, err.text);
        CHECK_MSG(boxes.count == 1 || boxes.count == 2, "%u boxes", boxes.count);
        CHECK_EQ(boxes.map[0].sections[0].device, 1);
        gpurt_boxes_detach(&boxes);
    }
    gpurt_store_release_sys_u32(&xstop, 1);
    pthread_join(thread, NULL);
    gpurt_boxmap_detach(&stays);
}

/* ---- core dumps ---------------------------------------------------------------------- */

/* Header, segment table, segments, here of these boxes: from a page on, as the kernel lays them, or
 * from any byte, as gdb does. */
static int core_write_at(const char *path, const gpurt_boxmap_t *const *maps,
                         uint16_t count, uint64_t at)
{
    Elf64_Ehdr eh = {.e_type = ET_CORE,
                     .e_phoff = sizeof eh,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = (uint16_t)(count + 2)};
    Elf64_Phdr ph[8] = {{.p_type = PT_NOTE}};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS64;
    /* Memory that was not written has no bytes, and the place of what follows. */
    ph[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = at};
    for (uint16_t i = 0; i < count; i++) {
        ph[i + 2] =
            (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = at, .p_filesz = maps[i]->bytes};
        CHECK_MSG(pwrite(fd, maps[i]->box, maps[i]->bytes, (off_t)at) ==
                      (ssize_t)maps[i]->bytes,
                  "written");
        at += maps[i]->bytes;
    }
    CHECK_MSG(pwrite(fd, &eh, sizeof eh, 0) > 0 && pwrite(fd, ph, sizeof ph, sizeof eh) > 0,
              "written");
    return fd;
}

static int core_write(const char *path, const gpurt_boxmap_t *const *maps, uint16_t count)
{
    return core_write_at(path, maps, count, 8192);
}

static void core_of_gdb(void)
{
    char path[] = "/tmp/gpurt-test.core.XXXXXX";
    gpurt_boxmap_t a;

    close(mkstemp(path));
    make(&a, 1);
    close(core_write_at(path, (const gpurt_boxmap_t *const[]){&a}, 1, 8192 + 1169));
    CHECK_MSG(gpurt_boxes_of_core(path, &boxes, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(boxes.count, 1);
    CHECK_MSG(memcmp(boxes.map[0].box, a.box, a.bytes) == 0, "all of it");
    gpurt_boxes_detach(&boxes);
    unlink(path);
    gpurt_boxmap_detach(&a);
}

static void core(void)
{
    char path[] = "/tmp/gpurt-test.core.XXXXXX";
    gpurt_boxmap_t a, b;
    struct stat info;
    int fd;

    close(mkstemp(path));
    make(&a, 1);
    make(&b, 2);
    fd = core_write(path, (const gpurt_boxmap_t *const[]){&b, &a, &b}, 3);
    CHECK_MSG(gpurt_boxes_of_core(path, &boxes, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(boxes.count, 2);
    CHECK_EQ(boxes.refused, 0);
    CHECK_EQ(boxes.map[0].sections[0].device, 1);
    CHECK_EQ(boxes.map[1].sections[0].device, 2);
    CHECK_MSG(memcmp(boxes.map[0].box, a.box, a.bytes) == 0, "all of it");
    CHECK_MSG(!gpurt_boxmap_alive(&boxes.map[0]), "a core is dead");
    gpurt_boxes_detach(&boxes);

    /* One of another user's that is cut as it is read was copied before. */
    if (geteuid() == 0) {
        CHECK_EQ(fchown(fd, USER, USER), 0);
        CHECK_MSG(gpurt_boxes_of_core(path, &boxes, &err) == GPURT_OK, "%s", err.text);
        CHECK_EQ(ftruncate(fd, 0), 0);
        CHECK(memcmp(boxes.map[1].box, b.box, b.bytes) == 0);
        gpurt_boxes_detach(&boxes);
    }

    /* The last one cut, and then all of them. */
    close(fd);
    fd = core_write(path, (const gpurt_boxmap_t *const[]){&a, &b}, 2);
    CHECK_MSG(fstat(fd, &info) == 0 && ftruncate(fd, info.st_size - 1) == 0, "cut");
    CHECK_EQ(gpurt_boxes_of_core(path, &boxes, &err), GPURT_OK);
    CHECK_EQ(boxes.count, 1);
    CHECK_EQ(boxes.refused, 1);
    CHECK_CONTAINS(err.text, "ends inside a box");
    gpurt_boxes_detach(&boxes);
    CHECK_EQ(ftruncate(fd, 8192 + 4096), 0);
    CHECK_EQ(gpurt_boxes_of_core(path, &boxes, &err), GPURT_E_INVALID);
    CHECK_EQ(ftruncate(fd, 8192), 0);
    CHECK_EQ(gpurt_boxes_of_core(path, &boxes, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_boxes_of_core("/bin/sh", &boxes, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_boxes_of_core("/nonexistent", &boxes, &err), GPURT_E_OS);
    close(fd);
    unlink(path);
    gpurt_boxmap_detach(&a);
    gpurt_boxmap_detach(&b);
}

int main(void)
{
    order();
    damaged();
    many();
    files();
    inherited();
    if (geteuid() == 0)
        shrinking();
    meanwhile();
    core();
    core_of_gdb();
    return 0;
}
