/* SPDX-License-Identifier: Apache-2.0 */
/* filemap.h - what a file holds, as memory. Whoever has a file mapped ends by SIGBUS when it is cut:
 * only files of our own user are mapped, others are copied; so is what begins within a page. */
#ifndef GPURT_BASE_FILEMAP_H
#define GPURT_BASE_FILEMAP_H

#include <gpurt/base.h>

/* The bytes from offset on. Changes of the file may be seen, changes
 * of the memory are nobody else's. Returns: for munmap; NULL with errno, ENODATA where the file ends
 * sooner. */
void *gpurt_filemap(int fd, uint64_t offset, size_t bytes);

#endif
