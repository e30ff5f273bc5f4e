/* SPDX-License-Identifier: Apache-2.0 */
/* Code addresses to names. The loader knows exported functions; static ones and source lines
 * are in the debug information, which addr2line reads if it is installed, as the sanitizers'
 * runtimes do. GPURT_SYMBOLIZE=0 keeps to the loader. */
#include "addr2line.h"
#include "environ.h"
#include "simt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SYMBOL_ANSWER = 2048, /* a call site with all that was inlined there */
    SYMBOL_TEXT = 320
};

/* Where lines go. Owner: simt_symbols_print. */
typedef struct symbol_out {
    void (*add)(void *to, const char *line);
    void *to;
    bool ended; /* reached the executor's first frame */
} symbol_out_t;

/* A return address belongs to the call before it. */
static uintptr_t call_site(const void *pc, bool exact)
{
    return (uintptr_t)pc - (exact ? 0 : 1);
}

/* Frames of the executor and of the atomics' own lines say nothing about the program. */
static bool is_ours(const char *function, const char *file)
{
    static const char *const functions[] = {"simt_",         "gpurt_simt_",   "lane_",
                                            "leave_to_main", "meeting_",      "barrier_",
                                            "gpurt_point",   "point_reached", "turn_ended",
                                            "watched_point", "seeded_point",  "gpurt_cpu_"};
    static const char *const files[] = {"atomic.h:", "point.h:", "point.c:"};

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (!strncmp(function, functions[i], strlen(functions[i])))
            return true;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (!strncmp(file, files[i], strlen(files[i])))
            return true;
    return false;
}

/* A kernel's body has a name of GPURT_KERNEL's making; people know the kernel's. */
static const char *kernel_name(const char *text)
{
    static const char prefix[] = "gpurt_body_of_";

    return strncmp(text, prefix, sizeof prefix - 1) ? text : text + sizeof prefix - 1;
}

static void out_put(symbol_out_t *out, const char *function, const char *where)
{
    char text[SYMBOL_TEXT];

    if (out->ended || is_ours(function, where)) {
        out->ended |= !strcmp(function, "simt_lane_entry");
        return;
    }
    snprintf(text, sizeof text, "%.200s (%.100s)", kernel_name(function), where);
    out->add(out->to, text);
}

/* addr2line answers "function\nfile:line\n", innermost first, for all that was inlined. */
static bool put_by_debug_info(const Dl_info *in, uintptr_t at, symbol_out_t *out)
{
    char answer[SYMBOL_ANSWER], *rest = answer, *function, *file, *slash;
    const char *ask = gpurt_env_get("GPURT_SYMBOLIZE");
    uintptr_t base = (uintptr_t)in->dli_fbase;

    if (ask && !strcmp(ask, "0"))
        return false;
    /* a program linked to a fixed address is asked by absolute address */
    if (!gpurt_addr2line(in->dli_fname, base < 0x1000000u ? at : at - base, answer,
                         sizeof answer) ||
        answer[0] == '?')
        return false;
    while ((function = strsep(&rest, "\n")) && (file = strsep(&rest, "\n"))) {
        file[strcspn(file, " ")] = '\0';
        slash = strrchr(file, '/');
        out_put(out, function, slash ? slash + 1 : file);
    }
    return true;
}

static void put_frame(const void *pc, bool exact, symbol_out_t *out)
{
    uintptr_t at = call_site(pc, exact);
    char offset[32];
    Dl_info in = {0};
    const char *module;

    if (!dladdr((void *)at, &in) || !in.dli_fname) {
        snprintf(offset, sizeof offset, "%p", pc);
        out->add(out->to, offset);
        return;
    }
    if (put_by_debug_info(&in, at, out))
        return;
    module = strrchr(in.dli_fname, '/');
    module = module ? module + 1 : in.dli_fname;
    snprintf(offset, sizeof offset, "+0x%llx",
             (unsigned long long)(at - (uintptr_t)in.dli_fbase));
    out_put(out, in.dli_sname ? in.dli_sname : offset, module);
}

void simt_symbols_print(void *const *trace, uint32_t frames, bool first_exact,
                        void (*add)(void *to, const char *line), void *to)
{
    symbol_out_t out = {add, to, false};

    for (uint32_t i = 0; i < frames && !out.ended; i++)
        put_frame(trace[i], first_exact && i == 0, &out);
}
