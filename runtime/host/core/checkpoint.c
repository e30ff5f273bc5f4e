/* SPDX-License-Identifier: Apache-2.0 */
/* The file: a head, then each part's entry and bytes, padded to 8. All numbers little
 * endian. */
#include "checkpointown.h"
#include "crc32c.h"
#include "outfile.h"
#include "ownwait.h"
#include "refuse.h"
#include "servicerest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x31504b4354525047ull /* "GPRTCKP1" */

enum {
    FILE_VERSION = 1,
    STAGE_BYTES = 1 << 20
};

typedef struct file_head {
    uint64_t magic;
    uint32_t version, head_bytes, entry_bytes, part_count;
    uint64_t bytes;                /* of the file */
    uint32_t gpurt_version, check; /* CRC-32C of all before */
} file_head_t;
GPURT_STATIC_ASSERT(sizeof(file_head_t) == 40, "version 1");

typedef struct part_head {
    gpurt_checkpoint_entry_t entry;
    uint32_t check, reserved; /* CRC-32C of the entry */
} part_head_t;
GPURT_STATIC_ASSERT(sizeof(part_head_t) == 72, "version 1");

typedef struct part {
    char name[GPURT_CHECKPOINT_NAME];
    gpurt_checkpoint_part_t ops;
    void *owned; /* context of ours, to be freed */
} part_t;

/* Owner: the caller. */
struct gpurt_checkpoint {
    gpurt_t *rt;
    part_t parts[GPURT_CHECKPOINT_PARTS];
    uint32_t count;
};

/* Owner: save or load. */
struct gpurt_checkpoint_stream {
    gpurt_t *rt;
    FILE *file;
    char *stage, *back; /* STAGE_BYTES each */
    uint64_t left;      /* of the part; while reading */
    uint64_t bytes;     /* of the part so far; while writing */
    uint32_t check;
};

/* ---- streams ------------------------------------------------------------------------- */
static gpurt_status_t stream_open(gpurt_checkpoint_stream_t *s, gpurt_t *rt, FILE *file,
                                  gpurt_error_t *err)
{
    *s = (gpurt_checkpoint_stream_t){.rt = rt, .file = file};
    s->stage = (char *)malloc(STAGE_BYTES);
    s->back = (char *)malloc(STAGE_BYTES);
    return s->stage && s->back
               ? GPURT_OK
               : gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "checkpoint");
}

static void stream_close(gpurt_checkpoint_stream_t *s)
{
    free(s->stage);
    free(s->back);
}

static gpurt_status_t copy(gpurt_t *rt, void *to, const void *from, size_t bytes,
                           gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, to, from, bytes, err);

    return st == GPURT_OK ? gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err) : st;
}

gpurt_status_t gpurt_checkpoint_write(gpurt_checkpoint_stream_t *s, const void *memory,
                                      size_t bytes, gpurt_error_t *err)
{
    const char *from = (const char *)memory;

    while (bytes) {
        size_t step = bytes < STAGE_BYTES ? bytes : STAGE_BYTES;
        gpurt_status_t st = copy(s->rt, s->stage, from, step, err);

        if (st != GPURT_OK)
            return st;
        if (fwrite(s->stage, 1, step, s->file) != step)
            return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                              "writing a checkpoint");
        s->check = gpurt_crc32c(s->check, s->stage, step);
        s->bytes += step;
        from += step;
        bytes -= step;
    }
    return GPURT_OK;
}

gpurt_status_t gpurt_checkpoint_read(gpurt_checkpoint_stream_t *s, void *memory,
                                     size_t bytes, gpurt_error_t *err)
{
    char *to = (char *)memory;

    if (bytes > s->left)
        return REFUSE(err, GPURT_E_DAMAGED,
                      "checkpoint: a part is shorter than what reads it");
    s->left -= bytes;
    while (bytes) {
        size_t step = bytes < STAGE_BYTES ? bytes : STAGE_BYTES;
        gpurt_status_t st;

        if (fread(s->stage, 1, step, s->file) != step)
            return REFUSE(err, GPURT_E_TRUNCATED, "checkpoint: the file became shorter");
        st = copy(s->rt, to, s->stage, step, err);
        if (st == GPURT_OK)
            st = copy(s->rt, s->back, to, step, err);
        if (st != GPURT_OK)
            return st;
        if (memcmp(s->stage, s->back, step) != 0)
            return REFUSE(err, GPURT_E_DAMAGED,
                          "checkpoint: memory at %p does not hold what was stored; does a "
                          "kernel run?",
                          (void *)to);
        to += step;
        bytes -= step;
    }
    return GPURT_OK;
}

