/* SPDX-License-Identifier: Apache-2.0 */
/* service_app - a service that answers three times, and one that is named and idle; at the end of
 * standard input they end. */
#include "../must.h"

#include <gpurt/hostwords.h>
#include <gpurt/services.h>

#include "../kernels/service_kernels.h"

enum {
    BLOCKS = 2,
    ROUNDS = 3
};
#define WAIT_NS 30000000000ull

static gpurt_t *rt;
static gpurt_error_t err;
static const gpurt_launch_t shape = {.grid = {BLOCKS, 1, 1}, .block = {64, 1, 1}};

static void *host_memory(size_t bytes)
{
    void *memory;

    must(gpurt_host_create(rt, bytes, &memory, &err));
    memset(memory, 0, bytes);
    return memory;
}

static gpurt_service_t serve(struct service_args *a, const char *name)
{
    gpurt_service_options_t options = {.name = name};
    gpurt_service_t service;

    a->desk = host_memory(sizeof *a->desk);
    a->replies = host_memory(BLOCKS * sizeof *a->replies);
    must(gpurt_service_launch(rt, &shape, service_echo, a, &options, &service, &err));
    return service;
}

static void end(gpurt_service_t service, const struct service_args *a)
{
    must(gpurt_service_stop(rt, service, &err));
    must(gpurt_host_destroy(rt, a->desk));
    must(gpurt_host_destroy(rt, a->replies));
}

int main(void)
{
    struct service_args asked = {0}, idle = {0};
    gpurt_service_t echo, watch;

    must(gpurt_open(NULL, &rt, &err));
    echo = serve(&asked, NULL);
    watch = serve(&idle, "night watch");
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        must(gpurt_hostword_store(rt, &asked.desk->xask, round, &err));
        must(gpurt_service_ring(rt, echo));
        for (uint32_t b = 0; b < BLOCKS; b++)
            must(gpurt_hostword_wait(rt, &asked.replies[b].xround, round - 1, WAIT_NS, NULL,
                                     &err));
    }
    puts("answered");
    fflush(stdout);
    (void)getchar();
    end(echo, &asked);
    end(watch, &idle);
    must(gpurt_close(rt, &err));
    return 0;
}
