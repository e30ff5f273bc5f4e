/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_machine.h"

#include "hosttime.h"

#include <gpurt/impl/box.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A child that the kernel cannot end (a driver asleep in a system call) is left behind
 * after this time beyond its deadline. */
static const uint64_t abandon_ns = 3000000000;

/* ---- files and environment ----------------------------------------------------------- */
void doctor_path(const doctor_machine_t *m, const char *path, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s%s", m->root, path);
}

bool doctor_exists(const doctor_machine_t *m, const char *path)
{
    char full[PATH_MAX];

    doctor_path(m, path, full);
    return access(full, F_OK) == 0;
}

bool doctor_read(const doctor_machine_t *m, const char *path, char *text, size_t room)
{
    char full[PATH_MAX];
    size_t used = 0;
    ssize_t got = 1;
    int fd;

    text[0] = '\0';
    doctor_path(m, path, full);
    fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    while (used < room - 1 && (got = read(fd, text + used, room - 1 - used)) > 0)
        used += (size_t)got;
    close(fd);
    text[used] = '\0';
    return got >= 0;
}

bool doctor_number(const doctor_machine_t *m, const char *path, const char *key,
                   uint64_t *out)
{
    size_t length = strlen(key);
    char text[16384], *rest;

    if (!doctor_read(m, path, text, sizeof text))
        return false;
    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *end;

        line += strspn(line, " \t");
        if (strncmp(line, key, length) != 0)
            continue;
        line += length;
        line += strspn(line, " \t:");
        errno = 0;
        *out = strtoull(line, &end, 10);
        return end != line && errno == 0;
    }
    return false;
}

bool doctor_fact(const doctor_machine_t *m, const char *name, uint64_t *out)
{
    return m->root[0] && doctor_number(m, "/facts", name, out);
}

