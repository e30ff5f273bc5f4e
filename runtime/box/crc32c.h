/* SPDX-License-Identifier: Apache-2.0 */
/* crc32c.h - CRC-32C (Castagnoli), for headers of boxes and frames of logs.
 * Uses the processor's instruction where there is one. */
#ifndef GPURT_CRC32C_H
#define GPURT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* seed: 0, or the result for the bytes before. */
uint32_t gpurt_crc32c(uint32_t seed, const void *data, size_t bytes);

#endif
