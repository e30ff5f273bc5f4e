/* SPDX-License-Identifier: Apache-2.0 */
/* How the CUDA back end ties kernels to a black box: what it registers, what each unit is
 * told, how the clock is fitted, and that every step that fails leaves nothing behind. A
 * stand-in plays the GPU. */
#include "backend.h"

#include "boxmap.h"
#include "check.h"
#include "cuda_clock_mail.h"
#include "fake_cuda.h"
#include "logunit.h"

#include "hosttime.h"
#include "ringread.h"
#include <gpurt/impl/trail.h>

#include <pthread.h>
#include <unistd.h>

enum {
    SLOTS = 2048 / 32,
    AHEAD_NS = 5000000, /* the played GPU's clock against real time */
    SLOW_PPM = 1000     /* ... where it is slow */
};

static const gpurt_backend_ops_t *const ops = &gpurt_backend_cuda;
static gpurt_error_t err;
static gpurt_boxmap_t map;
static void *self;

/* ---- the GPU's end of a clock measurement --------------------------------------------- */

static struct gpurt_clock_args played_args;
static uint64_t slow_since; /* from then on the clock is slow; 0: it is not */

static uint64_t device_now(void)
{
    uint64_t now = gpurt_real_ns();

    return now + AHEAD_NS - (slow_since ? (now - slow_since) / 1000000 * SLOW_PPM : 0);
}

static void *clock_play(void *unused)
{
    struct gpurt_cuda_mail *mail = played_args.mail;

    for (uint32_t trip = played_args.first; trip != played_args.first + GPURT_CLOCK_TRIPS;
         trip++) {
        gpurt_group_t answer = {trip, {0, 0, 0}};
        uint64_t now;

        while (gpurt_load_relaxed_sys_u32(&mail->xasked) != trip)
            if (gpurt_load_relaxed_sys_u32(&mail->xasked) == GPURT_CLOCK_STOP)
                return unused;
        now = device_now();
        answer.word[0] = (uint32_t)now;
        answer.word[1] = (uint32_t)(now >> 32);
        gpurt_group_store(&mail->xanswer, answer);
    }
    return unused;
}

static pthread_t player;
static bool playing;

static void clock_awaited(void)
{
    if (playing)
        CHECK(pthread_join(player, NULL) == 0);
    playing = false;
}

static void clock_launched(void *args)
{
    clock_awaited();
    played_args = *(struct gpurt_clock_args *)args;
    CHECK(pthread_create(&player, NULL, clock_play, NULL) == 0);
    playing = true;
}

/* ---- frame ----------------------------------------------------------------------------- */

static void machine_start(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CUDA,
                              .sm_count = FAKE_SMS,
                              .warp_slots = SLOTS,
                              .ring_bytes = 4096};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_info_t info;

    fake = fake_healthy;
    CHECK_EQ(ops->open(NULL, 0, &info, &self, &err), GPURT_OK);
    CHECK_EQ(info.sm_count * info.warp_slots, FAKE_SMS * SLOTS);
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
}

static void nothing_left(void)
{
    CHECK(fake.registered == NULL);
    for (int i = 0; i < FAKE_BLOCKS; i++)
        CHECK(fake.blocks[i] == NULL);
}

static void machine_end(void)
{
    nothing_left();
    (void)ops->close(self, NULL);
    gpurt_boxmap_detach(&map);
}

static bool in_box(const void *part)
{
    return (const char *)part > (const char *)map.box &&
           (const char *)part < (const char *)map.box + map.bytes;
}

/* ---- tests ----------------------------------------------------------------------------- */

/* A message through a unit's port, as a kernel writes it, is one that a drainer reads. */
static void message_passes(const gpurt_log_port_t *port, uint32_t ring)
{
    gpurt_ring_port_t p = {
        port->groups + (size_t)ring * port->group_count, port->group_count, port->policy,
        port->controls + ring,
        (gpurt_ring_head_t *)(port->heads +
                              gpurt_log_gpu_head(ring / SLOTS, ring % SLOTS))};
    gpurt_group_t g = {0, {7, 8, 9}};
    uint32_t at;

    CHECK(gpurt_ring_take(&p, 1, 1, 1, &at));
    CHECK_EQ(at, GPURT_RING_START);
    g.tag = gpurt_tag_first(at, 0, 1);
    gpurt_group_store(gpurt_ring_at(&p, at), g);
    CHECK_EQ(gpurt_group_load(gpurt_boxmap_groups(&map, 0, ring) +
                              (at & (port->group_count - 1)))
                 .word[1],
             8);
}

