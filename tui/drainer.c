/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-drain - drains the black box of one process into a log file, and shows it to
 * gpurt-top: started by gpurt_open for GPURT_LOG, or by a person whose drainer has died. */
#include "drain.h"
#include "hang_join.h"
#include "logsink.h"
#include "option.h"
#include "publish.h"
#include "writer.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    FAILED = 1,
    BAD_USE = 2,
    BOX_FD = 3, /* as runtime/host/drainspawn.h has them */
    READY_FD = 4,
    SINK_WAIT_US = 5000
};

typedef struct drain_options {
    const char *output;
    uint64_t pid;
    bool spin, child;
} drain_options_t;

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(drain_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Reading",
     .letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .min = 1,
     .max = UINT32_MAX,
     .help = "the process whose box is drained; refused while another drainer lives"},
    {.name = "child",
     FIELD(FLAG, child),
     .help = "started by gpurt_open: the box is descriptor 3, answers go to 4"},
    {.section = "Log",
     .letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .help = "the log file (default gpurt.gplog); what it holds is kept"},
    {.section = "Running",
     .name = "spin",
     FIELD(FLAG, spin),
     .help = "never sleep: a core for the shortest delay"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"EXIT STATUS", "0: the process has ended and all is in the file; 1: there is no box, "
                    "or the file cannot be written; 2: wrong use."},
    {"SEE ALSO", "gpurt-top -p PID shows what is drained while it comes."},
    {"EXAMPLES", "  GPURT_LOG=run.gplog ./app\n"
                 "  gpurt-drain -p 4711 -o run.gplog"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-drain",
    .summary = "write what a running program logs to a file",
    .synopsis = "-p PID [OPTION...]",
    .description = "Reads the black box of a process until it ends. gpurt-record, which "
                   "starts the program itself, needs no gpurt-drain.",
    .options = rows,
    .texts = texts,
    .bad_status = BAD_USE,
};

typedef struct drainer {
    gpurt_boxmap_t map;
    gpurt_writer_t *writer;
    gpurt_logbox_t log;
    gpurt_scribe_t *scribe;
    publish_t *publish;
    gpurt_drain_t *drain;
    hang_watch_t watch;
} drainer_t;

static gpurt_status_t drainer_open(drainer_t *d, const drain_options_t *o,
                                   gpurt_error_t *err)
{
    gpurt_drain_options_t options = {
        .struct_size = sizeof options, .sink_count = 1, .spin = o->spin};
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gplog_file_t about;
    gpurt_status_t st;

    st = o->child ? gpurt_boxmap_attach_fd(BOX_FD, true, &d->map, err)
                  : gpurt_boxmap_attach_pid((uint32_t)o->pid, true, &d->map, err);
    if (st != GPURT_OK)
        return st;
    gpurt_drain_about(&d->map, &about);
    wo.about = &about;
    st = gpurt_writer_open(o->output, &wo, &d->writer, err);
    if (st != GPURT_OK)
        return st;
    d->log.writer = d->writer;
    gpurt_writer_numbers(d->writer, &about, &d->log.numbers);
    options.sinks[0] = gpurt_logsink_of(&d->log);
    options.dictionary = gpurt_writer_dictionary(d->writer);
    options.scribe = d->scribe = gpurt_scribe_pays() ? gpurt_scribe_open() : NULL;
    d->publish = publish_open(&d->map, &options);
    return gpurt_drain_open(&d->map, &options, &d->drain, err);
}

/* It is in the log for gpurt-panic: nobody reads what we print. */
static void hang_keep(drainer_t *d, gpurt_waitgraph_t *g)
{
    const hang_sinks_t sinks = {.log = &d->log, .publish = d->publish};

    hang_join(&sinks, g, d->map.box->identity.pid, NULL);
    gpurt_waitgraph_fini(g);
}

/* A sink that fails (a full disk) is tried again: rows stay in the rings, which count what
 * they drop. */
static gpurt_status_t drainer_run(drainer_t *d, gpurt_error_t *err)
{
    gpurt_waitgraph_t g;
    uint32_t found = 0;
    gpurt_status_t st;

    do {
        if (gpurt_drain_round(d->drain, &found, err) != GPURT_OK)
            usleep(SINK_WAIT_US);
        publish_tick(d->publish);
        if (hang_watch_look(&d->watch, &d->map, &g))
            hang_keep(d, &g);
        if (found == 0)
            gpurt_drain_rest(d->drain);
    } while (found > 0 || !gpurt_drain_over(d->drain));
    st = gpurt_drain_finish(d->drain, err);
    /* relaxed: the application is gone, or has closed the box for good */
    if (gpurt_load_relaxed_sys_u32(&d->map.box->xlife) != GPURT_LIFE_CLOSED &&
        hang_watch_last(&d->watch, &d->map, &g))
        hang_keep(d, &g);
    return st;
}

static gpurt_status_t drainer_close(drainer_t *d, gpurt_error_t *err)
{
    gpurt_status_t st;

    gpurt_drain_close(d->drain);
    hang_watch_fini(&d->watch);
    publish_close(d->publish);
    gpurt_scribe_close(d->scribe);
    st = gpurt_writer_close(d->writer, err);
    gpurt_boxmap_detach(&d->map);
    return st;
}

/* Nothing of the application's is held but the box and the pipe, no signal of its terminal
 * arrives, and nobody has to wait for us. */
static void become_own(void)
{
    int null = open("/dev/null", O_RDWR);

    if (fork() != 0)
        _exit(0);
    setsid();
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close_range(READY_FD + 1, ~0u, 0);
}

static void say(const drain_options_t *o, const char *text)
{
    if (!o->child) {
        gpurt_option_refuse(&program, "%s", text);
        return;
    }
    dprintf(READY_FD, "%s\n", text);
}

int main(int argc, char **argv)
{
    drain_options_t o = {.output = "gpurt.gplog"};
    int operands, status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    drainer_t d = {.map = {.fd = -1}};
    gpurt_error_t err = {0};
    gpurt_status_t st, end;

    if (status >= 0)
        return status;
    if (operands > 0 || (!o.pid && !o.child))
        return gpurt_option_refuse(&program, "say which process, as -p PID");
    signal(SIGXFSZ, SIG_IGN); /* a log that meets a limit is an error of its write */
    if (o.child)
        become_own();
    st = drainer_open(&d, &o, &err);
    if (st == GPURT_OK) {
        if (o.child)
            say(&o, "ok");
        st = drainer_run(&d, &err);
    }
    if (st != GPURT_OK)
        say(&o, err.text);
    end = drainer_close(&d, &err);
    if (end != GPURT_OK)
        say(&o, err.text);
    return st == GPURT_OK && end == GPURT_OK ? 0 : FAILED;
}
