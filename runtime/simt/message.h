/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - what a panic says, as text: its format with its arguments, or what was promised. For
 * whoever stands in the program itself; logs are rendered by logstore/store/render.c, with the same
 * words. */
#ifndef GPURT_SIMT_MESSAGE_H
#define GPURT_SIMT_MESSAGE_H

#include <gpurt/impl/dialect_simt.h>

/* device: whose box names the strings among the arguments. Writes a terminator; what has no room
 * is left out, and "..." says so. Context: host; no lock. */
void simt_message(const gpurt_simt_panic_t *panic, uint32_t device, char *out, size_t room);

#endif
