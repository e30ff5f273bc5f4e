/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.h - what device memory holds, to a file and back, byte for byte.
 *
 *     gpurt_checkpoint_t *c;
 *     gpurt_checkpoint_create(rt, &c, &err);
 *     gpurt_checkpoint_add_heap(c, "objects", &heap, 0, &err);
 *     gpurt_checkpoint_add_memory(c, "state", 1, state, sizeof *state, &err);
 *     gpurt_checkpoint_save(c, "run.ckpt", &err);         now and then
 *     gpurt_checkpoint_load(c, "run.ckpt", &err);         in the next process
 *
 * A program registers the same parts in each process, by the same names; so does each part
 * of the runtime that has a state. Saving and loading wait for all work first and are done
 * between kernels: a running kernel has no state that could be kept. Services that declared a
 * heap of the checkpoint rest meanwhile (GPURT_E_TIMEOUT names one that does not); all others
 * run on, so what they write is not to be a part. A file is written
 * beside its name and takes the name when it is whole and on the disk. Loading checks every
 * byte of the file before it touches anything, and reads back what it wrote.
 *
 * Addresses. Pointers into a heap are kept as they are, so a heap is restored where it was:
 * on the CPU its range is asked for and refused if it is taken (GPURT_E_MOVED); a GPU gives
 * addresses as it likes, and one that differs is refused too. GPURT_CHECKPOINT_MAY_MOVE
 * takes what comes: for a heap whose objects name one another by offsets from heap.chunks.
 * Memory that is registered with add_memory is the program's own, at whatever address.
 * Context of all calls: host; one thread at a time a checkpoint. */
#ifndef GPURT_CHECKPOINT_H
#define GPURT_CHECKPOINT_H

#include <gpurt/heap.h>

enum {
    GPURT_CHECKPOINT_NAME = 48, /* of a part, its end included */
    GPURT_CHECKPOINT_PARTS = 64,
    GPURT_CHECKPOINT_MAY_MOVE = 1 /* flag of a heap */
};

typedef struct gpurt_checkpoint gpurt_checkpoint_t;
/* A part's bytes on their way, valid during save or load. */
typedef struct gpurt_checkpoint_stream gpurt_checkpoint_stream_t;

/* A part of the runtime. save writes, load reads the same number of bytes in the same
 * order. version: of what they write. */
typedef struct gpurt_checkpoint_part {
    uint32_t struct_size; /* sizeof(gpurt_checkpoint_part_t) */
    uint32_t version;
    void *context;
    gpurt_status_t (*save)(void *context, gpurt_t *rt, gpurt_checkpoint_stream_t *to,
                           gpurt_error_t *err);
    gpurt_status_t (*load)(void *context, gpurt_t *rt, gpurt_checkpoint_stream_t *from,
                           gpurt_error_t *err);
    /* The id of a heap that it is part of: services that declared it (services.h) rest while all
     * parts are saved. NULL, or 0: none. */
    uint32_t (*heap)(void *context);
} gpurt_checkpoint_part_t;

/* What a file says of a part. */
typedef struct gpurt_checkpoint_entry {
    char name[GPURT_CHECKPOINT_NAME];
    uint32_t version;
    uint32_t check; /* CRC-32C of its bytes */
    uint64_t bytes;
} gpurt_checkpoint_entry_t;

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_checkpoint_create(gpurt_t *rt, gpurt_checkpoint_t **out,
                                       gpurt_error_t *err);
void gpurt_checkpoint_destroy(gpurt_checkpoint_t *c); /* NULL is allowed */

/* Names are copied and must differ. memory and heap are borrowed: saving a heap that was
 * destroyed says GPURT_E_HANDLE. */
gpurt_status_t gpurt_checkpoint_add(gpurt_checkpoint_t *c, const char *name,
                                    const gpurt_checkpoint_part_t *part,
                                    gpurt_error_t *err);
gpurt_status_t gpurt_checkpoint_add_memory(gpurt_checkpoint_t *c, const char *name,
                                           uint32_t version, void *memory, size_t bytes,
                                           gpurt_error_t *err);
/* To be loaded, *heap is zeroed: the heap is made. */
gpurt_status_t gpurt_checkpoint_add_heap(gpurt_checkpoint_t *c, const char *name,
                                         gpurt_heap_t *heap, uint32_t flags,
                                         gpurt_error_t *err);

gpurt_status_t gpurt_checkpoint_save(gpurt_checkpoint_t *c, const char *path,
                                     gpurt_error_t *err);
/* Every part must be in the file with its version; parts of the file that nobody registered
 * are left out.
 * Returns: GPURT_E_TRUNCATED, GPURT_E_VERSION (of the file or of a part), GPURT_E_DAMAGED,
 * GPURT_E_PART (none of that name): nothing was touched. GPURT_E_MOVED: a heap, and those
 * parts that come after it in the order of registration, were not restored. */
gpurt_status_t gpurt_checkpoint_load(gpurt_checkpoint_t *c, const char *path,
                                     gpurt_error_t *err);

/* Checks a file as load does and lists its parts; entries: room of them, or NULL. */
gpurt_status_t gpurt_checkpoint_look(const char *path, gpurt_checkpoint_entry_t *entries,
                                     uint32_t room, uint32_t *count, gpurt_error_t *err);

/* For parts: device or host memory. */
gpurt_status_t gpurt_checkpoint_write(gpurt_checkpoint_stream_t *to, const void *memory,
                                      size_t bytes, gpurt_error_t *err);
/* Reads back what it has stored and compares. */
gpurt_status_t gpurt_checkpoint_read(gpurt_checkpoint_stream_t *from, void *memory,
                                     size_t bytes, gpurt_error_t *err);
uint64_t gpurt_checkpoint_left(const gpurt_checkpoint_stream_t *from); /* bytes */

GPURT_END_DECLS

#endif