const char *doctor_env(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

bool doctor_which(const char *name, char out[PATH_MAX])
{
    const char *path = doctor_env("PATH");

    while (path && *path) {
        size_t length = strcspn(path, ":");

        if (length && length < PATH_MAX - NAME_MAX) {
            snprintf(out, PATH_MAX, "%.*s/%s", (int)length, path, name);
            if (access(out, X_OK) == 0)
                return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

/* ---- children ------------------------------------------------------------------------ */
/* Returns: whether it ended; if not, it is not to be touched again. */
static bool child_await(const doctor_machine_t *m, child_t *child)
{
    uint64_t until_ns = gpurt_steady_ns() + m->timeout_ns + abandon_ns;

    while (!child->ended && gpurt_steady_ns() < until_ns && !m->watch->stop_signal)
        child_watch_wait(m->watch, &child, 1, until_ns);
    return child->ended;
}

static void keep_text(const child_t *child, char *text, size_t room)
{
    size_t bytes = child->out.used < room - 1 ? child->out.used : room - 1;

    memcpy(text, child->out.bytes, bytes);
    text[bytes] = '\0';
}

bool doctor_ask_version(const doctor_machine_t *m, const char *path, char *text,
                        size_t room)
{
    char program[PATH_MAX], word[] = "--version", locale[] = "LC_ALL=C";
    char *argv[] = {program, word, NULL}, *environment[] = {locale, NULL};
    child_command_t command = {.path = program,
                               .argv = argv,
                               .environment = environment,
                               .timeout_ns = m->timeout_ns};
    child_t child = {0};
    bool well;

    text[0] = '\0';
    snprintf(program, sizeof program, "%s", path);
    if (child_start(&child, &command, m->watch) != 0)
        return false;
    if (!child_await(m, &child))
        return false;
    keep_text(&child, text, room);
    well = !child.late && child.wait_status == 0;
    child_fini(&child);
    return well;
}

/* ---- the driver ---------------------------------------------------------------------- */
static void gpu_line(doctor_driver_t *d, const char *rest)
{
    doctor_gpu_t g = {0};
    int index, at = 0;

    if (sscanf(rest, "%d %d %d %d %d %d %n", &index, &g.major, &g.minor, &g.mode, &g.sms,
               &g.sm_threads, &at) < 6 ||
        index < 0 || index >= DOCTOR_GPUS || at == 0)
        return;
    snprintf(g.name, sizeof g.name, "%.*s", (int)sizeof g.name - 1, rest + at);
    d->gpus[index] = g;
}

/* One line "KEY VALUE" of the child. */
static void driver_line(doctor_driver_t *d, const char *line)
{
    const struct {
        const char *key;
        int *number;
        char *text; /* where `number` is NULL */
        size_t room;
    } fields[] = {
        {"init ", &d->init, NULL, 0},
        {"cuda ", &d->cuda_version, NULL, 0},
        {"gpus ", &d->gpu_count, NULL, 0},
        {"cupti ", &d->cupti, NULL, 0},
        {"step ", NULL, d->step, sizeof d->step},
        {"missing ", NULL, d->why, sizeof d->why},
        {"version ", NULL, d->version, sizeof d->version},
        {"cupti_path ", NULL, d->cupti_path, sizeof d->cupti_path},
    };

    if (strncmp(line, "gpu ", 4) == 0)
        gpu_line(d, line + 4);
    d->loaded |= strcmp(line, "loaded ") == 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t length = strlen(fields[i].key);

        if (strncmp(line, fields[i].key, length) != 0)
            continue;
        if (fields[i].number)
            *fields[i].number = (int)strtol(line + length, NULL, 10);
        else
            snprintf(fields[i].text, fields[i].room, "%.*s", (int)fields[i].room - 1,
                     line + length);
    }
}

static void driver_lines(doctor_driver_t *d, char *text)
{
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        driver_line(d, line);
    if (d->gpu_count < 0)
        d->gpu_count = 0;
}

void doctor_ask_driver(doctor_machine_t *m)
{
    char self[PATH_MAX], root[PATH_MAX], word[] = DOCTOR_PROBE_WORD;
    char *argv[] = {self, word, root, NULL}, *environment[] = {NULL};
    child_command_t command = {.path = self,
                               .argv = argv,
                               .environment = environment,
                               .timeout_ns = m->timeout_ns};
    child_t child = {0};
    char text[16384];

    snprintf(self, sizeof self, "%s", m->self);
    snprintf(root, sizeof root, "%s", m->root);
    if (child_start(&child, &command, m->watch) != 0)
        return;
    m->driver.asked = true;
    m->driver.late = !child_await(m, &child);
    keep_text(&child, text, sizeof text);
    driver_lines(&m->driver, text);
    if (m->driver.late)
        return;
    m->driver.late = child.late;
    m->driver.crashed = !child.late && child.wait_status != 0;
    child_fini(&child);
}

/* ---- a box --------------------------------------------------------------------------- */
/* Sizes as boxmap.h plans them by default. */
uint64_t doctor_box_bytes(const doctor_machine_t *m)
{
    const uint64_t tables = 4096 * GPURT_DEF_BYTES + 256 * GPURT_PANIC_BYTES + 65536;
    uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), bytes;
    int gpus = m->driver.gpu_count < DOCTOR_GPUS ? m->driver.gpu_count : DOCTOR_GPUS;

    if (m->box_bytes)
        return m->box_bytes;
    doctor_fact(m, "cpus", &cpus);
    bytes = GPURT_BOX_PAGE + GPURT_HOST_RING_BYTES + tables;
    for (int i = 0; i < gpus; i++) {
        const doctor_gpu_t *g = &m->driver.gpus[i];
        uint64_t slots = (uint64_t)g->sms * (uint64_t)g->sm_threads / GPURT_WARP_SIZE;

        bytes += tables + slots * (16384 + sizeof(gpurt_ring_control_t));
    }
    if (gpus == 0) /* the CPU back end: 1,024 warps a worker */
        bytes += tables + cpus * 1024 * (4096 + sizeof(gpurt_ring_control_t));
    return bytes;
}
