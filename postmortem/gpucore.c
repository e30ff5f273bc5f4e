/* SPDX-License-Identifier: Apache-2.0 */
#include "gpucore.h"

#include "filemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND(n) (0x80000000u + (n))
enum {
    ROWS_SMALLEST = 8, /* no table has shorter rows */
    DEVICES_MAX = 64,
    GRIDS_MAX = 1 << 12,
    SMS_MAX = 1 << 14,
    WARPS_MAX = 1 << 18, /* of blocks too: 27 H200 full of warps */
    IMAGES_MAX = 1 << 16,
    SPANS_MAX = 1 << 16,
    CUDA_OSABI = 0x33,
    MIB = 1 << 20,
    DUMP_MAX_MIB = 64 << 10
};
enum kind {
    MANAGED_MEMORY = 1,
    GLOBAL_MEMORY = 2,
    REGISTERS = 5,
    RELOCATED_IMAGE = 7,
    CALLS = 8,
    DEVICES = 9,
    CONTEXTS = 10,
    SMS = 11,
    GRIDS = 12,
    BLOCKS = 13,
    WARPS = 14,
    LANES = 15,
    PREDICATES = 17,
    UNIFORM_REGISTERS = 19,
    ABOUT = 22
};

/* ---- sections by parent ------------------------------------------------------------ */
typedef struct child {
    uint64_t key;
    uint32_t section;
} child_t;

static uint64_t child_key(uint32_t table, uint32_t kind, uint32_t row)
{
    return (uint64_t)table << 32 | (uint64_t)(kind & 0xff) << 24 | (row & 0xffffff);
}

static int by_key(const void *a, const void *b)
{
    const child_t *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->section < y->section ? -1 : x->section > y->section;
}

static bool children_index(gpucore_t *core)
{
    child_t *list = calloc(core->elf.count, sizeof *list);
    elfsection_t s;

    if (!list)
        return false;
    for (uint32_t i = 0; i < core->elf.count; i++) {
        elfview_section(&core->elf, i, &s);
        core->about.cut = core->about.cut || s.cut;
        if (s.type <= KIND(0) || s.type > KIND(255) || s.info > 0xffffff)
            continue;
        list[core->child_count].key = child_key(s.link, s.type - KIND(0), s.info);
        list[core->child_count++].section = i;
    }
    qsort(list, core->child_count, sizeof *list, by_key);
    core->children = list;
    return true;
}

/* Returns: the number of the section of a kind that belongs to a row of a table; 0:
 * none. */
static uint32_t child_find(const gpucore_t *core, uint32_t table, uint32_t kind,
                           uint32_t row)
{
    const child_t *list = core->children;
    uint64_t key = child_key(table, kind, row);
    uint32_t low = 0, high = core->child_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < core->child_count && list[low].key == key ? list[low].section : 0;
}

/* ---- tables ------------------------------------------------------------------------ */
typedef struct table {
    elfsection_t section;
    uint32_t number, rows;
} table_t;

static table_t table_of(const gpucore_t *core, uint32_t section)
{
    table_t t = {.number = section};

    if (section == 0 || !elfview_section(&core->elf, section, &t.section) ||
        t.section.row_bytes < ROWS_SMALLEST)
        return t;
    t.rows = t.section.data.size / t.section.row_bytes > WARPS_MAX
                 ? WARPS_MAX
                 : (uint32_t)(t.section.data.size / t.section.row_bytes);
    return t;
}

static bytes_t table_row(const table_t *t, uint32_t row)
{
    return bytes_part(t->section.data, row * t->section.row_bytes, t->section.row_bytes);
}

static void take_triple(uint32_t out[3], bytes_t row, uint32_t at)
{
    for (uint32_t i = 0; i < 3; i++)
        out[i] = bytes_u32(row, at + 4 * i);
}

