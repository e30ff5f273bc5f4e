/* SPDX-License-Identifier: Apache-2.0 */
/* serviceview.h - the class of objects (watch.h) "service": how the blocks of one fare. */
#ifndef GPURT_HOST_SERVICEVIEW_H
#define GPURT_HOST_SERVICEVIEW_H

#include "serviceown.h"

/* It is looked at from now on, until its end. */
void gpurt_serviceview_begin(gpurt_t *rt, const gpurt_service_own_t *s);
/* It ends: a last look. Context: before it goes. One that is not looked at is none. */
void gpurt_serviceview_end(gpurt_t *rt, const gpurt_service_own_t *s);

#endif