static void connected(void)
{
    gpurt_log_port_t seen = {0};
    gpurt_log_unit_t unit = {.symbol = &seen};

    machine_start();
    gpurt_log_unit_add(&unit);
    CHECK_MSG(ops->box_connect(self, &map, 0, &err) == GPURT_OK, "%s", err.text);
    CHECK(fake.registered == map.box && fake.registered_bytes == map.bytes);
    CHECK_EQ(fake.register_flags, cudaHostRegisterMapped | cudaHostRegisterPortable);
    CHECK(in_box(seen.groups) && in_box(seen.controls) && in_box(seen.defs) &&
          in_box(seen.panics) && in_box(seen.xpanics) && in_box(seen.control));
    CHECK(!in_box(seen.heads) && !in_box(seen.strings) && !in_box(seen.xdefs));
    CHECK_MSG(!seen.trails, "nobody makes notes: no memory for them");
    CHECK_EQ(seen.ring_count, FAKE_SMS * SLOTS);
    CHECK_EQ(*seen.xdefs, 0);
    message_passes(&seen, 0);
    message_passes(&seen, seen.ring_count - 1);
    ops->box_disconnect(self, &map, 0);
    CHECK_MSG(seen.groups == NULL, "a unit still writes into a box that is gone");
    gpurt_log_unit_remove(&unit);
    machine_end();
}

/* Kernels that note things for their panics: a trail a warp slot, empty, given back. */
static void noted(void)
{
    gpurt_log_port_t seen = {0}, other = {0};
    gpurt_log_unit_t unit = {.symbol = &seen, .trails = 1}, plain = {.symbol = &other};

    machine_start();
    gpurt_log_unit_add(&unit);
    gpurt_log_unit_add(&plain);
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    CHECK_MSG(seen.trails && !in_box(seen.trails), "in device memory");
    CHECK_MSG(other.trails == seen.trails, "whoever panics tells what others have noted");
    CHECK_EQ(seen.trails[seen.ring_count - 1].xowner, 0);
    ops->box_disconnect(self, &map, 0);
    CHECK_MSG(!seen.trails, "they are gone");
    gpurt_log_unit_remove(&plain);
    gpurt_log_unit_remove(&unit);
    machine_end();
}

static void nop(const void *args)
{
    (void)args;
}

/* A plugin loaded after gpurt_open logs from its first launch on. */
static void greeted_late(void)
{
    static const int stub;
    static const void *const stub_at = &stub;
    gpurt_log_port_t seen = {0}, other = {0};
    gpurt_log_unit_t unit = {.symbol = &seen}, removed = {.symbol = &other};
    gpurt_kernel_t kernel = {"k", 4, 4, nop, &stub_at, 0};
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    uint32_t args = 0;

    machine_start();
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    gpurt_log_unit_add(&unit);
    gpurt_log_unit_add(&removed);
    gpurt_log_unit_remove(&removed);
    CHECK(seen.groups == NULL);
    CHECK_EQ(ops->launch(self, NULL, &launch, &kernel, &args, 4, &err), GPURT_OK);
    CHECK(in_box(seen.groups));
    CHECK(other.groups == NULL);
    ops->box_disconnect(self, &map, 0);
    gpurt_log_unit_remove(&unit);
    machine_end();
}

/* The fit is never further off than it says; and it says little where both threads run, which
 * on a busy machine takes some tries. */
static void clock_fitted(void)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t tries = 0; best >= 1000000; tries++) {
        gpurt_clock_fit_t fit;
        int64_t ahead;

        CHECK_MSG(tries < 1000, "never closer than %u ns", best);
        machine_start();
        fake.played = clock_launched;
        fake.awaited = clock_awaited;
        CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
        CHECK(gpurt_boxmap_clock(&map, 0, &fit));
        ahead = (int64_t)(fit.device_ns - fit.real_ns);
        CHECK_MSG(llabs(ahead - AHEAD_NS) <= (int64_t)fit.error_ns,
                  "%lld ns ahead, not %d +- %u", (long long)ahead, AHEAD_NS, fit.error_ns);
        best = fit.error_ns < best ? fit.error_ns : best;
        ops->box_disconnect(self, &map, 0);
        machine_end();
    }
}

