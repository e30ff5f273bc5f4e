/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_hook.h"

#include "hosttime.h"
#include "launchee.h"
#include "panic_read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
enum {
    VARIABLES = 4,
    VARIABLE = HOOK_TEXT + 32,
    STEP_MS = 5
};

bool panic_hook_init(panic_hook_t *h, const char *command, const char *file)
{
    memset(h, 0, sizeof *h);
    if (!command)
        return true;
    h->events = calloc(HOOK_SITES, sizeof *h->events);
    h->command = h->events ? command : NULL;
    h->file = file;
    return h->events != NULL;
}

/* ---- events ------------------------------------------------------------------------ */
/* Where the place is not known, the message stands for it. */
static bool same_site(const hook_event_t *a, const hook_event_t *b)
{
    return strcmp(a->where, b->where) == 0 && a->kind == b->kind &&
           (a->where[0] || strcmp(a->message, b->message) == 0);
}

void panic_hook_row(panic_hook_t *h, const gpurt_dictionary_t *sites,
                    const gpurt_row_t *row)
{
    panic_facts_t f;
    hook_event_t *e;
    gpurt_text_t text;

    if (!gpurt_row_is_panic(row) || !h->command || h->count == HOOK_SITES)
        return;
    e = &h->events[h->count];
    memset(e, 0, sizeof *e);
    panic_read(sites, row, &f);
    e->kind = panic_kind_name(&f);
    if (f.site.file_bytes)
        snprintf(e->where, sizeof e->where, "%.*s:%u", (int)f.site.file_bytes, f.site.file,
                 f.site.line);
    gpurt_text_init(&text, e->message, sizeof e->message);
    gpurt_render_message(sites, row, 0, &text);
    for (uint32_t i = 0; i < h->count; i++)
        if (same_site(&h->events[i], e))
            return;
    h->count++;
}

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    const panic_tap_t *tap = context;

    (void)err;
    panic_hook_row(tap->hook, tap->sites, row);
    return GPURT_OK;
}

gpurt_drain_sink_t panic_tap_sink(panic_tap_t *tap)
{
    gpurt_drain_sink_t sink = {.context = tap, .put = sink_put};

    return sink;
}

/* ---- processes --------------------------------------------------------------------- */
/* Our environment with the event's variables in front: the first of a name counts. */
static char **environment_make(const panic_hook_t *h, const hook_event_t *e,
                               char room[VARIABLES][VARIABLE])
{
    size_t count = 0;
    char **all;

    while (environ[count])
        count++;
    all = calloc(count + VARIABLES + 1, sizeof *all);
    if (!all)
        return NULL;
    snprintf(room[0], VARIABLE, "GPURT_PANIC_KIND=%s", e->kind);
    snprintf(room[1], VARIABLE, "GPURT_PANIC_SITE=%s", e->where);
    snprintf(room[2], VARIABLE, "GPURT_PANIC_MESSAGE=%s", e->message);
    snprintf(room[3], VARIABLE, "GPURT_PANIC_FILE=%s", h->file);
    for (size_t i = 0; i < VARIABLES; i++)
        all[i] = room[i];
    memcpy(all + VARIABLES, environ, count * sizeof *all);
    return all;
}

/* In a process group of its own, so that all of it can be ended; with no signal blocked, and none
 * ignored that only we ignore. */
static int spawn(panic_hook_t *h, char **variables)
{
    char shell[] = "/bin/sh", option[] = "-c", *command = strdup(h->command);
    char *argv[] = {shell, option, command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, ignored;
    int code;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    launchee_ignored(&ignored);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    code = command ? posix_spawn(&h->running, shell, &actions, &attributes, argv, variables)
                   : ENOMEM;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(command);
    return code;
}

static void begin(panic_hook_t *h)
{
    static char room[VARIABLES][VARIABLE];
    char **variables = environment_make(h, &h->events[h->begun++], room);

    if (!variables || spawn(h, variables) != 0) {
        h->running = 0;
        h->ended_badly = true;
    }
    h->since_ns = gpurt_steady_ns();
    free(variables);
}

/* Somebody else of our program may have reaped it. */
static void reap(panic_hook_t *h, int options)
{
    int status = 0;
    pid_t pid;

    do
        pid = waitpid(h->running, &status, options);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return;
    h->running = 0;
    h->ended_badly = h->ended_badly || (pid > 0 && status != 0);
}

void panic_hook_poll(panic_hook_t *h)
{
    if (h->running)
        reap(h, WNOHANG);
    if (h->running && gpurt_steady_ns() - h->since_ns > HOOK_SECONDS * SECOND_NS) {
        kill(-h->running, SIGKILL);
        reap(h, 0);
    }
    if (!h->running && h->begun < h->count)
        begin(h);
}

void panic_hook_fini(panic_hook_t *h)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    for (panic_hook_poll(h); h->running || h->begun < h->count; panic_hook_poll(h))
        nanosleep(&step, NULL);
    free(h->events);
    h->events = NULL;
    h->command = NULL;
    h->count = h->begun = 0;
}
