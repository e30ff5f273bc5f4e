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
#include <time.h>
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

/* What /proc/PID/stat says, or what is asked of it here. */
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

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
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

/* Whether a line of a process's maps has that text. A line that is cut in two has its number of
 * file in the first part, which is short. */
static bool maps_have(const char *pid, const char *text)
{
    char line[512];
    FILE *maps;
    bool have = false;

    snprintf(line, sizeof line, "/proc/%.20s/maps", pid);
    maps = fopen(line, "re");
    while (maps && !have && fgets(line, sizeof line, maps))
        have = strstr(line, text) != NULL;
    if (maps)
        fclose(maps);
    return have;
}

/* Who gets the orphans of our processes: we, or else 0. */
static uint64_t reaper_of_ours(void)
{
    int ours = 0;

    return prctl(PR_GET_CHILD_SUBREAPER, &ours) == 0 && ours ? (uint64_t)getpid() : 0;
}

/* It has left its memory already, or will at once, but not its descriptors; and its parent may
 * have been the application. */
static bool is_ending(const char *pid, uint64_t reaper)
{
    const uint64_t exiting = 4; /* PF_EXITING of the kernel, which proc(5) passes on */
    process_stat_t s;

    return stat_read(pid, &s) && !has_ended(&s) &&
           (s.state == 'Z' || (s.flags & exiting)) && (!reaper || s.parent == reaper);
}

/* Memory first: a process that leaves it after that look is seen ending by the next. */
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
                (maps_have(e->d_name, text) || is_ending(e->d_name, reaper));
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

uint64_t gpurt_real_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
