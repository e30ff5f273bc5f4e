/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-drain - drains the black boxes of one process into a log file, and shows them to
 * gpurt-top: started by gpurt_open for GPURT_LOG, for one box, or by a person whose drainer
 * has died, for all that no other drainer has. */
#include "boxes.h"
#include "option.h"
#include "record_box.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum {
    FAILED = 1,
    BAD_USE = 2,
    BOX_FD = 3, /* as runtime/host/link/drainspawn.h has them */
    READY_FD = 4
};
enum {
    LOG = 1 << 0,
    PRINT = 1 << 1
};

static liveprint_to_t live; /* of --print */

typedef struct drain_options {
    const char *output;
    uint64_t pid;
    bool spin, child, print;
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
     .help = "drain this process: the boxes of all its open devices, except those that "
             "another drainer reads"},
    {.name = "child",
     FIELD(FLAG, child),
     .help = "started by gpurt_open: the box is descriptor 3, answers go to 4"},
    {.section = "Log",
     .letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .uses = LOG,
     .help = "the log file (default gpurt.gplog); records are appended"},
    {.name = "print",
     FIELD(FLAG, print),
     .help =
         "print messages to standard error as they come, in the lines of gpurt-log cat, "
         "and write no log (GPURT_LOG=stderr); in colour on a terminal (NO_COLOR: not)"},
    {.section = "Running",
     .name = "spin",
     FIELD(FLAG, spin),
     .help = "never sleep: uses a core, for the lowest latency"},
    {0},
};

static uint32_t use_find(const void *values, char *const *operands, int count)
{
    (void)operands;
    (void)count;
    return ((const drain_options_t *)values)->print ? PRINT : LOG;
}

static const char *const use_names[] = {"a log", "--print"};
static const gpurt_option_uses_t uses = {use_names, use_find};

static const gpurt_option_text_t texts[] = {
    {"EXIT STATUS",
     "0: the process has ended and the file has all of it; 1: no box can be drained, a "
     "box is damaged, or the file cannot be written; 2: wrong use."},
    {"SEE ALSO", "gpurt-top -p PID shows live what is drained."},
    {"EXAMPLES", "  GPURT_LOG=run.gplog ./app\n"
                 "  GPURT_LOG=stderr ./app\n"
                 "  gpurt-drain -p 4711 -o run.gplog"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-drain",
    .summary = "write what a running program logs to a file",
    .synopsis = "-p PID [OPTION...]",
    .description = "Reads the black boxes of a process until it ends. gpurt-record starts "
                   "the program itself and needs no gpurt-drain.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .bad_status = BAD_USE,
};

/* Nothing of the application's is held but the box, the pipe and what is printed to, no signal
 * of its terminal arrives, and nobody has to wait for us. */
static void become_own(bool print)
{
    int null = open("/dev/null", O_RDWR);

    if (fork() != 0)
        _exit(0);
    setsid();
    for (int fd = 0; fd < 3 - print; fd++) /* standard error is the last */
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

/* *boxes: not empty on success. */
static gpurt_status_t boxes_find(const drain_options_t *o, gpurt_boxes_t *boxes,
                                 gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!o->child)
        return gpurt_boxes_of_pid((uint32_t)o->pid, true, boxes, err);
    st = gpurt_boxmap_attach_fd(BOX_FD, true, &boxes->map[0], err);
    boxes->count = st == GPURT_OK;
    return st;
}

/* Those that another drainer has are its own. Returns: GPURT_OK when there is one for us. */
static gpurt_status_t boxes_take(record_boxes_t *b, gpurt_boxes_t *boxes,
                                 const drain_options_t *o, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    while (boxes->count) {
        gpurt_status_t one = record_boxes_add(b, gpurt_boxes_take(boxes, 0));

        if (one == GPURT_OK)
            continue;
        st = one;
        *err = b->err;
        b->unread += one != GPURT_E_BUSY;
        if (boxes->count || record_boxes_count(b))
            say(o, err->text); /* of others our exit tells */
    }
    return record_boxes_count(b) ? GPURT_OK : st;
}

/* Returns: why it cannot begin. What fails later is told, and counted in b->unread. */
static gpurt_status_t begin(record_boxes_t *b, gpurt_writer_t **writer,
                            const drain_options_t *o, gpurt_error_t *err)
{
    static gpurt_boxes_t boxes;
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_status_t st = boxes_find(o, &boxes, err);
    uint32_t refused = boxes.refused;
    gplog_file_t about;

    if (st != GPURT_OK)
        return st;
    if (refused)
        say(o, err->text);
    gpurt_drain_about(&boxes.map[0], &about);
    wo.about = &about;
    if (!o->print)
        st = gpurt_writer_open(o->output, &wo, writer, err);
    else if (!liveprint_open(&live, GPURT_LEVEL_NONE))
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                        "standard error: no memory");
    if (st == GPURT_OK) {
        record_boxes_init(b, *writer, o->spin);
        b->print = &live;
        b->unread = refused;
        st = boxes_take(b, &boxes, o, err);
    }
    gpurt_boxes_detach(&boxes);
    return st;
}

/* Returns: whether all was read. */
static bool drain(record_boxes_t *b, const drain_options_t *o)
{
    uint32_t before = b->unread;

    while (record_boxes_count(b))
        if (record_boxes_round(b) == 0)
            record_boxes_rest(b);
    if (b->unread > before)
        say(o, b->err.text);
    return b->unread == 0;
}

/* No box is ours: the file is as it was before. */
static void give_up(record_boxes_t *b, gpurt_writer_t **writer, const drain_options_t *o,
                    const gpurt_error_t *err)
{
    record_boxes_close(b); /* it may write until then */
    gpurt_writer_drop(*writer);
    *writer = NULL;
    say(o, err->text);
}

int main(int argc, char **argv)
{
    drain_options_t o = {.output = "gpurt.gplog"};
    int operands, status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    static record_boxes_t boxes = {.lobby = {.listener = -1}};
    gpurt_writer_t *writer = NULL;
    gpurt_error_t err = {0};
    bool whole;

    if (status >= 0)
        return status;
    if (operands > 0 || (!o.pid && !o.child))
        return gpurt_option_refuse(&program, "say which process, as -p PID");
    signal(SIGXFSZ, SIG_IGN); /* a log that meets a limit is an error of its write */
    /* a program that was killed hears no more, and its log must be closed; nor need anybody read
     * what is said of that log */
    if (o.child || !o.print)
        signal(SIGPIPE, SIG_IGN);
    if (o.child)
        become_own(o.print);
    whole = begin(&boxes, &writer, &o, &err) == GPURT_OK;
    if (!whole)
        give_up(&boxes, &writer, &o, &err);
    else if (o.child)
        say(&o, "ok");
    whole = whole && drain(&boxes, &o);
    record_boxes_close(&boxes);
    liveprint_close(&live);
    if (writer && gpurt_writer_flush(writer, &err) == GPURT_OK &&
        gpurt_writer_stands(writer, &err) != GPURT_OK) {
        say(&o, err.text);
        whole = false;
    }
    if (gpurt_writer_close(writer, &err) != GPURT_OK) {
        say(&o, err.text);
        whole = false;
    }
    return whole ? 0 : FAILED;
}