/* Makes room for one more of *list. Returns: NULL without memory or beyond max. */
static void *grow(void **list, uint32_t count, size_t size, uint32_t max)
{
    if (count >= max)
        return NULL;
    if ((count & (count - 1)) == 0) { /* at 0, 1, 2, 4, 8 */
        void *wider = realloc(*list, (count ? 2u * (size_t)count : 1) * size);

        if (!wider)
            return NULL;
        *list = wider;
    }
    return memset((char *)*list + count * size, 0, size);
}
#define GROW(core, what, max) \
    grow((void **)&(core)->what##s, (core)->what##_count, sizeof *(core)->what##s, max)

static bool warps_read(gpucore_t *core, uint32_t block, uint32_t section)
{
    table_t t = table_of(core, section);

    core->blocks[block].warp = core->warp_count;
    for (uint32_t i = 0; i < t.rows; i++) {
        bytes_t row = table_row(&t, i);
        gpucore_warp_t *w = GROW(core, warp, WARPS_MAX);

        if (!w)
            return core->warp_count >= WARPS_MAX;
        core->warp_count++;
        core->blocks[block].warp_count++;
        w->block = block;
        w->error_pc = bytes_u64(row, 0);
        w->slot = bytes_u32(row, 8);
        w->valid = bytes_u32(row, 12);
        w->active = bytes_u32(row, 16);
        w->has_error_pc = bytes_u32(row, 24) != 0;
        w->registers = bytes_u32(row, 32);
        w->shared_bytes = bytes_u32(row, 40);
        w->row = i;
        w->section = section;
        w->lanes = child_find(core, section, LANES, i);
    }
    return true;
}

static int32_t grid_of(const gpucore_t *core, uint32_t device, uint64_t id)
{
    for (uint32_t i = 0; i < core->grid_count; i++)
        if (core->grids[i].id == id && core->grids[i].device == device)
            return (int32_t)i;
    return GPUCORE_NONE;
}

static bool blocks_read(gpucore_t *core, uint32_t sm, uint32_t section)
{
    table_t t = table_of(core, section);

    for (uint32_t i = 0; i < t.rows; i++) {
        bytes_t row = table_row(&t, i);
        gpucore_block_t *b = GROW(core, block, WARPS_MAX);

        if (!b)
            return core->block_count >= WARPS_MAX;
        core->block_count++;
        b->sm = sm;
        b->grid_id = bytes_u64(row, 0);
        b->grid = grid_of(core, core->sms[sm].device, b->grid_id);
        take_triple(b->index, row, 8);
        take_triple(b->cluster, row, 24);
        if (!warps_read(core, core->block_count - 1, child_find(core, section, WARPS, i)))
            return false;
    }
    return true;
}

static bool sms_read(gpucore_t *core, uint32_t device, uint32_t section)
{
    table_t t = table_of(core, section);

    for (uint32_t i = 0; i < t.rows; i++) {
        bytes_t row = table_row(&t, i);
        gpucore_sm_t *s = GROW(core, sm, SMS_MAX);

        if (!s)
            return core->sm_count >= SMS_MAX;
        core->sm_count++;
        s->device = device;
        s->id = bytes_u32(row, 0);
        s->exception = bytes_u32(row, 8);
        s->has_error_pc = bytes_u32(row, 12) != 0;
        s->error_pc = bytes_u64(row, 16);
        if (!blocks_read(core, core->sm_count - 1, child_find(core, section, BLOCKS, i)))
            return false;
    }
    return true;
}

static bool grids_read(gpucore_t *core, uint32_t device, uint32_t section)
{
    table_t t = table_of(core, section);

    for (uint32_t i = 0; i < t.rows; i++) {
        bytes_t row = table_row(&t, i);
        gpucore_grid_t *g = GROW(core, grid, GRIDS_MAX);

        if (!g)
            return core->grid_count >= GRIDS_MAX;
        core->grid_count++;
        g->device = device;
        g->id = bytes_u64(row, 0);
        g->entry = bytes_u64(row, 24);
        g->parent_id = bytes_u64(row, 40);
        g->registers = bytes_u32(row, 68);
        take_triple(g->grid, row, 72);
        take_triple(g->block, row, 84);
        take_triple(g->cluster, row, 104);
    }
    return true;
}

static bool device_read(gpucore_t *core, const table_t *t, uint32_t row_number)
{
    bytes_t row = table_row(t, row_number), names = core->names;
    gpucore_device_t *d = GROW(core, device, DEVICES_MAX);
    uint32_t device = core->device_count;

    if (!d)
        return core->device_count >= DEVICES_MAX;
    core->device_count++;
    d->name = bytes_text(names, bytes_u64(row, 0));
    d->type = bytes_text(names, bytes_u64(row, 8));
    d->id = bytes_u32(row, 24);
    d->sm_count = bytes_u32(row, 36);
    d->warps_per_sm = bytes_u32(row, 40);
    d->sm_major = bytes_u32(row, 56);
    d->sm_minor = bytes_u32(row, 60);
    d->instruction_bytes = bytes_u32(row, 64);
    return grids_read(core, device, child_find(core, t->number, GRIDS, row_number)) &&
           sms_read(core, device, child_find(core, t->number, SMS, row_number));
}

static void about_read(gpucore_t *core, bytes_t row)
{
    gpucore_about_t *a = &core->about;

    a->generator = bytes_text(core->names, bytes_u64(row, 0));
    a->driver_major = bytes_u32(row, 8);
    a->driver_minor = bytes_u32(row, 12);
    a->cuda_major = bytes_u32(row, 16);
    a->cuda_minor = bytes_u32(row, 20);
    a->flags = bytes_u32(row, 24);
    a->time_s = bytes_u32(row, 28);
}

static bool image_take(gpucore_t *core, bytes_t file)
{
    elfview_t elf;
    gpucore_image_t *image;

    if (!elfview_open(file, &elf))
        return true; /* said by nobody, missed by nobody */
    image = GROW(core, image, IMAGES_MAX);
    if (!image)
        return core->image_count >= IMAGES_MAX;
    core->image_count++;
    image->file = file;
    image->elf = elf;
    return true;
}

static bool span_take(gpucore_t *core, const elfsection_t *s)
{
    gpucore_span_t *span = GROW(core, span, SPANS_MAX);

    if (!span)
        return core->span_count >= SPANS_MAX;
    core->span_count++;
    span->address = s->address;
    span->bytes = s->data.size;
    return true;
}

static bool tables_read(gpucore_t *core)
{
    elfsection_t s;
    bool ok = true, seen = false;

    if (elfview_find(&core->elf, ".strtab", &s))
        core->names = s.data;
    for (uint32_t i = 0; i < core->elf.count && ok; i++) {
        elfview_section(&core->elf, i, &s);
        if (s.type == KIND(ABOUT)) {
            about_read(core, s.data);
        } else if (s.type == KIND(RELOCATED_IMAGE)) {
            ok = image_take(core, s.data);
        } else if (s.type == KIND(GLOBAL_MEMORY) || s.type == KIND(MANAGED_MEMORY)) {
            ok = span_take(core, &s);
        } else if (s.type == KIND(DEVICES) && !seen) {
            table_t t = table_of(core, i);

            seen = true;
            for (uint32_t row = 0; row < t.rows && ok; row++)
                ok = device_read(core, &t, row);
        }
    }
    return ok;
}

/* ---- opening ----------------------------------------------------------------------- */
bool gpucore_looks_like(const uint8_t *head, size_t size)
{
    bytes_t b = {head, size};

    return size >= 20 && memcmp(head, "\177ELF\2\1", 6) == 0 &&
           bytes_u16(b, 16) == ELFVIEW_ET_CORE && bytes_u16(b, 18) == ELFVIEW_EM_CUDA;
}

gpurt_status_t gpucore_open_bytes(bytes_t file, const char *name, gpucore_t **out,
                                  gpurt_error_t *err)
{
    gpucore_t *core;
    elfview_t elf;

    *out = NULL;
    if (!gpucore_looks_like(file.at, (size_t)file.size))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is no GPU core dump", name);
    if (!elfview_open(file, &elf))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s: the GPU core dump is cut off before its table of sections",
                          name);
    core = calloc(1, sizeof *core);
    if (!core)
        goto no_memory;
    core->file = file;
    core->elf = elf;
    core->about.cut = elf.cut;
    core->about.generator = "";
    if (!children_index(core) || !tables_read(core))
        goto no_memory;
    *out = core;
    return GPURT_OK;

no_memory:
    gpucore_close(core);
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%s: core dump", name);
}