uint64_t gpurt_checkpoint_left(const gpurt_checkpoint_stream_t *s)
{
    return s->left;
}

/* ---- parts --------------------------------------------------------------------------- */
gpurt_status_t gpurt_checkpoint_create(gpurt_t *rt, gpurt_checkpoint_t **out,
                                       gpurt_error_t *err)
{
    gpurt_checkpoint_t *c = (gpurt_checkpoint_t *)calloc(1, sizeof *c);

    *out = c;
    if (!c)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "checkpoint");
    c->rt = rt;
    return GPURT_OK;
}

void gpurt_checkpoint_destroy(gpurt_checkpoint_t *c)
{
    for (uint32_t i = 0; c && i < c->count; i++)
        free(c->parts[i].owned);
    free(c);
}

static part_t *part_of(gpurt_checkpoint_t *c, const char *name)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->parts[i].name, name) == 0)
            return &c->parts[i];
    return NULL;
}

gpurt_status_t gpurt_checkpoint_add(gpurt_checkpoint_t *c, const char *name,
                                    const gpurt_checkpoint_part_t *part, gpurt_error_t *err)
{
    part_t *p = &c->parts[c->count];

    if (!part || part->struct_size != sizeof *part || !part->save || !part->load)
        return REFUSE(err, GPURT_E_INVALID,
                      "checkpoint: a part needs struct_size, save and load");
    if (!name || !*name || strlen(name) >= GPURT_CHECKPOINT_NAME)
        return REFUSE(err, GPURT_E_INVALID,
                      "checkpoint: a part's name has 1 to %d characters",
                      GPURT_CHECKPOINT_NAME - 1);
    if (part_of(c, name))
        return REFUSE(err, GPURT_E_INVALID, "checkpoint: it has a part \"%s\" already",
                      name);
    if (c->count == GPURT_CHECKPOINT_PARTS)
        return REFUSE(err, GPURT_E_INVALID, "checkpoint: it has %d parts, the limit",
                      GPURT_CHECKPOINT_PARTS);
    memset(p, 0, sizeof *p);
    strcpy(p->name, name);
    p->ops = *part;
    c->count++;
    return GPURT_OK;
}

typedef struct region {
    void *memory;
    size_t bytes;
} region_t;

static gpurt_status_t region_save(void *context, gpurt_t *rt, gpurt_checkpoint_stream_t *to,
                                  gpurt_error_t *err)
{
    const region_t *r = (const region_t *)context;

    (void)rt;
    return gpurt_checkpoint_write(to, r->memory, r->bytes, err);
}

static gpurt_status_t region_load(void *context, gpurt_t *rt,
                                  gpurt_checkpoint_stream_t *from, gpurt_error_t *err)
{
    const region_t *r = (const region_t *)context;

    (void)rt;
    if (gpurt_checkpoint_left(from) != r->bytes)
        return REFUSE(err, GPURT_E_VERSION,
                      "checkpoint: memory of %zu bytes, the file has %llu", r->bytes,
                      (unsigned long long)gpurt_checkpoint_left(from));
    return gpurt_checkpoint_read(from, r->memory, r->bytes, err);
}

gpurt_status_t gpurt_checkpoint_add_owned(gpurt_checkpoint_t *c, const char *name,
                                          gpurt_checkpoint_part_t *part,
                                          const void *context, size_t bytes,
                                          gpurt_error_t *err)
{
    gpurt_status_t st;

    part->struct_size = sizeof *part;
    part->context = malloc(bytes);
    if (!part->context)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "checkpoint");
    memcpy(part->context, context, bytes);
    st = gpurt_checkpoint_add(c, name, part, err);
    if (st == GPURT_OK)
        c->parts[c->count - 1].owned = part->context;
    else
        free(part->context);
    return st;
}

