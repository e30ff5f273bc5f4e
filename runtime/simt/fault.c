/* SPDX-License-Identifier: Apache-2.0 */
/* Signals raised by a lane become a fault of its kernel. The handler runs on a stack of its own,
 * notes what happened, and leaves to the worker's main fiber for good: the lane's stack, which
 * may be full, is not touched again. A signal that no lane raised goes to whoever handled it
 * before. abort() in a lane ends the process; it is told first. Under a sanitizer nothing is installed: its own report is the better one. */
#include "simt.h"

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "process.h"
#include "sanitizer.h"

enum {
    SIGNAL_STACK_BYTES = 64 * 1024
};

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum {
    WATCHED = sizeof watched / sizeof watched[0]
};

static struct sigaction before[WATCHED]; /* written by: install, under install_mutex */
static uint32_t installs;
static gpurt_lock_t install_mutex = GPURT_LOCK_INIT;

static void pass_to_previous(int signal, siginfo_t *info, void *context)
{
    for (uint32_t i = 0; i < WATCHED; i++) {
        const struct sigaction *a = &before[i];

        if (watched[i] != signal)
            continue;
        if (a->sa_flags & SA_SIGINFO) {
            a->sa_sigaction(signal, info, context);
        } else if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN) {
            a->sa_handler(signal);
        } else if (info->si_code >
                   0) { /* the instruction runs again and ends the process */
            sigaction(signal, a, NULL);
        } else if (a->sa_handler == SIG_DFL) { /* sent by somebody: nothing runs again */
            sigaction(signal, a, NULL);
            raise(signal);
        }
    }
}

static const char *fault_sentence(int signal)
{
    switch (signal) {
    case SIGFPE:
        return "arithmetic fault (division by zero or overflow)";
    case SIGILL:
        return "illegal instruction";
    case SIGBUS:
        return "bus error: an address beyond the end of a mapping, or misaligned";
    default:
        return "illegal address";
    }
}

static bool in_guard_page(const simt_fiber_t *f, const void *addr)
{
    const char *at = (const char *)addr;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return f && f->guarded && at >= f->stack - page && at < f->stack;
}

static void *fault_pc(void *context)
{
    ucontext_t *u = (ucontext_t *)context;

#if defined(__x86_64__)
    return (void *)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)u->uc_mcontext.pc;
#else
    (void)u;
    return NULL;
#endif
}

/* backtrace starts in this handler: what counts begins at the faulting instruction. */
static void fault_trace(simt_fault_t *f, void *pc)
{
    void *all[SIMT_TRACE_FRAMES + 8];
    int n = backtrace(all, SIMT_TRACE_FRAMES + 8), from = 0;

    for (int i = 0; i < n; i++)
        if (all[i] == pc)
            from = i;
    for (int i = from; i < n && f->frames < SIMT_TRACE_FRAMES; i++)
        f->trace[f->frames++] = all[i];
    f->first_is_fault = true;
}

/* abort(), of a lane: the process ends, as it should, when the handler returns. What is known is in
 * the box by then. The lane's own stack stays as it is, for whoever reads the core dump. */
static void on_abort(simt_worker_t *k, simt_lane_t *me, void *context)
{
    k->fault = (simt_fault_t){.status = GPURT_E_FAULT, .what = "abort", .signal = SIGABRT};
    fault_trace(&k->fault, fault_pc(context));
    simt_lane_errand(me, SIMT_ERRAND_DYING);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me = k ? k->current : NULL;
    bool overflow;

    if (me && signal == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid())
        on_abort(k, me, context);
    if (!me || info->si_code <= 0) { /* not a lane's, or sent by somebody */
        pass_to_previous(signal, info, context);
        return;
    }
    overflow = signal == SIGSEGV && in_guard_page(me->fiber, info->si_addr);
    k->fault = (simt_fault_t){
        .status = overflow ? GPURT_E_STACK : GPURT_E_FAULT,
        .what = overflow ? "stack overflow" : fault_sentence(signal),
        .signal = signal,
        .addr = info->si_addr,
    };
    fault_trace(&k->fault, fault_pc(context));
    k->errand = SIMT_ERRAND_FAULT;
    k->subject = me;
    k->current = NULL;
    simt_fiber_leave(me->fiber, &k->main);
}

bool simt_fault_install(void)
{
    struct sigaction a = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    void *warm[2];

    if (simt_sanitizers.any)
        return true;
    (void)backtrace(warm, 2); /* the first call allocates: not in a handler */
    a.sa_sigaction = on_signal;
    sigemptyset(&a.sa_mask);
    gpurt_lock_take(&install_mutex);
    if (installs++ == 0)
        for (uint32_t i = 0; i < WATCHED; i++)
            sigaction(watched[i], &a, &before[i]);
    gpurt_lock_give(&install_mutex);
    return true;
}

/* What the program has put in its place meanwhile stays. */
static void watch_end(uint32_t i)
{
    struct sigaction now;

    if (sigaction(watched[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_signal)
        sigaction(watched[i], &before[i], NULL);
}

void simt_fault_remove(void)
{
    if (simt_sanitizers.any)
        return;
    gpurt_lock_take(&install_mutex);
    if (--installs == 0)
        for (uint32_t i = 0; i < WATCHED; i++)
            watch_end(i);
    gpurt_lock_give(&install_mutex);
}

void simt_fault_forked(void)
{
    gpurt_lock_take(
        &install_mutex); /* before there are threads: to the race detector, too */
    gpurt_lock_give(&install_mutex);
    if (installs == 0)
        return;
    installs = 0;
    for (uint32_t i = 0; i < WATCHED; i++)
        watch_end(i);
}

bool simt_fault_thread_begin(simt_worker_t *k)
{
    stack_t s = {.ss_size = SIGNAL_STACK_BYTES};

    if (simt_sanitizers.any)
        return true;
    k->signal_stack = (char *)malloc(SIGNAL_STACK_BYTES);
    s.ss_sp = k->signal_stack;
    return k->signal_stack && sigaltstack(&s, NULL) == 0;
}

void simt_fault_thread_end(simt_worker_t *k)
{
    stack_t off = {.ss_flags = SS_DISABLE};

    if (!k->signal_stack)
        return;
    sigaltstack(&off, NULL);
    free(k->signal_stack);
    k->signal_stack = NULL;
}

void gpurt_simt_trap(const char *site)
{
    simt_worker_t *k = simt_worker_self;

    if (!k || !k->current) /* outside a kernel there is nothing to end but this */
        __builtin_trap();
    k->current->site = site;
    simt_lane_misuse(k->current, GPURT_E_TRAP, "trap", NULL);
}
