/* SPDX-License-Identifier: Apache-2.0 */
/* A program without CUDA kernels: it runs on the CPU and says why, and a GPU asked for is
 * refused with the remedy. */
#include "../check.h"
#include "fake_backend.h"

#include <stdlib.h>

static void opens_cpu(void)
{
    gpurt_t *rt = fake_gpurt_open(NULL);
    gpurt_info_t info;

    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    CHECK_EQ(info.backend, GPURT_BACKEND_CPU);
    CHECK_STR(info.why, "cpu: this program has no CUDA kernels linked");
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
}

static void refuses_cuda(const gpurt_options_t *options)
{
    gpurt_error_t err = {0};
    gpurt_t *rt;

    CHECK_EQ(gpurt_open(options, &rt, &err), GPURT_E_BACKEND);
    CHECK(!rt);
    CHECK_CONTAINS(err.text, "no CUDA kernels linked");
    CHECK_CONTAINS(err.text, "GPURT_BACKEND=cpu");
}

int main(void)
{
    gpurt_options_t cuda = {.struct_size = sizeof cuda, .backend = GPURT_BACKEND_CUDA};

    fake_reset();
    CHECK(gpurt_has("cpu"));
    CHECK(gpurt_has("schedule"));
    CHECK(gpurt_has("scope-check"));
    CHECK(!gpurt_has("cuda"));
    CHECK(!gpurt_has("cud"));
    CHECK(!gpurt_has(""));
    CHECK(!gpurt_has(NULL));
    CHECK_EQ(gpurt_version(), GPURT_VERSION);
    opens_cpu();
    refuses_cuda(&cuda);
    setenv("GPURT_BACKEND", "cuda", 1);
    refuses_cuda(NULL);
    setenv("GPURT_BACKEND", "cpu", 1);
    CHECK_EQ(gpurt_close(fake_gpurt_open(&cuda), NULL), GPURT_OK);
    return 0;
}