gpurt_status_t gpucore_open(const char *path, gpucore_t **out, gpurt_error_t *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    gpurt_status_t st;
    bytes_t file;

    *out = NULL;
    if (fd < 0 || fstat(fd, &info) != 0)
        goto refused;
    if (!S_ISREG(info.st_mode) || info.st_size < 64 || info.st_size / MIB > DUMP_MAX_MIB) {
        close(fd);
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is no GPU core dump", path);
    }
    file.size = (uint64_t)info.st_size;
    file.at = gpurt_filemap(fd, 0, (size_t)file.size);
    if (!file.at)
        goto refused;
    close(fd);
    st = gpucore_open_bytes(file, path, out, err);
    if (st != GPURT_OK)
        munmap((void *)(uintptr_t)file.at, (size_t)file.size);
    else
        (*out)->mapped = true;
    return st;

refused:
    st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s: %s", path,
                    strerror(errno));
    if (fd >= 0)
        close(fd);
    return st;
}

void gpucore_close(gpucore_t *core)
{
    if (!core)
        return;
    if (core->mapped)
        munmap((void *)(uintptr_t)core->file.at, (size_t)core->file.size);
    free(core->devices);
    free(core->grids);
    free(core->sms);
    free(core->blocks);
    free(core->warps);
    free(core->images);
    free(core->spans);
    free(core->children);
    free(core);
}

