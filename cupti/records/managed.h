/* SPDX-License-Identifier: Apache-2.0 */
/* managed.h - records of unified memory: what moves between host and devices, and faults. On
 * request alone ("managed").
 *
 * CUPTI takes the wish when the driver is initialised, which it is not yet as the collector
 * starts; so it is asked again with each look, for a minute. What it refuses, then or to the
 * last, is told in one line, and the other kinds stay on. */
#ifndef GPURT_CUPTI_MANAGED_H
#define GPURT_CUPTI_MANAGED_H

#include "cupti_api.h"

/* api: borrowed for ever. Context: once, before the first look. */
void managed_want(const cupti_api_t *api);

/* last: there will be no other. Context: one thread, outside of the outlet. */
void managed_look(bool last);

#endif