gpurt_status_t gpurt_checkpoint_add_memory(gpurt_checkpoint_t *c, const char *name,
                                           uint32_t version, void *memory, size_t bytes,
                                           gpurt_error_t *err)
{
    gpurt_checkpoint_part_t part = {
        .version = version, .save = region_save, .load = region_load};
    const region_t region = {memory, bytes};

    if (!memory && bytes)
        return REFUSE(err, GPURT_E_INVALID, "checkpoint: %zu bytes at NULL", bytes);
    return gpurt_checkpoint_add_owned(c, name, &part, &region, sizeof region, err);
}

/* ---- saving -------------------------------------------------------------------------- */
static gpurt_status_t os_error(gpurt_error_t *err, const char *doing, const char *path)
{
    return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s %s", doing, path);
}

static gpurt_status_t part_save(gpurt_checkpoint_stream_t *s, const part_t *p,
                                gpurt_error_t *err)
{
    static const char zeros[8];
    part_head_t head = {.entry = {.version = p->ops.version}};
    long at = ftell(s->file), end;
    gpurt_status_t st;

    memcpy(head.entry.name, p->name, sizeof head.entry.name);
    s->check = 0;
    s->bytes = 0;
    if (fwrite(&head, sizeof head, 1, s->file) != 1)
        return os_error(err, "writing", "a checkpoint");
    st = p->ops.save(p->ops.context, s->rt, s, err);
    if (st != GPURT_OK)
        return st;
    head.entry.bytes = s->bytes;
    head.entry.check = s->check;
    head.check = gpurt_crc32c(0, &head.entry, sizeof head.entry);
    fwrite(zeros, 1, (size_t)(-s->bytes & 7), s->file);
    end = ftell(s->file);
    if (fseek(s->file, at, SEEK_SET) != 0 || fwrite(&head, sizeof head, 1, s->file) != 1 ||
        fseek(s->file, end, SEEK_SET) != 0)
        return os_error(err, "writing", "a checkpoint");
    return GPURT_OK;
}

static gpurt_status_t file_save(gpurt_checkpoint_t *c, FILE *file, gpurt_error_t *err)
{
    file_head_t head = {.magic = MAGIC,
                        .version = FILE_VERSION,
                        .head_bytes = sizeof head,
                        .entry_bytes = sizeof(part_head_t),
                        .part_count = c->count,
                        .gpurt_version = GPURT_VERSION};
    gpurt_checkpoint_stream_t s;
    gpurt_status_t st = stream_open(&s, c->rt, file, err);

    if (st == GPURT_OK && fwrite(&head, sizeof head, 1, file) != 1)
        st = os_error(err, "writing", "a checkpoint");
    for (uint32_t i = 0; i < c->count && st == GPURT_OK; i++)
        st = part_save(&s, &c->parts[i], err);
    stream_close(&s);
    if (st != GPURT_OK)
        return st;
    head.bytes = (uint64_t)ftell(file);
    head.check = gpurt_crc32c(0, &head, offsetof(file_head_t, check));
    if (fseek(file, 0, SEEK_SET) != 0 || fwrite(&head, sizeof head, 1, file) != 1 ||
        fflush(file) != 0 || fsync(fileno(file)) != 0)
        return os_error(err, "writing", "a checkpoint");
    return GPURT_OK;
}

/* A file of a process that died with our number is in the way. */
static FILE *beside_open(const char *beside, gpurt_error_t *err)
{
    if (unlink(beside) != 0 && errno != ENOENT) {
        os_error(err, "removing", beside);
        return NULL;
    }
    return gpurt_outfile_stream(beside, GPURT_OUTFILE_NEW, GPURT_OUTFILE_OWN, err);
}

/* Written beside `place`, which it takes when it is whole. */
static gpurt_status_t file_make(gpurt_checkpoint_t *c, const char *place,
                                gpurt_error_t *err)
{
    size_t room = strlen(place) + 32;
    char *beside = (char *)malloc(room);
    gpurt_status_t st = GPURT_OK;
    FILE *file;

    if (!beside)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "checkpoint");
    snprintf(beside, room, "%s.%d.part", place, (int)getpid());
    file = beside_open(beside, err);
    if (file) {
        st = file_save(c, file, err);
        if (fclose(file) != 0 && st == GPURT_OK)
            st = os_error(err, "writing", beside);
        if (st == GPURT_OK && rename(beside, place) != 0)
            st = os_error(err, "renaming to", place);
        if (st != GPURT_OK)
            unlink(beside);
    }
    free(beside);
    return file ? st : GPURT_E_OS;
}

