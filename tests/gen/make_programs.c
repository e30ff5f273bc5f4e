/* SPDX-License-Identifier: Apache-2.0 */
/* make_programs FILE - a log file of five processes that each run the course at nearly the same
 * time, with the same numbers of everything: two plain ones, one whose pid the first had before,
 * and two that the file does not name. The second's GPU 1 is another model. */
#include "check.h"
#include "course.h"

#include <stdio.h>
#include <unistd.h>

#define US       1000ull
#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s", err.text)
enum {
    STRANGE = 200, /* a number without a definition */
    FRAME_ROWS = 1000
};

/* program 0: as the writer numbers it. */
typedef struct part {
    uint32_t pid, ticks;
    uint8_t program;
    uint64_t late_ns;
} part_t;

static const part_t parts[] = {{COURSE_PID, 1, 0, 0},
                               {COURSE_PID + 101, 1, 0, 30 * US},
                               {COURSE_PID, 2, 0, 7 * US},
                               {COURSE_PID, 1, GPLOG_PROGRAM_OTHERS, 55 * US},
                               {COURSE_PID, 1, STRANGE, 130 * US}};

static void part_about(const part_t *p, gplog_file_t *about)
{
    course_about(about);
    about->identity.pid = p->pid;
    about->identity.start_ticks = p->ticks;
    if (p->pid != COURSE_PID)
        snprintf(about->sections[2].name, sizeof about->sections[2].name, "Other GPU");
}

static void part_write(gpurt_writer_t *w, const part_t *p)
{
    gplog_numbers_t numbers;
    gplog_file_t about;
    gpurt_error_t err;

    part_about(p, &about);
    OK(gpurt_writer_about(w, &about, &err));
    gpurt_writer_numbers(w, &about, &numbers);
    if (p->program) {
        numbers.program = p->program;
        numbers.same = false;
    }
    OK(course_write_of(w, &numbers, p->late_ns, &err));
}

int main(int argc, char **argv)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options,
                                      .frame_rows = FRAME_ROWS};
    gplog_file_t about;
    gpurt_writer_t *w;
    gpurt_error_t err;

    CHECK_MSG(argc == 2, "usage: make_programs FILE");
    part_about(&parts[0], &about);
    options.about = &about;
    unlink(argv[1]);
    OK(gpurt_writer_open(argv[1], &options, &w, &err));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        part_write(w, &parts[i]);
    OK(gpurt_writer_close(w, &err));
    return 0;
}
