/* SPDX-License-Identifier: Apache-2.0 */
/* kettle_app.h - a class of objects that exists only in a test: its words on the device. */
#ifndef GPURT_TESTS_KETTLE_APP_H
#define GPURT_TESTS_KETTLE_APP_H

#include <gpurt/base.h>

enum {
    KETTLE_BUCKETS = 20,
    KETTLE_CELLS = 1024, /* more than one record holds */
    KETTLE_LITRES = 8
};

typedef struct kettle {
    uint64_t xlitres, xtemperature, xboils, xfaults, xstate; /* written by: any lane */
    uint64_t xwaits[KETTLE_BUCKETS];                         /* likewise */
} kettle_t;

struct kettle_args {
    kettle_t *kettles;
    uint32_t rounds;
};

#endif
