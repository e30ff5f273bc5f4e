/* SPDX-License-Identifier: Apache-2.0 */
#include "procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool file_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return false;
    got = read(fd, text, size - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

/* Field 2 is the name in parentheses and may hold anything, so fields are counted from the
 * last ')', which is followed by field 3. */
static uint64_t field_of(const char *stat, int number)
{
    const char *p = strrchr(stat, ')');

    for (int field = 2; p && field < number; field++)
        p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* What /proc/PID/stat says, or what is asked of it here; of a thread, /proc/PID/task/THREAD/stat. */
typedef struct process_stat {
    char state;
    uint64_t parent, flags, threads, start;
} process_stat_t;

static bool stat_read(const char *pid, process_stat_t *s)
{
    enum {
        PARENT = 4,
        FLAGS = 9,
        THREADS = 20,
        START = 22
    };
    char path[64], text[1024];
    const char *state;

    snprintf(path, sizeof path, "/proc/%.40s/stat", pid);
    if (!file_text(path, text, sizeof text))
        return false;
    state = strrchr(text, ')');
    if (!state || state[1] != ' ')
        return false;
    *s = (process_stat_t){state[2], field_of(text, PARENT), field_of(text, FLAGS),
                          field_of(text, THREADS), field_of(text, START)};
    return true;
}

/* Of a process that ends its first thread is a zombie before the others have ended; what they
 * hold, a context of a GPU that writes still among it, goes with the last of them. */
static bool has_ended(const process_stat_t *s)
{
    return s->state == 'X' || (s->state == 'Z' && s->threads < 2);
}

void gpurt_program_name(char *to, size_t room, const char *path)
{
    static const char dots[] = "...";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t used = strlen(name);

    if (used < room) {
        memcpy(to, name, used + 1);
        return;
    }
    used = room - sizeof dots;
    while (used > 0 && ((unsigned char)name[used] & 0xc0) == 0x80)
        used--; /* no half of a character */
    memcpy(to, name, used);
    memcpy(to + used, dots, sizeof dots);
}

uint64_t gpurt_process_start(uint32_t pid)
{
    process_stat_t s;
    char name[24];

    snprintf(name, sizeof name, "%u", pid);
    return stat_read(name, &s) && !has_ended(&s) ? s.start : 0;
}

bool gpurt_process_alive(uint32_t pid, uint64_t start_ticks)
{
    uint64_t start = gpurt_process_start(pid);

    return start != 0 && start == start_ticks;
}

bool gpurt_thread_alive(uint32_t pid, uint32_t thread)
{
    process_stat_t s;
    char name[40];

    snprintf(name, sizeof name, "%u/task/%u", pid, thread);
    return stat_read(name, &s) && s.state != 'X' && s.state != 'Z';
}

/* Real, effective, saved, and of files. */
bool gpurt_process_is_of(uint32_t pid, uint32_t user)
{
    char path[64], text[4096], *at;

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    if (!file_text(path, text, sizeof text) || !(at = strstr(text, "\nUid:")))
        return false;
    at += sizeof "\nUid:" - 1;
    for (int i = 0; i < 4; i++)
        if (strtoul(at, &at, 10) != user)
            return false;
    return true;
}

typedef enum memory {
    MEMORY_NONE, /* to be seen */
    MEMORY_WITHOUT,
    MEMORY_WITH
} memory_t;

/* Whether maps of that process or thread have such a line. One that is cut in two has its number of
 * file in the first part, which is short. */
static memory_t maps_look(const char *folder, const char *id, const char *text)
{
    memory_t found = MEMORY_NONE;
    char line[512];
    FILE *maps;

    snprintf(line, sizeof line, "%s/%.20s/maps", folder, id);
    maps = fopen(line, "re");
    while (maps && found != MEMORY_WITH && fgets(line, sizeof line, maps))
        found = strstr(line, text) ? MEMORY_WITH : MEMORY_WITHOUT;
    if (maps)
        fclose(maps);
    return found;
}

/* A process whose first thread has ended shows its memory by another. */
static memory_t memory_look(const char *pid, const char *text)
{
    memory_t found = maps_look("/proc", pid, text);
    struct dirent *e;
    char folder[48];
    DIR *threads;

    if (found != MEMORY_NONE)
        return found;
    snprintf(folder, sizeof folder, "/proc/%.20s/task", pid);
    threads = opendir(folder);
    while (threads && found == MEMORY_NONE && (e = readdir(threads)))
        if (e->d_name[0] != '.')
            found = maps_look(folder, e->d_name, text);
    if (threads)
        closedir(threads);
    return found;
}

/* Who gets the orphans of our processes: we, or else 0. */
static uint64_t reaper_of_ours(void)
{
    int ours = 0;

    return prctl(PR_GET_CHILD_SUBREAPER, &ours) == 0 && ours ? (uint64_t)getpid() : 0;
}

/* It has left its memory, or will at once, but not its descriptors; and its parent may have been
 * the application. */
static bool is_ending(const char *pid, uint64_t reaper)
{
    const uint64_t exiting = 4; /* PF_EXITING of the kernel, which proc(5) passes on */
    process_stat_t s;

    return stat_read(pid, &s) && !has_ended(&s) &&
           (s.state == 'Z' || (s.flags & exiting)) && (!reaper || s.parent == reaper);
}

/* Memory first: a process that leaves it after that look is seen ending by the next. */
static bool is_holder(const char *pid, const char *text, uint64_t reaper)
{
    memory_t found = memory_look(pid, text);

    return found == MEMORY_WITH || (found == MEMORY_NONE && is_ending(pid, reaper));
}

bool gpurt_file_held_elsewhere(int fd)
{
    const uint64_t reaper = reaper_of_ours();
    char text[64], own[24];
    struct stat file;
    struct dirent *e;
    bool found = false;
    DIR *all;

    if (fstat(fd, &file) != 0)
        return false;
    all = opendir("/proc");
    snprintf(text, sizeof text, " %02x:%02x %llu ", major(file.st_dev), minor(file.st_dev),
             (unsigned long long)file.st_ino);
    snprintf(own, sizeof own, "%d", (int)getpid());
    while (all && !found && (e = readdir(all)))
        found = e->d_name[0] >= '1' && e->d_name[0] <= '9' && strcmp(e->d_name, own) != 0 &&
                is_holder(e->d_name, text, reaper);
    if (all)
        closedir(all);
    return found;
}

void gpurt_boot_id(uint8_t id[16])
{
    char text[64];
    int digits = 0;

    memset(id, 0, 16);
    if (!file_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
        return;
    for (const char *p = text; *p && digits < 32; p++) {
        int v = *p >= '0' && *p <= '9'   ? *p - '0'
                : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
                                         : -1;

        if (v < 0)
            continue;
        id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | v);
        digits++;
    }
}
