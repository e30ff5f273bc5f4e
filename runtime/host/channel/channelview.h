/* SPDX-License-Identifier: Apache-2.0 */
/* channelview.h - the class of objects (watch.h) "channel": how deep, what went through it and what was
 * dropped, who waits. */
#ifndef GPURT_HOST_CHANNELVIEW_H
#define GPURT_HOST_CHANNELVIEW_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/channelmap.h>

/* It is looked at from now on, until its end. */
void gpurt_channelview_begin(gpurt_t *rt, const gpurt_channel_t *channel);
/* It ends: a last look. Context: before its memory goes. */
void gpurt_channelview_end(gpurt_t *rt, const gpurt_channel_t *channel);

#endif
