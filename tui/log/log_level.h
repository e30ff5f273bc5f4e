/* SPDX-License-Identifier: Apache-2.0 */
/* log_level.h - levels of a program that runs: shown, or changed. */
#ifndef GPURT_LOG_LEVEL_H
#define GPURT_LOG_LEVEL_H

#include <gpurt/status.h>

/* Of all boxes of the process that can be reached; one that cannot is a failure. rules: NULL to
 * print the present ones. */
gpurt_status_t log_level(uint32_t pid, const char *rules, gpurt_error_t *err);

#endif
