/* SPDX-License-Identifier: Apache-2.0 */
#include "sasstext.h"

#include "environ.h"
#include "hosttime.h"
#include "nicename.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16,
    FIRST_ROOM = 1024,
    LINE = 8192, /* bytes of one, which names of templates may take; the rest is left out */
    LOOK_MS = 100
};
#define TOOL "cuobjdump"
#define GET                                                                             \
    "CUDA's toolkit has it (pip: nvidia-cuda-cuobjdump, nvidia-cuda-nvdisasm); put it " \
    "on the PATH"

typedef struct function {
    char *name;     /* as people write it */
    uint64_t hash;  /* of the linker's: codefolder_function */
    bool in_unread; /* a file that was not read has another version */
    uint32_t arch, first, count;
} function_t;

typedef struct instruction {
    uint32_t offset;
    char *text;
} instruction_t;

struct sasstext {
    function_t *functions;
    instruction_t *instructions; /* of each function by offset */
    uint32_t function_count, function_room, count, room;
    uint32_t arch; /* of what is being read */
    bool no_memory, late;
};

/* The child. */
typedef struct dump {
    pid_t pid;
    int out, err;
    uint64_t until_ns;
    bool late;
    size_t used, told;
    char line[LINE];         /* that is not whole yet */
    char last[SASSTEXT_WHY]; /* of what it said on standard error */
} dump_t;

static void tell(char why[SASSTEXT_WHY], const char *fmt, ...) GPURT_PRINTF(2, 3);
static void tell(char why[SASSTEXT_WHY], const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, SASSTEXT_WHY, fmt, args);
    va_end(args);
}

/* ---- what is read -------------------------------------------------------------------- */

/* Room for one more of so many bytes each. */
static bool room_make(void **at, uint32_t count, uint32_t *room, size_t bytes)
{
    uint32_t more = *room ? 2 * *room : FIRST_ROOM;
    void *wider;

    if (count < *room)
        return true;
    wider = *room < SASSTEXT_INSTRUCTIONS ? realloc(*at, more * bytes) : NULL;
    if (!wider)
        return false;
    *at = wider;
    *room = more;
    return true;
}

static void function_add(sasstext_t *s, const char *mangled)
{
    const char *nice = nicename(mangled);
    char *name = strdup(nice ? nice : mangled);

    if (!name || !room_make((void **)&s->functions, s->function_count, &s->function_room,
                            sizeof *s->functions)) {
        free(name);
        s->no_memory = true;
        return;
    }
    s->functions[s->function_count++] = (function_t){.name = name,
                                                     .hash = codefolder_function(mangled),
                                                     .arch = s->arch,
                                                     .first = s->count};
}

/* Out of order, or of no function: nothing that cuobjdump prints. */
static void instruction_add(sasstext_t *s, uint32_t offset, const char *text, size_t bytes)
{
    function_t *f = s->function_count ? &s->functions[s->function_count - 1] : NULL;
    char *copy;

    if (!f || (f->count && s->instructions[s->count - 1].offset >= offset))
        return;
    copy = strndup(text, bytes);
    if (!copy || !room_make((void **)&s->instructions, s->count, &s->room,
                            sizeof *s->instructions)) {
        free(copy);
        s->no_memory = true;
        return;
    }
    s->instructions[s->count++] = (instruction_t){offset, copy};
    f->count++;
}

static const char *blanks_skip(const char *at)
{
    while (isblank((unsigned char)*at))
        at++;
    return at;
}

/* Three kinds of lines mean something: a function's name, the architecture of what follows, and an
 * instruction behind its offset, "/" "*0010*" "/ S2R R5, SR_TID.X ;". Its bytes stand behind it. */
static void line_read(sasstext_t *s, const char *line)
{
    static const char function[] = "Function : ", code[] = "code for sm_";
    const char *at = blanks_skip(line), *end;
    unsigned long offset;
    char *behind;

    if (strncmp(at, function, sizeof function - 1) == 0)
        function_add(s, at + sizeof function - 1);
    else if (strncmp(at, code, sizeof code - 1) == 0)
        s->arch = (uint32_t)strtoul(at + sizeof code - 1, NULL, 10);
    if (at[0] != '/' || at[1] != '*' || !isxdigit((unsigned char)at[2]))
        return;
    offset = strtoul(at + 2, &behind, 16);
    if (behind[0] != '*' || behind[1] != '/')
        return;
    at = blanks_skip(behind + 2);
    end = strchr(at, ';');
    while (end && end > at && isblank((unsigned char)end[-1]))
        end--;
    if (end && end > at)
        instruction_add(s, (uint32_t)offset, at, (size_t)(end - at));
}

