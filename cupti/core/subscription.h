/* SPDX-License-Identifier: Apache-2.0 */
/* subscription.h - what CUPTI is asked for: to be its one subscriber, for whole buffers, and for
 * each kind of record that is wanted. What it refuses is told in the log, and what it grants is
 * had. */
#ifndef GPURT_CUPTI_SUBSCRIPTION_H
#define GPURT_CUPTI_SUBSCRIPTION_H

#include "cupti_api.h"

#include <stdbool.h>

/* The library that was run before ours uses CUPTI: ours stays away. Context: before it begins. */
void subscription_yield(const char *library);

/* Loads CUPTI into *api, which it borrows for ever. wanted: bits, as of wanted_read; asked, done:
 * whoever has the buffers. Returns: whether CUPTI records now. Context: once. */
bool subscription_begin(cupti_api_t *api, uint32_t wanted,
                        CUpti_BuffersCallbackRequestFunc asked,
                        CUpti_BuffersCallbackCompleteFunc done);

#endif
