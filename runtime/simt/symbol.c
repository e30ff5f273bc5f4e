/* SPDX-License-Identifier: Apache-2.0 */
/* Code addresses to names. The loader knows exported functions; static ones and source lines
 * are in the debug information, which addr2line reads if it is installed, as the sanitizers'
 * runtimes do. GPURT_SYMBOLIZE=0 keeps to the loader. */
#include "addr2line.h"
#include "environ.h"
#include "simt.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SYMBOL_ANSWER = 8192, /* a call site with all that was inlined there, by long paths */
    SYMBOL_WHERE = 120,
    SYMBOL_NAME = 256,
    SYMBOL_OWN = 32
};

/* Where symbols go. Owner: simt_symbols_walk. */
typedef struct symbol_out {
    void (*add)(void *to, const simt_symbol_t *symbol);
    void *to;
    bool lines;
    bool ended;             /* reached the executor's first frame */
    char last[SYMBOL_NAME]; /* function that was added */
} symbol_out_t;

/* A return address belongs to the call before it. */
static uintptr_t call_site(const void *pc, bool exact)
{
    return (uintptr_t)pc - (exact ? 0 : 1);
}

/* Frames of the executor, and lines of atomics and panics themselves, say nothing about the program. */
static bool is_ours(const char *function, const char *file)
{
    static const char *const functions[] = {
        "simt_",      "gpurt_simt_",   "lane_",        "leave_to_main",
        "meeting_",   "barrier_",      "gpurt_point",  "point_reached",
        "turn_ended", "watched_point", "seeded_point", "__interceptor_backtrace"};
    static const char *const files[] = {"atomic.h:", "point.h:", "point.c:", "panic.h:"};

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

/* What calls the body of a kernel. Where debug information tells of no body, it stands for it: the
 * body was inlined there, and not every addr2line can say so. */
static const char *entry_name(const char *text)
{
    static const char prefix[] = "gpurt_cpu_";

    return strncmp(text, prefix, sizeof prefix - 1) ? NULL : text + sizeof prefix - 1;
}

static void out_put(symbol_out_t *out, const char *function, const char *where,
                    const char *path, uint32_t line)
{
    const char *entry = entry_name(function);
    const simt_symbol_t symbol = {entry ? entry : kernel_name(function), where, path, line};

    if (entry && strcmp(entry, out->last) == 0)
        return;
    if (out->ended || is_ours(function, where)) {
        out->ended |= !strcmp(function, "simt_lane_entry");
        return;
    }
    out->add(out->to, &symbol);
    snprintf(out->last, sizeof out->last, "%s", symbol.function);
}

/* file: "path:line", or "??:?". Its text is cut behind the path. */
static void put_line(symbol_out_t *out, const char *function, char *file)
{
    char *slash = strrchr(file, '/'), *colon = strrchr(file, ':');
    uint32_t line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    char where[SYMBOL_WHERE];

    snprintf(where, sizeof where, "%s", slash ? slash + 1 : file);
    if (colon)
        *colon = '\0';
    out_put(out, function, where, line ? file : NULL, line);
}

/* The program's own file: the loader knows it by argv[0], which is no path where a shell found it
 * in PATH, and a wrong one after chdir. */
static const char *module_path(const Dl_info *in, uintptr_t at, char own[SYMBOL_OWN])
{
    struct link_map *map = NULL;
    Dl_info ignored;

    snprintf(own, SYMBOL_OWN, "/proc/%ld/exe", (long)getpid());
    if (dladdr1((void *)at, &ignored, (void **)&map, RTLD_DL_LINKMAP) && map &&
        !map->l_name[0])
        return own;
    return in->dli_fname;
}

/* addr2line answers "function\nfile:line\n", innermost first, for all that was inlined. */
static bool put_by_debug_info(const Dl_info *in, uintptr_t at, symbol_out_t *out)
{
    char answer[SYMBOL_ANSWER], *rest = answer, *function, *file, *behind;
    const char *ask = gpurt_env_get("GPURT_SYMBOLIZE");
    uintptr_t base = (uintptr_t)in->dli_fbase;
    char own[SYMBOL_OWN];

    if (ask && !strcmp(ask, "0"))
        return false;
    /* a program linked to a fixed address is asked by absolute address */
    if (!gpurt_addr2line(module_path(in, at, own), base < 0x1000000u ? at : at - base,
                         answer, sizeof answer) ||
        answer[0] == '?')
        return false;
    while ((function = strsep(&rest, "\n")) && (file = strsep(&rest, "\n"))) {
        if ((behind = strstr(file, " (discriminator")) != NULL)
            *behind = '\0';
        put_line(out, function, file);
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
        out->add(out->to, &(simt_symbol_t){.function = offset});
        return;
    }
    if (out->lines && put_by_debug_info(&in, at, out))
        return;
    module = strrchr(in.dli_fname, '/');
    module = module ? module + 1 : in.dli_fname;
    snprintf(offset, sizeof offset, "+0x%llx",
             (unsigned long long)(at - (uintptr_t)in.dli_fbase));
    out_put(out, in.dli_sname ? in.dli_sname : offset, module, NULL, 0);
}

void simt_symbols_walk(void *const *trace, uint32_t frames, bool first_exact, bool lines,
                       void (*add)(void *to, const simt_symbol_t *symbol), void *to)
{
    symbol_out_t out = {.add = add, .to = to, .lines = lines};

    for (uint32_t i = 0; i < frames && !out.ended; i++)
        put_frame(trace[i], first_exact && i == 0, &out);
}
