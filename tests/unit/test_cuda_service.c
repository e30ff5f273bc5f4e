/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA back end beside services, above a stand-in for the CUDA runtime: what it frees meanwhile is
 * freed behind the last of them, and GPURT_CUDA_WAITS=1 fails a call that would wait for one. */
#include "backend.h"

#include "check.h"
#include "fake_cuda.h"

static const gpurt_backend_ops_t *const ops = &gpurt_backend_cuda;

static void *open_healthy(void)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_info_t info = {0};
    gpurt_error_t err = {0};
    void *self = NULL;

    fake = fake_healthy;
    CHECK_MSG(ops->open(&options, 0, &info, &self, &err) == GPURT_OK, "%s", err.text);
    return self;
}

static uint32_t blocks_alive(void)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < FAKE_BLOCKS; i++)
        alive += fake.blocks[i] != NULL;
    return alive;
}

static void frees_wait_for_the_last_service(void *self)
{
    void *memory, *pinned, *before, *behind;

    CHECK_EQ(ops->mem_create(self, 64, &before, NULL), GPURT_OK);
    CHECK_EQ(ops->mem_destroy(self, before), GPURT_OK);
    CHECK_EQ(blocks_alive(), 0); /* at once: no service runs */
    ops->service_begin(self, NULL);
    ops->service_begin(self, NULL);
    CHECK_EQ(ops->mem_create(self, 64, &memory, NULL), GPURT_OK);
    CHECK_EQ(ops->host_create(self, 64, &pinned, NULL), GPURT_OK);
    CHECK_EQ(ops->mem_destroy(self, memory), GPURT_OK);
    CHECK_EQ(ops->host_destroy(self, pinned), GPURT_OK);
    CHECK_EQ(blocks_alive(), 2);
    ops->service_end(self);
    CHECK_EQ(blocks_alive(), 2);
    ops->service_end(self);
    CHECK_EQ(blocks_alive(), 0);
    CHECK_EQ(ops->mem_create(self, 64, &behind, NULL), GPURT_OK);
    CHECK_EQ(ops->mem_destroy(self, behind), GPURT_OK);
    CHECK_EQ(blocks_alive(), 0);
}

static void a_call_that_waits_fails(void *self)
{
    gpurt_error_t err = {0};

    CHECK_EQ(ops->sync(self, &err), GPURT_OK);
    ops->service_begin(self, NULL);
    CHECK_EQ(ops->sync(self, &err), GPURT_E_CUDA);
    CHECK_CONTAINS(err.text, "wait for the GPU");
    CHECK_EQ(ops->stream_sync(self, NULL, &err), GPURT_OK);
    CHECK_EQ(ops->strays_sync(self, &err), GPURT_OK);
    ops->service_end(self);
    CHECK_EQ(ops->sync(self, &err), GPURT_OK);
}

int main(void)
{
    void *self;

    gpurt_cuda_api = &fake_api;
    self = open_healthy();
    frees_wait_for_the_last_service(self);
    CHECK_EQ(ops->close(self, NULL), GPURT_OK);
    setenv("GPURT_CUDA_WAITS", "1", 1);
    self = open_healthy();
    a_call_that_waits_fails(self);
    frees_wait_for_the_last_service(self);
    CHECK_EQ(ops->close(self, NULL), GPURT_OK);
    return 0;
}
