/* SPDX-License-Identifier: Apache-2.0 */
/* host_app.h - what the host's side of a program does, as CUPTI tells it: calls, ranges, memory. */
#ifndef GPURT_TESTS_HOST_APP_H
#define GPURT_TESTS_HOST_APP_H

void host_calls(void);

#endif
