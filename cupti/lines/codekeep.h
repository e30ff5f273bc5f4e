/* SPDX-License-Identifier: Apache-2.0 */
/* codekeep.h - machine code as files, one for each module that the driver loads: what a program compiles
 * while it runs (NVRTC, XLA, Triton) never was one that gpurt-log lines --code could read.
 *
 * Context: any thread of the program, as it loads the module. */
#ifndef GPURT_CUPTI_CODEKEEP_H
#define GPURT_CUPTI_CODEKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From here on, into that folder, which is made where there is none. Once, before the others. */
void codekeep_open(const char *folder);
bool codekeep_is_on(void);

/* As CRC.cubin, once for each checksum. A process keeps 4,096 files and 512 MiB at most. What cannot be
 * kept is told, once. */
void codekeep_put(uint64_t crc, const void *cubin, size_t bytes);

#endif
