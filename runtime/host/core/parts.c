/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

const gpurt_part_t *const gpurt_parts[] = {
    &gpurt_part_services,   /* before all: they use the rest */
    &gpurt_part_heaps,      /* one of gpurt_open's own ends while the viewer still looks */
    &gpurt_part_viewer,     /* a last look before anything goes */
    &gpurt_part_panicwatch, /* looks at guards and at the box */
    &gpurt_part_guards,     /* their words lie in the device's memory */
    &gpurt_part_panics,     /* those that no wait has told, of the box */
    &gpurt_part_streams,
    &gpurt_part_hostcalls, /* they serve until no kernel runs */
    &gpurt_part_channels,  /* what ended channels had; no kernel runs */
    &gpurt_part_log,       /* last: all others may still say something */
    NULL};
