/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved addresses of the CUDA back end against a stand-in for the driver: what is mapped
 * where, what a failure leaves behind, and that all is given back. */
#include "backend.h"

#include "check.h"
#include "fake_cuda.h"

#include <cuda.h>

#include <stdlib.h>
#include <string.h>

enum {
    MIB = 1 << 20,
    STEP = 2 * MIB,
    PIECES = 8
};

static const gpurt_backend_ops_t *const ops = &gpurt_backend_cuda;

/* ---- the stand-in -------------------------------------------------------------------- */

static struct driver {
    CUresult on_create, on_map, on_access, on_reserve;
    const char *missing; /* a function that this driver has not */
    size_t reserved, step;
    uint32_t created, released;
    struct {
        CUdeviceptr at;
        size_t bytes;
        bool writable;
    } mapped[PIECES];
    uint32_t count;
} driver;
#define BASE ((CUdeviceptr)0x700000000000)

static CUresult granularity(size_t *step, const CUmemAllocationProp *prop,
                            CUmemAllocationGranularity_flags flags)
{
    CHECK_EQ(prop->type, CU_MEM_ALLOCATION_TYPE_PINNED);
    CHECK_EQ(prop->location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    CHECK_EQ(prop->location.id, 1);
    CHECK_EQ(flags, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    *step = driver.step;
    return CUDA_SUCCESS;
}
static CUresult reserve(CUdeviceptr *at, size_t bytes, size_t align, CUdeviceptr wanted,
                        unsigned long long flags)
{
    CHECK(bytes % driver.step == 0 && align == 4 * MIB && wanted == 0 && flags == 0);
    if (driver.on_reserve == CUDA_SUCCESS) {
        driver.reserved = bytes;
        *at = BASE;
    }
    return driver.on_reserve;
}
static CUresult create(CUmemGenericAllocationHandle *handle, size_t bytes,
                       const CUmemAllocationProp *prop, unsigned long long flags)
{
    CHECK(bytes % driver.step == 0 && prop->location.id == 1 && flags == 0);
    if (driver.on_create == CUDA_SUCCESS)
        *handle = ++driver.created;
    return driver.on_create;
}
static CUresult map(CUdeviceptr at, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CHECK(offset == 0 && flags == 0 && handle == driver.created);
    CHECK(at >= BASE && at + bytes <= BASE + driver.reserved);
    if (driver.on_map == CUDA_SUCCESS) {
        CHECK(driver.count < PIECES);
        driver.mapped[driver.count].at = at;
        driver.mapped[driver.count].writable = false;
        driver.mapped[driver.count++].bytes = bytes;
    }
    return driver.on_map;
}
static CUresult set_access(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access,
                           size_t count)
{
    CHECK(count == 1 && access->location.id == 1);
    CHECK_EQ(access->flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (uint32_t i = 0; i < driver.count; i++)
        if (driver.mapped[i].at == at && driver.mapped[i].bytes == bytes)
            driver.mapped[i].writable = driver.on_access == CUDA_SUCCESS;
    return driver.on_access;
}
static CUresult unmap(CUdeviceptr at, size_t bytes)
{
    for (uint32_t i = 0; i < driver.count; i++)
        if (driver.mapped[i].at == at && driver.mapped[i].bytes == bytes) {
            driver.mapped[i] = driver.mapped[--driver.count];
            return CUDA_SUCCESS;
        }
    CHECK_MSG(false, "%zu bytes at 0x%llx were not mapped", bytes, (unsigned long long)at);
    return CUDA_ERROR_INVALID_VALUE;
}
static CUresult release(CUmemGenericAllocationHandle handle)
{
    CHECK(handle > 0 && handle <= driver.created);
    driver.released++;
    return CUDA_SUCCESS;
}
static CUresult address_free(CUdeviceptr at, size_t bytes)
{
    CHECK(at == BASE && bytes == driver.reserved && driver.count == 0);
    driver.reserved = 0;
    return CUDA_SUCCESS;
}

static void *entry_point(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"cuMemGetAllocationGranularity", (void (*)(void))granularity},
        {"cuMemAddressReserve", (void (*)(void))reserve},
        {"cuMemCreate", (void (*)(void))create},
        {"cuMemMap", (void (*)(void))map},
        {"cuMemSetAccess", (void (*)(void))set_access},
        {"cuMemUnmap", (void (*)(void))unmap},
        {"cuMemRelease", (void (*)(void))release},
        {"cuMemAddressFree", (void (*)(void))address_free},
    };
    void *found = NULL;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0 &&
            !(driver.missing && strcmp(name, driver.missing) == 0))
            memcpy(&found, &all[i].function, sizeof found);
    return found;
}

/* ---- tests --------------------------------------------------------------------------- */

