/* SPDX-License-Identifier: Apache-2.0 */
/* make_course FILE [BULK [FRAME_ROWS]] - a log file of the course. */
#include "check.h"
#include "course.h"

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options};
    gplog_file_t about;
    gpurt_writer_t *w;
    gpurt_error_t err;

    CHECK_MSG(argc >= 2, "usage: make_course FILE [BULK [FRAME_ROWS]]");
    course_about(&about);
    options.about = &about;
    options.frame_rows = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 16;
    unlink(argv[1]);
    CHECK_MSG(gpurt_writer_open(argv[1], &options, &w, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(course_write(w, argc > 2 ? strtoull(argv[2], NULL, 10) : 0, &err) == GPURT_OK,
              "%s", err.text);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    return 0;
}
