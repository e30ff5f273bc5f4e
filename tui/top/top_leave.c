/* SPDX-License-Identifier: Apache-2.0 */
#include "top_leave.h"

#include "hosttime.h"
#include "outfile.h"
#include "procfs.h"
#include "record_box.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS 50000000ull /* between two looks whether the program runs */
enum {
    NAMES = 10, /* tried for the output's file: a pid may have been somebody's before */
    WAIT_US = 50000,
    TEXT = 1024
};

/* Who stays with the program. */
typedef struct keeper {
    top_t *t;
    const leave_plan_t *plan;
    uint32_t pid;
    uint64_t start_ticks, looked_ns;
    bool runs;
    char output[64]; /* "": what the program prints is not ours, or is dropped */
    int output_fd;   /* -1: likewise */
    int refusal;     /* errno: why it is dropped; 0: it is not */
    bool records;
    source_left_t left;
    record_boxes_t boxes;
    panic_hook_t hook;
    pthread_t copier;
    bool copies;
} keeper_t;

/* ---- before -------------------------------------------------------------------------- */

static void output_make(keeper_t *k)
{
    gpurt_error_t err;

    k->output_fd = -1;
    if (k->t->child.output_fd < 0)
        return;
    for (int i = 0; i < NAMES && k->output_fd < 0 && (i == 0 || err.code == EEXIST); i++) {
        if (i == 0)
            snprintf(k->output, sizeof k->output, "gpurt-%u.out", k->pid);
        else
            snprintf(k->output, sizeof k->output, "gpurt-%u.%d.out", k->pid, i);
        k->output_fd =
            gpurt_outfile_open(k->output, GPURT_OUTFILE_NEW, GPURT_OUTFILE_OWN, &err);
    }
    k->refusal = k->output_fd < 0 ? (int)err.code : 0;
}

/* The drains of the screen end, and give back what lives. */
static void boxes_give(keeper_t *k)
{
    source_t *s = k->t->source;

    s->class->finish(s);
    s->class->refresh(s, k->t->fresh);
    s->class->leave(s, &k->left);
    k->records = k->t->recording.writer && !s->log_failure.status;
}

/* ---- what is said -------------------------------------------------------------------- */

static void tell(const keeper_t *k)
{
    const source_t *s = k->t->source;
    char log[TEXT], output[TEXT] = "";

    if (k->records)
        snprintf(log, sizeof log, "its log goes to %s", k->plan->log);
    else
        snprintf(log, sizeof log,
                 "nothing is recorded from here on%s%s (gpurt-drain -p %u -o FILE records)",
                 s->log_failure.status ? ": " : "",
                 s->log_failure.status ? s->log_failure.text : "", k->pid);
    if (k->output_fd >= 0)
        snprintf(output, sizeof output, ", its output to %s", k->output);
    else if (k->refusal)
        snprintf(output, sizeof output, ", its output is dropped (%s: %s)", k->output,
                 strerror(k->refusal));
    gpurt_option_refuse(
        k->plan->program, "%s goes on as process %u: %s%s%s; gpurt-top -p %u shows it",
        k->plan->name, k->pid, log, output,
        k->plan->on_panic && !k->records ? ", --exec-on-panic ends" : "", k->pid);
}

/* ---- afterwards ---------------------------------------------------------------------- */

/* No signal of a terminal arrives, and no terminal is held. */
static void become_own(const keeper_t *k)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    dup2(null, STDIN_FILENO);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (isatty(fd))
            dup2(k->output_fd >= 0 ? k->output_fd : null, fd);
    close(null);
}

/* Begins threads, and so does all that drains: not before the fork. */
static void boxes_take(keeper_t *k)
{
    record_boxes_t *b = &k->boxes;

    if (!k->records) {
        source_left_drop(&k->left);
        return;
    }
    record_boxes_init(b, k->t->recording.writer, false);
    b->lobby = k->left.lobby;
    b->teller = k->plan->program->name;
    if (panic_hook_init(&k->hook, k->plan->on_panic, k->plan->log) && k->plan->on_panic) {
        b->tap.hook = &k->hook;
        b->tap.sites = gpurt_writer_dictionary(b->writer);
    }
    for (uint32_t i = 0; i < k->left.count; i++)
        b->unread += record_boxes_add(b, k->left.map[i]) != GPURT_OK;
}

