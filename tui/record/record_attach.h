/* SPDX-License-Identifier: Apache-2.0 */
/* record_attach.h - records a program that runs already and sleeps with a collector in it
 * (later.h). */
#ifndef GPURT_TUI_RECORD_ATTACH_H
#define GPURT_TUI_RECORD_ATTACH_H

#include "record_box.h"

/* Until that process has ended and its box is read to its end, or somebody presses Ctrl-C:
 * the program then goes on, and what it still records is lost and counted. *held: while that is
 * open no other recorder is heard there; its caller closes it when the boxes are, -1: there is
 * nothing to close. GPURT_E_BUSY: somebody else records that process. */
gpurt_status_t record_attach(record_boxes_t *boxes, uint32_t pid, int *held,
                             gpurt_error_t *err);

#endif
