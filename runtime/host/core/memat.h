/* SPDX-License-Identifier: Apache-2.0 */
/* memat.h - device memory at an address of the caller's: for what comes out of a file and
 * holds pointers. */
#ifndef GPURT_HOST_MEMAT_H
#define GPURT_HOST_MEMAT_H

#include <gpurt/gpurt.h>

/* Free it with gpurt_mem_destroy. GPURT_E_MOVED: the range is taken.
 * GPURT_E_UNSUPPORTED, and *err is left alone: the back end cannot choose. */
gpurt_status_t gpurt_mem_create_at(gpurt_t *rt, size_t bytes, void *at, void **out,
                                   gpurt_error_t *err);

#endif
