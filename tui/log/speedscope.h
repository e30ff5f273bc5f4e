/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope.h - samples of lines as a file for speedscope.app: a sampled profile, whose weights are
 * samples. */
#ifndef GPURT_TUI_SPEEDSCOPE_H
#define GPURT_TUI_SPEEDSCOPE_H

#include "lines_text.h"

#include <gpurt/status.h>

/* name: of the profile. */
gpurt_status_t speedscope_print(FILE *out, const lines_text_t *l, const char *name);

#endif
