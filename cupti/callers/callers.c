/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "callers.h"

#include "launchhook.h"
#include "nativecalls.h"
#include "pystack.h"
#include "trouble.h"

#include <errno.h>
#include <gpurt/atomic.h>
#include <gpurt/impl/activity.h>
#include <pthread.h>
#include <string.h>

enum {
    STACKS = 1024,
    LATE = 256,   /* of them, at most, of threads that were looked at later: they go on */
    SLOTS = 2048, /* a power of two */
    TEXT_BYTES = 512 << 10
};

typedef struct way {
    uint64_t hash;
    const char *calls_text; /* made when it is told first; written by: who tells */
    const char *python;
    uint32_t whose;
    nativecalls_t calls;
} way_t;

/* One process. */
static struct {
    pylayout_found_t python; /* fixed before `xready` is 1 */
    uint32_t xready;         /* written by: begin, the looker (look) */
    uint32_t xbegun;         /* written by: begin, behind all that it writes */
    bool found;     /* or it is known that none is read; who begins, then the looker */
    uint32_t xfull; /* written by: any thread */
    pthread_mutex_t lock; /* guards what is below; never held while anything else is */
    uint32_t count, late, text_bytes;
    uint16_t slots[SLOTS]; /* numbers; 0: free */
    way_t of[STACKS];      /* number - 1 */
    char text[TEXT_BYTES];
} callers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- whether there is Python ----------------------------------------------------------- */

static void unknown_tell(const pylayout_found_t *found)
{
    if (found->free_threaded)
        trouble_say(TROUBLE_NOTE,
                    "frames of Python are not read of a free-threaded CPython 3.%u: gpurt "
                    "reads 3.%d to 3.%d with the lock; calls of host code are there",
                    found->minor, PYLAYOUT_OLDEST, PYLAYOUT_NEWEST);
    else if (found->minor)
        trouble_say(TROUBLE_NOTE,
                    "frames of Python are not read of CPython 3.%u: gpurt reads 3.%d to "
                    "3.%d; calls of host code are there",
                    found->minor, PYLAYOUT_OLDEST, PYLAYOUT_NEWEST);
    else
        trouble_say(
            TROUBLE_NOTE,
            "frames of Python are not read: the version of its CPython is not known; "
            "gpurt reads 3.%d to 3.%d; calls of host code are there",
            PYLAYOUT_OLDEST, PYLAYOUT_NEWEST);
}

static void python_find(void)
{
    const pylayout_answer_t answer = pylayout_find(&callers.python);

    callers.found = answer != PYLAYOUT_ABSENT;
    if (answer == PYLAYOUT_UNKNOWN)
        unknown_tell(&callers.python);
    else if (answer == PYLAYOUT_READY && !peek_works())
        trouble_say(TROUBLE_NOTE,
                    "frames of Python are not read: process_vm_readv: %s; a container "
                    "refuses it, let its seccomp profile allow it",
                    strerror(errno));
    else if (answer == PYLAYOUT_READY)
        gpurt_store_release_dev_u32(&callers.xready, 1); /* PYS1.rel */
}

void callers_begin(const cupti_api_t *api)
{
    if (gpurt_load_relaxed_dev_u32(&callers.xbegun)) /* relaxed: one thread begins */
        return;
    nativecalls_begin(api);
    python_find();
    gpurt_store_release_dev_u32(&callers.xbegun, 1); /* PYS2.rel */
}

/* The looker may come while CUPTI is still being loaded. */
void callers_look(void)
{
    if (!gpurt_load_acquire_dev_u32(&callers.xbegun)) /* PYS2.acq */
        return;
    if (!callers.found)
        python_find();
    /* relaxed: a hint */
    if (gpurt_load_relaxed_dev_u32(&callers.xfull) == 1) {
        gpurt_store_relaxed_dev_u32(&callers.xfull, 2); /* relaxed: told */
        trouble_say(TROUBLE_NOTE,
                    "who launches is not known of each launch: there are more than %d ways",
                    STACKS - 1);
    }
}

/* ---- numbers --------------------------------------------------------------------------- */

/* The slot of a stack: its own, or the free one that it would have. Under the lock. */
static uint16_t *slot_of(uint64_t hash)
{
    uint32_t at = (uint32_t)(hash % SLOTS);

    while (callers.slots[at] && callers.of[callers.slots[at] - 1].hash != hash)
        at = (at + 1) % SLOTS;
    return &callers.slots[at];
}

static uint32_t number_of(uint64_t hash)
{
    uint32_t number;

    pthread_mutex_lock(&callers.lock);
    number = *slot_of(hash);
    pthread_mutex_unlock(&callers.lock);
    return number;
}

static void is_full(void)
{
    if (gpurt_load_relaxed_dev_u32(&callers.xfull) == 0) /* relaxed: a hint */
        gpurt_store_relaxed_dev_u32(&callers.xfull, 1);  /* relaxed: likewise */
}