/* A full disk must not stop the program: what finds no room is dropped. */
static void *copy_run(void *context)
{
    const keeper_t *k = context;
    int from = k->t->child.output_fd;
    char bytes[65536];
    ssize_t got;

    fcntl(from, F_SETFL, fcntl(from, F_GETFL) & ~O_NONBLOCK);
    while ((got = read(from, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t done = 0, put; k->output_fd >= 0 && done < got; done += put)
            if ((put = write(k->output_fd, bytes + done, (size_t)(got - done))) <= 0)
                break;
    return NULL; /* EIO: the program and all its children are gone */
}

/* Returns: whether we were told to stop; the program is not: it is not ours any more. */
static bool told_to_stop(launchee_t *child)
{
    launchee_signals(child);
    return child->stop_signal == SIGTERM || child->stop_signal == SIGINT;
}

static void look(keeper_t *k)
{
    uint64_t now = gpurt_steady_ns();

    if (now - k->looked_ns < LOOK_NS)
        return;
    k->looked_ns = now;
    k->runs = gpurt_process_alive(k->pid, k->start_ticks);
}

static void boxes_read(keeper_t *k)
{
    record_boxes_accept(&k->boxes);
    if (record_boxes_round(&k->boxes) == 0)
        record_boxes_rest(&k->boxes);
    panic_hook_poll(&k->hook);
}

/* Until the program has ended and its boxes are read to their ends, or we are told to stop: it
 * then goes on without us. Returns: whether it has ended. */
static bool keep(keeper_t *k)
{
    bool stop = false;

    while (!stop && k->runs) {
        if (k->records)
            boxes_read(k);
        else
            usleep(WAIT_US);
        stop = told_to_stop(&k->t->child);
        look(k);
    }
    if (k->records && !stop)
        record_boxes_end(&k->boxes);
    panic_hook_fini(&k->hook);
    return !stop;
}

/* Who stays has nobody to tell but its file, which is taken away where it is empty. */
static int keeper_end(keeper_t *k, bool ended)
{
    uint32_t seen = k->t->source->processes, unread = 0;
    gpurt_error_t why = {0};
    bool whole = true;

    if (k->records) {
        record_boxes_close(&k->boxes);
        seen += k->boxes.seen;
        unread = k->boxes.unread;
        why = k->boxes.err;
    }
    if (k->t->recording.writer)
        whole = recording_close(&k->t->recording, seen, true, unread ? &why : NULL);
    if (ended && k->copies)
        pthread_join(k->copier, NULL);
    if (ended)
        top_dumps_keep(k->t);
    else
        gpurt_option_refuse(
            k->plan->program,
            "told to stop: process %u goes on, and neither what it logs nor "
            "what it prints is written from here on",
            k->pid);
    if (k->output_fd >= 0 && lseek(k->output_fd, 0, SEEK_END) == 0)
        unlink(k->output);
    return whole ? 0 : k->plan->program->bad_status;
}

/* The one that stays, in a session of its own before the other returns: the shell that comes back may
 * send a Ctrl-C at once. Returns: as fork. */
static pid_t keeper_fork(const keeper_t *k)
{
    int own[2]; /* its end says that the session is */
    pid_t other;
    char none;

    if (pipe2(own, O_CLOEXEC) != 0)
        return -1;
    other = fork();
    if (other == 0)
        become_own(k);
    close(own[1]);
    while (other > 0 && read(own[0], &none, 1) < 0 && errno == EINTR)
        continue;
    close(own[0]);
    return other;
}

int top_leave(top_t *t, const leave_plan_t *plan)
{
    static keeper_t keeper; /* large */
    keeper_t *k = &keeper;
    pid_t other = -1;
    bool idle;

    *k = (keeper_t){.t = t, .plan = plan, .pid = (uint32_t)t->child.pid, .runs = true};
    k->start_ticks = gpurt_process_start(k->pid);
    output_make(k);
    boxes_give(k);
    fflush(NULL);
    idle = !k->records && t->child.output_fd < 0 && !t->capture.folder[0];
    if (!idle)
        other = keeper_fork(k);
    if (other != 0) {
        tell(k);
        if (other > 0)
            _exit(0);
    }
    t->child.pid = 0;
    if (idle) {
        source_left_drop(&k->left);
        return 0;
    }
    if (other < 0)
        gpurt_option_refuse(plan->program, "fork: %s; this process waits for its end",
                            strerror(errno));
    boxes_take(k);
    k->copies =
        t->child.output_fd >= 0 && pthread_create(&k->copier, NULL, copy_run, k) == 0;
    return keeper_end(k, keep(k));
}
