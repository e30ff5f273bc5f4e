/* SPDX-License-Identifier: Apache-2.0 */
/* fileabout.h - who is recorded in a file that several boxes are drained into: processes one
 * after another or side by side, each with sections of its own, maybe on other GPUs. A row
 * names its section by a number, so the file has one table of the sections of all; a box's
 * own numbers are put in its terms as rows are written. */
#ifndef GPURT_LOG_FILEABOUT_H
#define GPURT_LOG_FILEABOUT_H

#include "format.h"

/* The file's numbers of a box's sections, by the box's, and of its process. Owner: the
 * caller. */
typedef struct gplog_numbers {
    uint8_t section[GPURT_BOX_SECTIONS];
    uint8_t program;
    bool same; /* each is the box's own, and the process the first */
} gplog_numbers_t;

/* *all becomes who is recorded now: `about`, with the sections that the file had before its
 * own. Of what finds no room in the table, numbers stay the box's. */
void gplog_about_join(gplog_file_t *all, const gplog_file_t *about);

void gplog_about_numbers(const gplog_file_t *all, const gplog_file_t *about,
                         uint32_t program, gplog_numbers_t *out);

/* Of a section's kind, as machines are told: "cuda", "cpu", "host", "unknown". */
const char *gplog_back_end(uint32_t kind);

/* The kind of section of the device that a row tells of, or of host code; NONE where that is not
 * known. What CUPTI told, and NVML, is of a GPU; a launch by gpurt's own API of whichever device has
 * its number, unless two have. */
uint32_t gplog_about_kind(const gplog_file_t *about, const gpurt_row_t *row);

/* Whether devices of both back ends are in it, so that a number alone names none. */
bool gplog_about_is_mixed(const gplog_file_t *about);

/* Rows that lie one after another. */
void gplog_rows_number(const gplog_numbers_t *n, uint8_t *rows, uint32_t bytes);

#endif