/* Kernels end before services rest: one may wait for what a service does. */
static gpurt_status_t all_rest(const gpurt_checkpoint_t *c, gpurt_service_rest_t *rest,
                               gpurt_error_t *err)
{
    uint32_t heaps[GPURT_CHECKPOINT_PARTS], count = 0;
    gpurt_status_t st = gpurt_own_sync(c->rt, err);

    for (uint32_t i = 0; i < c->count; i++) {
        const gpurt_checkpoint_part_t *ops = &c->parts[i].ops;

        if (ops->heap)
            heaps[count++] = ops->heap(ops->context);
    }
    return st == GPURT_OK ? gpurt_services_rest(c->rt, heaps, count, rest, err) : st;
}

gpurt_status_t gpurt_checkpoint_save(gpurt_checkpoint_t *c, const char *path,
                                     gpurt_error_t *err)
{
    char place[PATH_MAX];
    gpurt_service_rest_t rest;
    gpurt_status_t st = gpurt_outfile_place(path, place, sizeof place, err);

    if (st == GPURT_OK)
        st = all_rest(c, &rest, err);
    if (st != GPURT_OK)
        return st;
    st = file_make(c, place, err);
    gpurt_services_resume(&rest);
    return st;
}

/* ---- reading ------------------------------------------------------------------------- */
/* A file that was checked: where each part begins. Owner: the call. */
typedef struct checked {
    gpurt_checkpoint_entry_t entries[GPURT_CHECKPOINT_PARTS];
    long at[GPURT_CHECKPOINT_PARTS];
    uint32_t count;
} checked_t;

static gpurt_status_t head_read(FILE *file, const char *path, file_head_t *head,
                                gpurt_error_t *err)
{
    uint64_t bytes;

    if (fseek(file, 0, SEEK_END) != 0)
        return os_error(err, "reading", path);
    bytes = (uint64_t)ftell(file);
    rewind(file);
    if (bytes < sizeof *head)
        return REFUSE(err, GPURT_E_TRUNCATED, "%s: too short for a checkpoint", path);
    if (fread(head, sizeof *head, 1, file) != 1)
        return os_error(err, "reading", path);
    if (head->magic != MAGIC)
        return REFUSE(err, GPURT_E_DAMAGED, "%s is not a checkpoint", path);
    if (head->version != FILE_VERSION)
        return REFUSE(err, GPURT_E_VERSION, "%s: version %u, this library reads %d", path,
                      head->version, FILE_VERSION);
    if (head->check != gpurt_crc32c(0, head, offsetof(file_head_t, check)) ||
        head->head_bytes != sizeof *head || head->entry_bytes != sizeof(part_head_t) ||
        head->part_count > GPURT_CHECKPOINT_PARTS)
        return REFUSE(err, GPURT_E_DAMAGED, "%s is damaged: its head is wrong", path);
    if (bytes < head->bytes)
        return REFUSE(err, GPURT_E_TRUNCATED, "%s is cut off: it has %llu of %llu bytes",
                      path, (unsigned long long)bytes, (unsigned long long)head->bytes);
    if (bytes > head->bytes)
        return REFUSE(err, GPURT_E_DAMAGED, "%s: longer than it says", path);
    return GPURT_OK;
}

/* Reads all bytes of a part. */
static bool part_sound(FILE *file, const gpurt_checkpoint_entry_t *e, char *stage)
{
    uint64_t padded = (e->bytes + 7) & ~7ull, left = e->bytes;
    uint32_t check = 0;

    while (left) {
        size_t step = left < STAGE_BYTES ? (size_t)left : STAGE_BYTES;

        if (fread(stage, 1, step, file) != step)
            return false;
        check = gpurt_crc32c(check, stage, step);
        left -= step;
    }
    memset(stage, 0, 8);
    return check == e->check &&
           fread(stage, 1, (size_t)(padded - e->bytes), file) == padded - e->bytes &&
           memcmp(stage, "\0\0\0\0\0\0\0", 8) == 0;
}

