/* SPDX-License-Identifier: Apache-2.0 */
/* logsink.h - a log file as the store of a drain. The drain's dictionary must be the
 * writer's. */
#ifndef GPURT_LOGSINK_H
#define GPURT_LOGSINK_H

#include "drain.h"
#include "writer.h"

gpurt_drain_sink_t gpurt_logsink(gpurt_writer_t *w); /* borrowed */

#endif
