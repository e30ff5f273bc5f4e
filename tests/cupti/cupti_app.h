/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_app.h - what all parts of the program say through the stand-in. */
#ifndef GPURT_TESTS_CUPTI_APP_H
#define GPURT_TESTS_CUPTI_APP_H

#include "fake_cupti.h"

enum {
    APP_NAMES = 3
};

extern const fake_cupti_t *fake; /* fixed when the driver has started */
extern const char *const names[APP_NAMES];

void rest(long ms);
/* So many that have just ended. lane: a thread's own, of the stand-in's buffers. */
void kernels(int lane, long count);

#endif