/* Under the lock. Returns: NULL: there is no room. */
static const char *text_keep(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = callers.text + callers.text_bytes;

    if (bytes > TEXT_BYTES - callers.text_bytes) {
        is_full();
        return NULL;
    }
    memcpy(copy, text, bytes);
    callers.text_bytes += (uint32_t)bytes;
    return copy;
}

static bool is_of_launch(uint32_t whose)
{
    return whose != GPURT_PYTHON_NOW && whose != GPURT_PYTHON_WAITS_NOW;
}

static uint32_t stack_add(uint64_t hash, const nativecalls_t *calls, const char *python,
                          uint32_t whose)
{
    uint16_t *slot;
    uint32_t number;

    pthread_mutex_lock(&callers.lock);
    slot = slot_of(hash);
    if (*slot == 0 && callers.count < STACKS - 1 &&
        (is_of_launch(whose) || callers.late < LATE)) {
        way_t *s = &callers.of[callers.count];

        callers.late += !is_of_launch(whose);

        s->hash = hash;
        s->python = python[0] ? text_keep(python) : NULL;
        s->whose = s->python ? whose : (uint32_t)GPURT_PYTHON_NONE;
        if (calls)
            s->calls = *calls;
        *slot = (uint16_t)++callers.count;
    }
    number = *slot;
    pthread_mutex_unlock(&callers.lock);
    if (number == 0)
        is_full();
    return number;
}

/* ---- taking ---------------------------------------------------------------------------- */

static bool python_is_ready(void)
{
    return gpurt_load_acquire_dev_u32(&callers.xready) != 0; /* PYS1.acq */
}

/* A stack is paid for by time: each pause pays for one, and at most so many are saved up for a burst.
 * Whoever has nothing saved waits for its number. */
LAUNCHHOOK_PATH bool callers_turn(callers_pace_t pace, uint64_t now_ns)
{
    static const struct {
        uint64_t pause_ns;
        uint32_t every; /* 0: none beside */
    } paces[CALLERS_PACES] = {{20000000, 0}, {1000000, 16}};
    static __thread struct {
        uint64_t paid_ns;
        uint32_t passed;
    } turns[CALLERS_PACES] __attribute__((tls_model("initial-exec")));
    const uint64_t pause = paces[pace].pause_ns, most = CALLERS_SAVED * pause;
    uint64_t *paid = &turns[pace].paid_ns;

    if (now_ns - *paid > most)
        *paid = now_ns - most;
    if (now_ns - *paid >= pause)
        *paid += pause;
    else if (!paces[pace].every || ++turns[pace].passed < paces[pace].every)
        return false;
    turns[pace].passed = 0;
    return true;
}

/* A stack whose frames make no sense has no text; it is kept all the same, so that it is read in
 * full but once. */
static uint32_t number_make(uint64_t hash, const nativecalls_t *calls,
                            const pystack_t *stack, bool now)
{
    uint32_t number = number_of(hash), whose;
    char python[PYSTACK_TEXT] = "";

    if (number)
        return number;
    whose = now ? (stack->waits ? GPURT_PYTHON_WAITS_NOW : GPURT_PYTHON_NOW)
                : (stack->waits ? GPURT_PYTHON_WAITS : GPURT_PYTHON_OWN);
    if (stack->count)
        pystack_write(&callers.python, stack, python);
    return stack_add(hash, calls, python, whose);
}

static uint64_t self(void)
{
    return (uint64_t)pthread_self();
}

uint32_t callers_take(bool native)
{
    pystack_t stack = {0};
    nativecalls_t calls;
    uint64_t hash = 1;

    if (python_is_ready())
        pystack_read(&callers.python, self(), true, &stack);
    if (stack.count)
        hash = pystack_hash(&stack);
    if (native) {
        nativecalls_take(&calls);
        hash ^= nativecalls_hash(&calls) << 1;
    } else if (stack.count == 0)
        return 0;
    return number_make(hash, native ? &calls : NULL, &stack, false);
}

uint32_t callers_of(uint64_t thread)
{
    pystack_t stack;

    if (!python_is_ready() || !pystack_read(&callers.python, thread, false, &stack))
        return 0;
    return number_make(pystack_hash(&stack) ^ 2, NULL, &stack, true);
}

/* ---- telling --------------------------------------------------------------------------- */

/* The loader is asked while no lock is held. */
static const char *calls_text(way_t *s)
{
    char text[NATIVECALLS_TEXT];

    if (s->calls_text || s->calls.count == 0)
        return s->calls_text;
    nativecalls_write(&s->calls, text);
    pthread_mutex_lock(&callers.lock);
    s->calls_text = text_keep(text);
    pthread_mutex_unlock(&callers.lock);
    return s->calls_text;
}

void callers_tell(uint32_t number, callers_text_t *out)
{
    way_t *s = number ? &callers.of[number - 1] : NULL;

    *out = (callers_text_t){0};
    if (!s)
        return;
    out->calls = calls_text(s);
    out->python = s->python;
    out->whose = s->whose;
}