static void *open_healthy(void)
{
    gpurt_options_t options = {.struct_size = sizeof options, .device = 1};
    gpurt_info_t info = {0};
    void *self = NULL;

    fake = fake_healthy;
    fake.count = 2;
    fake.entry_point = entry_point;
    driver = (struct driver){.step = STEP};
    CHECK_EQ(ops->open(&options, 0, &info, &self, NULL), GPURT_OK);
    return self;
}

static void close_clean(void *self)
{
    CHECK_EQ(ops->close(self, NULL), GPURT_OK);
    CHECK_EQ(fake.streams, 0);
    CHECK_EQ(driver.created, driver.released);
    CHECK_EQ(driver.count, 0);
    CHECK_EQ(driver.reserved, 0);
}

/* All from the base up to `bytes` is mapped, writable, once. */
static void check_backed(size_t bytes)
{
    size_t sum = 0;

    for (uint32_t i = 0; i < driver.count; i++) {
        CHECK(driver.mapped[i].writable);
        CHECK(driver.mapped[i].at + driver.mapped[i].bytes <= BASE + bytes);
        for (uint32_t k = 0; k < i; k++)
            CHECK(driver.mapped[k].at != driver.mapped[i].at);
        sum += driver.mapped[i].bytes;
    }
    CHECK_EQ(sum, bytes);
}

static void test_backed_piece_by_piece(void)
{
    void *self = open_healthy();
    uint64_t words[4] = {1, 2, 3, 4}, told[4] = {0};
    gpurt_range_t r = {0};

    CHECK_EQ(ops->range_create(self, 64 * MIB, &r, NULL), GPURT_OK);
    CHECK_EQ((uintptr_t)r.base, BASE);
    CHECK_EQ(r.bytes, 64 * MIB);
    CHECK_EQ(ops->range_back(self, &r, 4 * MIB, NULL), GPURT_OK);
    CHECK_EQ(ops->range_back(self, &r, 20 * MIB, NULL), GPURT_OK);
    CHECK_EQ(ops->range_back(self, &r, 8 * MIB, NULL), GPURT_OK); /* is there already */
    check_backed(20 * MIB);
    CHECK_EQ(r.backed, 20 * MIB);
    CHECK_EQ(ops->range_tell(self, &r, told, words, 4, NULL), GPURT_OK);
    CHECK(memcmp(told, words, sizeof words) == 0);
    CHECK_EQ(fake.current, 0); /* the thread's own device is as it was */
    CHECK_EQ(ops->range_destroy(self, &r), GPURT_OK);
    close_clean(self);
}

static void test_failures(void)
{
    static const CUresult full = CUDA_ERROR_OUT_OF_MEMORY;
    void *self = open_healthy();
    gpurt_error_t err = {0};
    gpurt_range_t r = {0};

    driver.missing = "cuMemSetAccess";
    CHECK_EQ(ops->range_create(self, 64 * MIB, &r, &err), GPURT_E_UNSUPPORTED);
    CHECK_CONTAINS(err.text, "reserve_bytes");
    driver.missing = NULL;
    driver.on_reserve = full;
    CHECK_EQ(ops->range_create(self, 64 * MIB, &r, &err), GPURT_E_NOMEM);
    driver.on_reserve = CUDA_SUCCESS;
    driver.step = 3 * MIB;
    CHECK_EQ(ops->range_create(self, 63 * MIB, &r, &err), GPURT_E_UNSUPPORTED);
    driver.step = STEP;
    CHECK(r.base == NULL);
    CHECK_EQ(ops->range_create(self, 64 * MIB, &r, &err), GPURT_OK);
    CHECK_EQ(ops->range_back(self, &r, 4 * MIB, &err), GPURT_OK);
    driver.on_create = full;
    CHECK_EQ(ops->range_back(self, &r, 8 * MIB, &err), GPURT_E_NOMEM);
    driver.on_create = CUDA_SUCCESS;
    driver.on_map = CUDA_ERROR_NOT_SUPPORTED;
    CHECK_EQ(ops->range_back(self, &r, 8 * MIB, &err), GPURT_E_UNSUPPORTED);
    driver.on_map = CUDA_SUCCESS;
    driver.on_access = CUDA_ERROR_INVALID_VALUE;
    CHECK_EQ(ops->range_back(self, &r, 8 * MIB, &err), GPURT_E_CUDA);
    driver.on_access = CUDA_SUCCESS;
    CHECK_EQ(r.backed, 4 * MIB);
    check_backed(4 * MIB);
    CHECK_EQ(ops->range_back(self, &r, 8 * MIB, &err),
             GPURT_OK); /* it goes on after that */
    check_backed(8 * MIB);
    CHECK_EQ(ops->range_destroy(self, &r), GPURT_OK);
    close_clean(self);
}

int main(void)
{
    gpurt_cuda_api = &fake_api;
    test_backed_piece_by_piece();
    test_failures();
    return 0;
}
