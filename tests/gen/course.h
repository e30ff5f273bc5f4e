/* SPDX-License-Identifier: Apache-2.0 */
/* course.h - the rows of a program of two threads and two GPUs, every one of them known: what
 * timelines and exports are checked against. docs of the events: course.c, which is the
 * table. */
#ifndef GPURT_TEST_COURSE_H
#define GPURT_TEST_COURSE_H

#include "writer.h"

#define COURSE_START_NS 1767225600000000000ull /* 2026-01-01 00:00:00 UTC */

enum {
    COURSE_PID = 4242,
    COURSE_BULK_NS = 2000000 /* where the bulk begins; each kernel takes 1 us of 2 */
};

void course_about(gplog_file_t *about);

/* All rows, then `bulk` kernels with a call each. */
gpurt_status_t course_write(gpurt_writer_t *w, uint64_t bulk, gpurt_error_t *err);

/* All rows, as those of another process: late_ns later, with the same numbers of everything. */
gpurt_status_t course_write_of(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                               uint64_t late_ns, gpurt_error_t *err);

#endif
