/* SPDX-License-Identifier: Apache-2.0 */
/* linewhy.h - why there are no lines of kernels: what the collector said last. */
#ifndef GPURT_TUI_LINEWHY_H
#define GPURT_TUI_LINEWHY_H

#include "modelview.h"

/* Returns: its warning, of the view; NULL: it said nothing of lines. */
const gpurt_model_line_t *linewhy_find(const gpurt_modelview_t *v);

#endif
