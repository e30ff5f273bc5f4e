/* SPDX-License-Identifier: Apache-2.0 */
/* channelname.h - what a channel of any kind is called, and the number that its copies know. */
#ifndef GPURT_HOST_CHANNELNAME_H
#define GPURT_HOST_CHANNELNAME_H

#include <gpurt/impl/channelmap.h>

/* name: NULL or empty: its number. */
void gpurt_channel_name(gpurt_channel_desk_t *desk, uint32_t id, const char *name);

/* Of an expression: &args->orders is called orders. */
const char *gpurt_channel_last_word(const char *name);

#endif
