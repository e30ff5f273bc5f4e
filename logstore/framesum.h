/* SPDX-License-Identifier: Apache-2.0 */
/* framesum.h - what the head of a frame says of its rows, and an index of the frame. */
#ifndef GPURT_LOG_FRAMESUM_H
#define GPURT_LOG_FRAMESUM_H

#include "format.h"

/* Rows lie one after another. All else of the head is 0. */
void gplog_frame_sum(const void *rows, uint32_t bytes, uint32_t count, gplog_frame_t *f);

/* Its line in an index. */
gplog_index_entry_t gplog_frame_entry(const gplog_frame_t *f, uint64_t offset);

#endif