/* ---- lanes ------------------------------------------------------------------------- */
bool gpucore_lane(const gpucore_t *core, const gpucore_warp_t *warp, uint32_t row_number,
                  gpucore_lane_t *out)
{
    table_t t = table_of(core, warp->lanes);
    bytes_t row;

    memset(out, 0, sizeof *out);
    if (row_number >= t.rows || row_number >= GPUCORE_LANES)
        return false;
    row = table_row(&t, row_number);
    out->row = row_number;
    out->pc = bytes_u64(row, 0);
    out->lane = bytes_u32(row, 16);
    take_triple(out->thread, row, 20);
    out->exception = bytes_u32(row, 32);
    out->depth = bytes_u32(row, 36);
    return out->lane < GPUCORE_LANES && (warp->valid >> out->lane & 1);
}

static uint32_t words_of(const gpucore_t *core, uint32_t section, uint32_t *out)
{
    elfsection_t s;
    uint64_t count;

    if (section == 0 || !elfview_section(&core->elf, section, &s))
        return 0;
    count =
        s.data.size / 4 < GPUCORE_REGISTERS_MAX ? s.data.size / 4 : GPUCORE_REGISTERS_MAX;
    for (uint32_t i = 0; i < count; i++)
        out[i] = bytes_u32(s.data, 4u * i);
    return (uint32_t)count;
}

uint32_t gpucore_registers(const gpucore_t *core, const gpucore_warp_t *warp,
                           const gpucore_lane_t *lane, uint32_t out[GPUCORE_REGISTERS_MAX])
{
    return words_of(core, child_find(core, warp->lanes, REGISTERS, lane->row), out);
}

uint32_t gpucore_uniform(const gpucore_t *core, const gpucore_warp_t *warp,
                         uint32_t out[GPUCORE_REGISTERS_MAX])
{
    return words_of(core, child_find(core, warp->section, UNIFORM_REGISTERS, warp->row),
                    out);
}

uint32_t gpucore_predicates(const gpucore_t *core, const gpucore_warp_t *warp,
                            const gpucore_lane_t *lane)
{
    uint32_t words[GPUCORE_REGISTERS_MAX], bits = 0;
    uint32_t count =
        words_of(core, child_find(core, warp->lanes, PREDICATES, lane->row), words);

    for (uint32_t i = 0; i < count && i < 32; i++)
        bits |= (uint32_t)(words[i] != 0) << i;
    return bits;
}

uint32_t gpucore_calls(const gpucore_t *core, const gpucore_warp_t *warp,
                       const gpucore_lane_t *lane, uint64_t out[GPUCORE_CALLS_MAX])
{
    table_t t = table_of(core, child_find(core, warp->lanes, CALLS, lane->row));
    uint32_t count = t.rows < GPUCORE_CALLS_MAX ? t.rows : GPUCORE_CALLS_MAX;

    for (uint32_t i = 0; i < count; i++)
        out[i] = bytes_u64(table_row(&t, i), 8);
    return count;
}
