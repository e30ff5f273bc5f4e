/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that gpurt is built, debugged and looked at with. */
#include "doctor.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    OLDEST_GCC = 9,
    TSAN_GCC = 13,
    OLDEST_CLANG = 10
};

/* The first "N.N" of the first line that a program prints about itself.
 * Returns: its major number, 0 when it is there but says none, -1 when it is not there. */
static int tool_version(const doctor_machine_t *m, const char *name, char *version,
                        size_t room)
{
    char path[PATH_MAX], text[2048];

    version[0] = '\0';
    if (!doctor_which(name, path))
        return -1;
    if (!doctor_ask_version(m, path, text, sizeof text))
        return 0;
    text[strcspn(text, "\n")] = '\0';
    for (const char *at = text; *at; at++) {
        size_t digits = strspn(at, "0123456789");

        if (digits && at[digits] == '.' && (at == text || at[-1] == ' ')) {
            snprintf(version, room, "%.*s", (int)strspn(at, "0123456789."), at);
            return atoi(at);
        }
        at += digits ? digits - 1 : 0;
    }
    return 0;
}

/* Returns: the major version, below 1 when it cannot be used. */
static int check_compiler(const doctor_machine_t *m, const char *name, int oldest,
                          doctor_report_t *report)
{
    char version[64];
    int major = tool_version(m, name, version, sizeof version);

    if (major < 0) {
        doctor_find(report, name, DOCTOR_NOTE, "no %s", name);
        doctor_remedy(report, "apt-get install %s, or your system's way to it", name);
    } else if (major < oldest) {
        doctor_find(report, name, DOCTOR_PROBLEM, "%s %s is too old or broken", name,
                    version[0] ? version : "of no version");
        doctor_remedy(report, "gpurt is built with %s %d or newer", name, oldest);
        return 0;
    } else {
        doctor_find(report, name, DOCTOR_OK, "%s %s", name, version);
    }
    return major;
}

void doctor_check_compilers(const doctor_machine_t *m, doctor_report_t *report)
{
    int gcc = check_compiler(m, "gcc", OLDEST_GCC, report);
    int clang = check_compiler(m, "clang", OLDEST_CLANG, report);

    if (gcc > 0 && gcc < TSAN_GCC && clang < 1) {
        doctor_find(report, "race", DOCTOR_NOTE,
                    "the race detector of gcc before 13 is very slow on fibers");
        doctor_remedy(report, "install clang; gpurt-check --race prefers it");
    }
}

static void check_tool(const doctor_machine_t *m, const char *name, const char *without,
                       const char *package, doctor_report_t *report)
{
    char version[64];
    int major = tool_version(m, name, version, sizeof version);

    if (major >= 0) {
        doctor_find(report, name, DOCTOR_OK, "%s%s%s", name, version[0] ? " " : "",
                    version);
        return;
    }
    doctor_find(report, name, DOCTOR_NOTE, "no %s: %s", name, without);
    doctor_remedy(report, "apt-get install %s, or your system's way to it", package);
}

void doctor_check_debugger(const doctor_machine_t *m, doctor_report_t *report)
{
    check_tool(m, "gdb", "lanes of the CPU back end cannot be looked at", "gdb", report);
    check_tool(m, "addr2line", "host addresses get no source lines", "binutils", report);
}

/* ---- terminal ------------------------------------------------------------------------ */
static bool terminfo_has(const doctor_machine_t *m, const char *terminal)
{
    static const char *const folders[] = {"/etc/terminfo", "/lib/terminfo",
                                          "/usr/share/terminfo", "/usr/lib/terminfo"};
    const char *own = doctor_env("TERMINFO"), *home = doctor_env("HOME");
    char path[PATH_MAX];

    if (strchr(terminal, '/'))
        return false;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%c/%s", folders[i], terminal[0], terminal);
        if (doctor_exists(m, path))
            return true;
    }
    snprintf(path, sizeof path, "%s/%c/%s", own ? own : "", terminal[0], terminal);
    if (own && access(path, R_OK) == 0)
        return true;
    snprintf(path, sizeof path, "%s/.terminfo/%c/%s", home ? home : "", terminal[0],
             terminal);
    return home && access(path, R_OK) == 0;
}

static void check_locale(doctor_report_t *report)
{
    const char *set = setlocale(LC_CTYPE, "");
    const char *charset = nl_langinfo(CODESET);

    if (set && strcasecmp(charset, "UTF-8") == 0) {
        doctor_find(report, "locale", DOCTOR_OK, "%s, UTF-8", set);
        return;
    }
    doctor_find(report, "locale", DOCTOR_NOTE, "%s%s: the dashboard draws with ASCII",
                set ? "characters are " : "the locale that is asked for is not installed",
                set ? charset : "");
    doctor_remedy(report, "export LC_ALL=C.UTF-8");
}

void doctor_check_terminal(const doctor_machine_t *m, doctor_report_t *report)
{
    const char *terminal = doctor_env("TERM");

    if (!terminal || strcmp(terminal, "dumb") == 0) {
        doctor_find(report, "terminal", DOCTOR_NOTE,
                    "TERM is %s: gpurt-top prints plain snapshots",
                    terminal ? terminal : "not set");
        doctor_remedy(report, "in a terminal: export TERM=xterm-256color");
    } else if (!terminfo_has(m, terminal)) {
        doctor_find(report, "terminal", DOCTOR_NOTE,
                    "TERM is %s, of which nothing is known", terminal);
        doctor_remedy(report, "export TERM=xterm-256color, or install ncurses-term");
    } else {
        doctor_find(report, "terminal", DOCTOR_OK, "TERM is %s", terminal);
    }
    check_locale(report);
}