static gpurt_status_t file_check(FILE *file, const char *path, checked_t *out,
                                 gpurt_error_t *err)
{
    char *stage = (char *)malloc(STAGE_BYTES);
    file_head_t head = {0};
    gpurt_status_t st =
        stage ? head_read(file, path, &head, err)
              : gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "checkpoint");

    out->count = 0;
    for (uint32_t i = 0; st == GPURT_OK && i < head.part_count; i++) {
        part_head_t part;

        if (fread(&part, sizeof part, 1, file) != 1 ||
            part.check != gpurt_crc32c(0, &part.entry, sizeof part.entry) ||
            part.reserved || part.entry.name[GPURT_CHECKPOINT_NAME - 1] ||
            part.entry.bytes > head.bytes) {
            st = REFUSE(err, GPURT_E_DAMAGED, "%s is damaged: the head of part %u is wrong",
                        path, i + 1);
            break;
        }
        out->entries[i] = part.entry;
        out->at[i] = ftell(file);
        out->count++;
        if (!part_sound(file, &part.entry, stage))
            st = REFUSE(err, GPURT_E_DAMAGED,
                        "%s is damaged: the checksum of part %s is wrong", path,
                        part.entry.name);
    }
    if (st == GPURT_OK && (uint64_t)ftell(file) != head.bytes)
        st = REFUSE(err, GPURT_E_DAMAGED, "%s: its parts do not fill it", path);
    free(stage);
    return st;
}

static gpurt_status_t file_open(const char *path, FILE **file, checked_t *checked,
                                gpurt_error_t *err)
{
    gpurt_status_t st;

    *file = fopen(path, "re");
    if (!*file)
        return os_error(err, "opening", path);
    st = file_check(*file, path, checked, err);
    if (st != GPURT_OK)
        fclose(*file);
    return st;
}

gpurt_status_t gpurt_checkpoint_look(const char *path, gpurt_checkpoint_entry_t *entries,
                                     uint32_t room, uint32_t *count, gpurt_error_t *err)
{
    checked_t checked;
    FILE *file;
    gpurt_status_t st = file_open(path, &file, &checked, err);

    *count = 0;
    if (st != GPURT_OK)
        return st;
    fclose(file);
    *count = checked.count;
    for (uint32_t i = 0; entries && i < checked.count && i < room; i++)
        entries[i] = checked.entries[i];
    return GPURT_OK;
}

static uint32_t entry_of(const checked_t *checked, const char *name)
{
    uint32_t i = 0;

    while (i < checked->count && strcmp(checked->entries[i].name, name) != 0)
        i++;
    return i;
}

static gpurt_status_t parts_match(const gpurt_checkpoint_t *c, const checked_t *checked,
                                  const char *path, gpurt_error_t *err)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t at = entry_of(checked, c->parts[i].name);

        if (at == checked->count)
            return REFUSE(err, GPURT_E_PART, "%s: no part is called %s", path,
                          c->parts[i].name);
        if (checked->entries[at].version != c->parts[i].ops.version)
            return REFUSE(err, GPURT_E_VERSION, "%s: %s has version %u, the program %u",
                          path, c->parts[i].name, checked->entries[at].version,
                          c->parts[i].ops.version);
    }
    return GPURT_OK;
}

gpurt_status_t gpurt_checkpoint_load(gpurt_checkpoint_t *c, const char *path,
                                     gpurt_error_t *err)
{
    gpurt_checkpoint_stream_t s;
    checked_t checked;
    FILE *file;
    gpurt_status_t st = gpurt_own_sync(c->rt, err);

    if (st == GPURT_OK)
        st = file_open(path, &file, &checked, err);
    if (st != GPURT_OK)
        return st;
    st = parts_match(c, &checked, path, err);
    if (st == GPURT_OK)
        st = stream_open(&s, c->rt, file, err);
    else
        s = (gpurt_checkpoint_stream_t){0};
    for (uint32_t i = 0; st == GPURT_OK && i < c->count; i++) {
        uint32_t at = entry_of(&checked, c->parts[i].name);

        s.left = checked.entries[at].bytes;
        if (fseek(file, checked.at[at], SEEK_SET) != 0)
            st = os_error(err, "reading", path);
        else
            st = c->parts[i].ops.load(c->parts[i].ops.context, c->rt, &s, err);
        if (st == GPURT_OK && s.left)
            st = REFUSE(err, GPURT_E_DAMAGED, "%s: %llu bytes of %s were left", path,
                        (unsigned long long)s.left, c->parts[i].name);
    }
    stream_close(&s);
    fclose(file);
    return st;
}
