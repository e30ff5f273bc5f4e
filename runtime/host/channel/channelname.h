/* SPDX-License-Identifier: Apache-2.0 */
/* channelname.h - what a channel of any kind is called, and the number that its copies know. */
#ifndef GPURT_HOST_CHANNELNAME_H
#define GPURT_HOST_CHANNELNAME_H

#include <gpurt/impl/channelmap.h>

/* name: NULL or empty: its number. What a terminal would obey in it is escaped, and it is cut between
 * characters: it goes into errors and reports of one line. */
void gpurt_channel_name(gpurt_channel_desk_t *desk, uint32_t id, const char *name);

/* Of an expression: &args->orders is called orders. Those with an index that varies have a number
 * behind it: a loop makes several. to: GPURT_CHANNEL_NAME_BYTES. Returns: it. */
const char *gpurt_channel_name_of(char *to, const char *expression);

#endif
