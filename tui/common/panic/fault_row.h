/* SPDX-License-Identifier: Apache-2.0 */
/* fault_row.h - a fault of a GPU core dump as a row of a log (docs/LOG_FORMAT.md, FAULT):
 * the site is the source line, the message says what happened in which kernel. */
#ifndef GPURT_TUI_FAULT_ROW_H
#define GPURT_TUI_FAULT_ROW_H

#include "dictionary.h"
#include "gpufault.h"

/* Defines the site in d. section: of the log or box, the device's. dump: id of its blob, 0
 * none. Returns: heap, NULL without memory. */
gpurt_row_t *fault_row_make(gpurt_dictionary_t *d, const gpucore_t *core, const fault_t *f,
                            uint64_t time_ns, uint32_t section, uint64_t dump);

/* A row for each fault of a dump. about: who is recorded, for the section of the device. */
typedef gpurt_status_t fault_row_fn(void *context, const gpurt_row_t *row,
                                    gpurt_error_t *err);
gpurt_status_t fault_rows(gpurt_dictionary_t *d, const fault_book_t *book,
                          const gplog_file_t *about, uint64_t time_ns, uint64_t dump,
                          fault_row_fn *put, void *context, gpurt_error_t *err);

/* The real time of a fault whose dump the driver has written to path. last_ns: of the newest
 * record of the program; 0: not known. */
uint64_t fault_time(const char *path, const gpucore_t *core, uint64_t last_ns);

/* The file of a frame, with its folder. */
void fault_file(const line_frame_t *frame, char *out, size_t room);

/* Which frame is the site: the innermost that is in no header of gpurt or CUDA, whose
 * inlined functions are the words and not the sentence. 0 where there is none. */
uint32_t fault_site(const code_place_t *place);

/* The function of the site: "(anonymous)::fail", with "+0x10" where no line is known. */
void fault_function(const code_place_t *place, char *out, size_t room);

#endif
