/* SPDX-License-Identifier: Apache-2.0 */
/* sitegate.h - gates of sites in this process's memory, which may be gone: a plugin that
 * logged and was unloaded leaves its definitions in the box. */
#ifndef GPURT_HOST_SITEGATE_H
#define GPURT_HOST_SITEGATE_H

#include "boxmap.h"

/* Writes the gate of definition `slot` if memory is there and still holds that site's
 * number. Context: any thread; code is not unloaded at this very moment. */
void gpurt_sitegate_store(const gpurt_def_t *def, uint32_t slot, uint32_t value);

/* All sites of a section forget their numbers. */
void gpurt_sitegate_forget(const gpurt_boxmap_t *map, uint32_t section);

#endif