static void bytes_read(sasstext_t *s, dump_t *d, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            if (d->used < LINE - 1)
                d->line[d->used++] = bytes[i];
            continue;
        }
        d->line[d->used] = '\0';
        line_read(s, d->line);
        d->used = 0;
    }
}

/* ---- the child ----------------------------------------------------------------------- */

/* Its last line. */
static void error_read(dump_t *d, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || d->told == SASSTEXT_WHY / 2) {
            d->told = bytes[i] == '\n' ? 0 : d->told;
            continue;
        }
        d->last[d->told++] = bytes[i];
        d->last[d->told] = '\0';
    }
}

/* Returns: 0 or errno. */
static int dump_begin(dump_t *d, const char *path)
{
    char *argv[] = {(char *)TOOL, (char *)"-sass", (char *)path, NULL};
    posix_spawn_file_actions_t io;
    int out[2], err[2], status;

    if (pipe2(out, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(err, O_CLOEXEC) != 0) {
        status = errno;
        close(out[0]);
        close(out[1]);
        return status;
    }
    posix_spawn_file_actions_init(&io);
    posix_spawn_file_actions_addopen(&io, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&io, out[1], 1);
    posix_spawn_file_actions_adddup2(&io, err[1], 2);
    status = gpurt_env_spawn(&d->pid, TOOL, &io, argv);
    posix_spawn_file_actions_destroy(&io);
    close(out[1]);
    close(err[1]);
    d->out = out[0];
    d->err = err[0];
    if (status != 0) {
        close(d->out);
        close(d->err);
    }
    return status;
}

/* Returns: false: it has closed it. */
static bool pipe_take(sasstext_t *s, dump_t *d, int fd, bool error)
{
    char piece[PIECE];
    ssize_t got = read(fd, piece, sizeof piece);

    if (got < 0)
        return errno == EINTR;
    if (error)
        error_read(d, piece, (size_t)got);
    else
        bytes_read(s, d, piece, (size_t)got);
    return got > 0;
}

/* Until both pipes are closed, its time is over, or there is no memory. */
static void dump_take(sasstext_t *s, dump_t *d)
{
    struct pollfd of[2] = {{d->out, POLLIN, 0}, {d->err, POLLIN, 0}};

    while ((of[0].fd >= 0 || of[1].fd >= 0) && !d->late && !s->no_memory) {
        const uint64_t now = gpurt_steady_ns();

        d->late = now >= d->until_ns;
        if (d->late || poll(of, 2, LOOK_MS) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (of[i].fd >= 0 && of[i].revents && !pipe_take(s, d, of[i].fd, i == 1))
                of[i].fd = -1;
    }
}

/* Returns: as of waitpid. */
static int dump_end(dump_t *d)
{
    int status = 0;

    close(d->out);
    close(d->err);
    if (d->late)
        kill(d->pid, SIGKILL);
    while (waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* All that one file has. Returns: whether there may be another: it has its time, memory and tool. */
static bool file_read(sasstext_t *s, const char *path, uint64_t until_ns,
                      char why[SASSTEXT_WHY])
{
    dump_t dump = {.until_ns = until_ns};
    const uint32_t before = s->count;
    int status = dump_begin(&dump, path);

    if (status != 0) {
        tell(why, "no text of instructions: " TOOL ": %s%s", strerror(status),
             status == ENOENT ? "; " GET : "");
        return false;
    }
    dump_take(s, &dump);
    dump.late |= s->no_memory;
    status = dump_end(&dump);
    if (s->no_memory)
        tell(why, "no text of instructions: no memory for those of %s", path);
    else if (dump.late)
        s->late = true;
    else if (s->count == before)
        tell(why, "no text of instructions in %s: " TOOL " %s%s", path,
             dump.last[0] ? "says: " : "prints none", dump.last);
    else if (status != 0)
        tell(why, "text of instructions may be missing: " TOOL " says: %s", dump.last);
    return !dump.late;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Functions of files from `first` on, in order. Returns: NULL: there is no memory. */
static uint64_t *unread_functions(const codefolder_t *f, uint32_t first, uint32_t *count)
{
    uint64_t *of = malloc((f->version_count + 1) * sizeof *of);
    bool *unread = calloc(f->count + 1, sizeof *unread);

    *count = 0;
    for (uint32_t i = first; unread && i < f->count; i++)
        unread[f->files[i].number] = true;
    for (uint32_t i = 0; of && unread && i < f->version_room; i++)
        if (f->versions[i].hash && unread[f->versions[i].file])
            of[(*count)++] = f->versions[i].function;
    if (of && !unread) {
        free(of);
        of = NULL;
    }
    free(unread);
    if (of)
        qsort(of, *count, sizeof *of, by_value);
    return of;
}

/* Files from `first` on were not read, or not to their end: which version of their functions ran is not
 * known. Of a file that was not looked at each function may have another. */
static void unread_mark(sasstext_t *s, const codefolder_t *f, uint32_t first)
{
    uint32_t count;
    uint64_t *of = unread_functions(f, first, &count);

    for (uint32_t i = 0; i < s->function_count; i++) {
        function_t *one = &s->functions[i];

        one->in_unread =
            f->unseen || !of || bsearch(&one->hash, of, count, sizeof *of, by_value);
    }
    free(of);
}

static void cut_tell(const codefolder_t *f, uint32_t read, const char *path,
                     char why[SASSTEXT_WHY])
{
    char unseen[64] = "";

    if (f->unseen)
        snprintf(unseen, sizeof unseen, "; %u of %u were not looked at", f->unseen,
                 f->cubins);
    tell(why,
         "text of instructions may be missing: " TOOL " was through with %u of %u files of "
         "%s when its time was over%s",
         read, f->count, path, unseen);
}

/* Where the time is over, what was read by then stays. */
static void folder_read(sasstext_t *s, const char *path, const code_wish_t *wish,
                        uint64_t until_ns, char why[SASSTEXT_WHY])
{
    codefolder_t folder = {0};
    uint32_t i = 0;

    if (!codefolder_open(path, wish, until_ns, &folder))
        tell(why, "no text of instructions: %s: %s", path, strerror(errno));
    else if (folder.count == 0 && !folder.unseen)
        tell(why, "no text of instructions: none of the %u files *.cubin in %s has %s",
             folder.cubins, path, wish ? "these functions" : "functions");
    while (i < folder.count && file_read(s, folder.files[i].path, until_ns, why))
        i++;
    if (s->late || folder.unseen)
        cut_tell(&folder, i, path, why);
    if (i < folder.count || folder.unseen)
        unread_mark(s, &folder, i);
    s->late = false;
    codefolder_close(&folder);
}

bool sasstext_is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

sasstext_t *sasstext_read(const char *path, const code_wish_t *wish, uint64_t timeout_ns,
                          char why[SASSTEXT_WHY])
{
    const uint64_t until_ns = gpurt_steady_ns() + timeout_ns;
    sasstext_t *s = calloc(1, sizeof *s);

    why[0] = '\0';
    if (!s) {
        tell(why, "no text of instructions: %s", strerror(ENOMEM));
        return NULL;
    }
    if (sasstext_is_folder(path))
        folder_read(s, path, wish, until_ns, why);
    else
        file_read(s, path, until_ns, why);
    if (s->late)
        tell(why,
             "no text of instructions: " TOOL " did not end in %llu s on %s; take the "
             "cubin or library that has the kernel",
             (unsigned long long)(timeout_ns / 1000000000), path);
    if (s->count && !s->no_memory && !s->late)
        return s;
    sasstext_close(s);
    return NULL;
}

void sasstext_close(sasstext_t *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->function_count; i++)
        free(s->functions[i].name);
    for (uint32_t i = 0; i < s->count; i++)
        free(s->instructions[i].text);
    free(s->functions);
    free(s->instructions);
    free(s);
}

/* ---- looking ------------------------------------------------------------------------- */

/* A GPU runs code of its own major version that is not newer, the newest of it. */
static bool is_for(uint32_t code, uint32_t arch)
{
    return arch == 0 || (code / 10 == arch / 10 && code <= arch);
}

/* A module that is loaded twice has the same code twice. */
static bool is_same(const sasstext_t *s, const function_t *a, const function_t *b)
{
    const instruction_t *x = &s->instructions[a->first], *y = &s->instructions[b->first];

    if (a->arch != b->arch || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (x[i].offset != y[i].offset || strcmp(x[i].text, y[i].text) != 0)
            return false;
    return true;
}

uint32_t sasstext_function(const sasstext_t *s, const char *name, uint32_t arch)
{
    uint32_t found = SASSTEXT_NONE, best = 0;

    for (uint32_t i = 0; i < s->function_count; i++) {
        const function_t *f = &s->functions[i];

        if (f->count == 0 || !is_for(f->arch, arch) || strcmp(f->name, name) != 0)
            continue;
        if (f->in_unread)
            return SASSTEXT_SEVERAL;
        if (found == SASSTEXT_NONE || (arch && f->arch > best)) {
            found = i;
            best = f->arch;
        } else if ((arch == 0 || f->arch == best) &&
                   (found == SASSTEXT_SEVERAL || !is_same(s, &s->functions[found], f)))
            found = SASSTEXT_SEVERAL;
    }
    return found;
}

const char *sasstext_at(const sasstext_t *s, uint32_t function, uint32_t offset)
{
    const function_t *f = &s->functions[function];
    uint32_t low = f->first, high = f->first + f->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->instructions[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->first + f->count && s->instructions[low].offset == offset
               ? s->instructions[low].text
               : NULL;
}