/* On a slow clock, where less than a second lies between two fits a second apart. */
static void clock_rate(void)
{
    gpurt_clock_fit_t first, fit;
    uint64_t until = gpurt_real_ns() + 20000000000u;
    double expected, off;

    machine_start();
    slow_since = gpurt_real_ns();
    fake.played = clock_launched;
    fake.awaited = clock_awaited;
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    CHECK(gpurt_boxmap_clock(&map, 0, &first));
    for (fit = first; fit.rate_ppb == 0 && gpurt_real_ns() < until;) {
        first =
            fit; /* a first one that was poor, as on a busy machine, is replaced at once */
        CHECK_EQ(ops->sync(self, &err), GPURT_OK); /* its end is when clocks are compared */
        usleep(1000);
        CHECK(gpurt_boxmap_clock(&map, 0, &fit));
    }
    expected = 1e9 * SLOW_PPM / (1e6 - SLOW_PPM);
    off = (double)(first.error_ns + fit.error_ns) /
          (double)(fit.device_ns - first.device_ns) * 1e9;
    CHECK_MSG((double)fit.rate_ppb > expected - off - 2000 &&
                  (double)fit.rate_ppb < expected + off + 2000,
              "%lld ppb, not %.0f +- %.0f", (long long)fit.rate_ppb, expected, off);
    ops->box_disconnect(self, &map, 0);
    machine_end();
    slow_since = 0;
}

/* A GPU too full for the measuring thread: no log is refused for that, no open hangs. */
static void clock_unanswered(void)
{
    gpurt_clock_fit_t fit;

    machine_start();
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    CHECK(gpurt_boxmap_clock(&map, 0, &fit));
    CHECK_EQ(fit.error_ns, UINT32_MAX);
    CHECK_EQ(fit.device_ns, fit.real_ns);
    ops->box_disconnect(self, &map, 0);
    machine_end();
}

static void step_fails(cudaError_t *step, cudaError_t code, const char *says)
{
    gpurt_log_port_t seen = {0};
    gpurt_log_unit_t unit = {.symbol = &seen};

    machine_start();
    gpurt_log_unit_add(&unit);
    *step = code;
    CHECK(ops->box_connect(self, &map, 0, &err) != GPURT_OK);
    CHECK_CONTAINS(err.text, says);
    CHECK_EQ(fake.pending, cudaSuccess);
    *step = cudaSuccess;
    nothing_left();
    ops->box_disconnect(self, &map, 0); /* of what never came to be */
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    ops->box_disconnect(self, &map, 0);
    gpurt_log_unit_remove(&unit);
    machine_end();
}

/* Code for other GPUs only is left alone. */
static void unit_without_code(void)
{
    gpurt_log_port_t seen = {0};
    gpurt_log_unit_t unit = {.symbol = &seen};

    machine_start();
    gpurt_log_unit_add(&unit);
    fake.on_symbol = cudaErrorInvalidSymbol;
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    CHECK_EQ(fake.pending, cudaSuccess);
    ops->box_disconnect(self, &map, 0);
    gpurt_log_unit_remove(&unit);
    machine_end();
}

/* After a trap nothing can be given back through CUDA, and nothing is tried. */
static void context_dead(void)
{
    machine_start();
    CHECK_EQ(ops->box_connect(self, &map, 0, &err), GPURT_OK);
    fake.dead = cudaErrorIllegalAddress;
    CHECK(ops->sync(self, &err) != GPURT_OK);
    ops->box_disconnect(self, &map, 0);
    CHECK(fake.registered == map.box);
    (void)ops->close(self, NULL);
    for (int i = 0; i < FAKE_BLOCKS; i++)
        free(fake.blocks[i]);
    gpurt_boxmap_detach(&map);
}

int main(void)
{
    gpurt_cuda_api = &fake_api;
    connected();
    noted();
    greeted_late();
    clock_fitted();
    clock_rate();
    clock_unanswered();
    step_fails(&fake.on_register, cudaErrorMemoryAllocation, "GPURT_RING_BYTES");
    step_fails(&fake.on_pointer, cudaErrorMemoryAllocation, "register the black box");
    step_fails(&fake.on_malloc, cudaErrorMemoryAllocation, "GPU memory for the log");
    step_fails(&fake.on_symbol, cudaErrorMemoryAllocation, "tell kernels where to log");
    unit_without_code();
    context_dead();
    return 0;
}
