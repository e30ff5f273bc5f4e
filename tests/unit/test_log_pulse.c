/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a log that was not closed may still grow: told by who holds it, by who was recorded,
 * and not at all where that cannot be seen. Asking keeps no writer out, and one that takes over
 * a torn log is followed. */
#include "check.h"
#include "procfs.h"
#include "reader.h"
#include "scan.h"
#include "writer.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TORN = 100000 /* more than all else in these logs */
};

static char path[] = "/tmp/test_pulse.XXXXXX";
static gpurt_error_t err;

/* This process, on this machine. */
static gplog_file_t about_here(void)
{
    gplog_file_t about = {.identity = {.pid = (uint32_t)getpid()}};

    about.identity.start_ticks = gpurt_process_start(about.identity.pid);
    gpurt_boot_id(about.identity.boot_id);
    gethostname(about.identity.host, sizeof about.identity.host - 1);
    return about;
}

static gplog_file_t about_dead(void)
{
    gplog_file_t about = about_here();

    about.identity.start_ticks++; /* one of before, whose number we have now */
    return about;
}

static gpurt_writer_t *writer_open(const gplog_file_t *about)
{
    gpurt_writer_options_t o = {.struct_size = sizeof o, .append = true, .about = about};
    gpurt_writer_t *w;

    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
    return w;
}

static void write_frame(gpurt_writer_t *w)
{
    const gpurt_row_t row = {.time_ns = 1000, .kind = GPURT_KIND_LOG};

    CHECK_MSG(gpurt_writer_put(w, &row, &err) == GPURT_OK &&
                  gpurt_writer_flush(w, &err) == GPURT_OK,
              "%s", err.text);
}

/* Appends a run of one frame that nobody closes. */
static void run_cut(const gplog_file_t *about)
{
    pid_t pid = fork();

    if (pid == 0) {
        write_frame(writer_open(about));
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
}

static gpurt_log_t *log_open(void)
{
    gpurt_log_t *log;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    return log;
}

static void feels(gplog_pulse_state_t state, uint32_t pid)
{
    gpurt_log_t *log = log_open();
    uint32_t who;

    CHECK_EQ(gpurt_log_pulse(log, &who), state);
    CHECK_EQ(who, pid);
    gpurt_log_close(log);
}

static void begin(void)
{
    CHECK(truncate(path, 0) == 0);
}

static void check_held(void)
{
    gplog_file_t about = about_dead();
    gpurt_writer_t *w;
    pid_t heir;

    begin();
    w = writer_open(&about);
    write_frame(w);
    feels(GPLOG_PULSE_WRITTEN, 0); /* who asks in the same process is another, too */
    heir = fork();
    if (heir == 0) {
        for (;;)
            pause();
    }
    CHECK(gpurt_writer_close(w, &err) == GPURT_OK);
    feels(GPLOG_PULSE_WRITTEN, 0); /* it was inherited */
    kill(heir, SIGKILL);
    CHECK(waitpid(heir, NULL, 0) == heir);
    feels(GPLOG_PULSE_DEAD, 0);
}

static void check_recorded(void)
{
    const gplog_file_t here = about_here(), dead = about_dead(), nobody = {0};
    gplog_file_t other = dead;

    begin();
    run_cut(&dead);
    feels(GPLOG_PULSE_DEAD, 0);
    run_cut(&here);
    feels(GPLOG_PULSE_LEFT, here.identity.pid);
    other.identity.start_ticks++;
    run_cut(&other); /* of several programs one is enough */
    feels(GPLOG_PULSE_LEFT, here.identity.pid);
    run_cut(&nobody);
    feels(GPLOG_PULSE_LEFT, here.identity.pid);
    begin();
    run_cut(&nobody); /* where was it written? */
    feels(GPLOG_PULSE_UNKNOWN, 0);
}

static void check_elsewhere(void)
{
    gplog_file_t about = about_here();

    begin();
    about.identity.boot_id[3] ^= 1; /* this machine, before it was started anew */
    run_cut(&about);
    feels(GPLOG_PULSE_DEAD, 0);
    about.identity.host[0] ^= 1;
    run_cut(&about);
    feels(GPLOG_PULSE_UNKNOWN, 0);
    about = about_dead();
    run_cut(&about); /* programs of that other machine are not looked for here */
    feels(GPLOG_PULSE_DEAD, 0);
    memset(about.identity.boot_id, 0, sizeof about.identity.boot_id);
    run_cut(&about);
    feels(GPLOG_PULSE_UNKNOWN, 0);
}

/* A writer of before, or one that got no lock, says nothing. */
static void check_unheld(void)
{
    const gplog_file_t about = about_dead();
    uint8_t block[sizeof(gplog_block_t) + sizeof about];
    int fd = open(path, O_RDWR | O_CLOEXEC);

    begin();
    run_cut(&about);
    CHECK(pread(fd, block, sizeof block, 0) == (ssize_t)sizeof block);
    CHECK_EQ(gplog_block_seal(block, GPLOG_FILE, 0, sizeof about), sizeof block);
    CHECK(pwrite(fd, block, sizeof block, 0) == (ssize_t)sizeof block);
    feels(GPLOG_PULSE_UNKNOWN, 0);
    close(fd);
}

/* What a killed writer left torn is cut off by the next one, so that the file shrinks. */
static void check_taken_over(void)
{
    static const char torn[TORN];
    const gplog_file_t here = about_here();
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    gpurt_log_summary_t sum;
    gpurt_log_t *log;
    gpurt_writer_t *w;
    uint32_t who;

    begin();
    run_cut(&here);
    log = log_open();
    CHECK(write(fd, torn, TORN) == TORN);
    CHECK(!gpurt_log_refresh(log));
    CHECK_EQ(gpurt_log_pulse(log, &who), GPLOG_PULSE_LEFT);
    w = writer_open(&here);
    CHECK_EQ(gpurt_log_pulse(log, &who), GPLOG_PULSE_WRITTEN);
    write_frame(w);
    CHECK(gpurt_log_refresh(log));
    CHECK_EQ(gpurt_log_frames(log), 2);
    CHECK(gpurt_writer_close(w, &err) == GPURT_OK);
    gpurt_log_refresh(log);
    gpurt_log_summary(log, &sum);
    CHECK(sum.closed);
    CHECK_EQ(sum.torn_frames, 0);
    gpurt_log_close(log);
    close(fd);
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    check_held();
    check_recorded();
    check_elsewhere();
    check_unheld();
    check_taken_over();
    unlink(path);
    return 0;
}
