/* SPDX-License-Identifier: Apache-2.0 */
#include "panichang.h"

#include "environ.h"
#include "tell.h"

#include <stdlib.h>

#define SECOND_NS  1000000000ull
#define LIMIT_MOST (366ull * 24 * 3600) /* seconds */

void gpurt_panichang_init(gpurt_panichang_t *h, const gpurt_opened_t *opened)
{
    const char *value = gpurt_env_get("GPURT_PANIC_LIMIT");
    uint64_t limit = gpurt_tell_number("GPURT_PANIC_LIMIT", value, 0);

    *h = (gpurt_panichang_t){.opened = opened};
    if (limit == 0 || !opened->ops->hang_mark)
        return;
    h->limit_ns = (limit < LIMIT_MOST ? limit : LIMIT_MOST) * SECOND_NS;
    if (!opened->ops->hang_prepare(opened->self))
        gpurt_tell("GPURT_PANIC_LIMIT: this GPU cannot be told to end a kernel, so the "
                   "process is ended instead");
}

static uint32_t seconds(uint64_t ns)
{
    return (uint32_t)(ns / SECOND_NS);
}

/* What runs now holds the kernel of the panic, unless that has ended. A mark costs a call into the
 * driver, so one a second is enough. */
static void mark(gpurt_panichang_t *h, uint32_t failed, uint64_t now_ns)
{
    if (failed == h->seen || now_ns < h->next_ns)
        return;
    h->seen = failed;
    h->next_ns = now_ns + SECOND_NS;
    if (h->opened->ops->hang_mark(h->opened->self))
        h->since_ns = now_ns;
}

static void tell(gpurt_panichang_t *h, uint64_t waited_ns)
{
    h->told = true;
    gpurt_tell_always(
        "%u s after that panic its GPU still works on what ran then: "
        "code that counts arrivals (cuda::barrier, mbarrier) or polls a flag "
        "waits for ever for the threads that ended; -DGPURT_PANIC_TRAP=2 ends "
        "its kernel at the panic, GPURT_PANIC_LIMIT=10 after 10 s",
        seconds(waited_ns));
}

/* The context is lost with it: there is no other way to end a kernel that does not look. */
static void end(gpurt_panichang_t *h)
{
    h->ended = true;
    gpurt_tell_always("GPURT_PANIC_LIMIT=%u: what ran at that panic is ended, and "
                      "the CUDA context with it",
                      seconds(h->limit_ns));
    h->opened->ops->hang_end(h->opened->self);
}

void gpurt_panichang_look(gpurt_panichang_t *h, uint32_t failed, uint64_t now_ns)
{
    uint64_t waited_ns;

    if (!h->opened->ops->hang_mark || (h->told && !h->limit_ns))
        return;
    if (h->since_ns == 0) {
        mark(h, failed, now_ns);
        return;
    }
    if (!h->opened->ops->hang_busy(h->opened->self)) {
        h->since_ns = 0;
        return;
    }
    waited_ns = now_ns - h->since_ns;
    if (!h->told && !h->ended && waited_ns >= GPURT_PANICHANG_TELL_NS)
        tell(h, waited_ns);
    if (h->limit_ns && !h->ended && waited_ns >= h->limit_ns)
        end(h);
    if (h->ended && waited_ns >= h->limit_ns + GPURT_PANICHANG_GRACE_NS) {
        gpurt_tell_always("GPURT_PANIC_LIMIT=%u: it fills the GPU, so that nothing "
                          "there can end it: the process is ended",
                          seconds(h->limit_ns));
        abort();
    }
}
