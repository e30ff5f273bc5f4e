/* SPDX-License-Identifier: Apache-2.0 */
/* The toolkit beside the driver: nvcc, CUPTI, and how CUDA is told to behave. */
#include "doctor.h"

#include "injection.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    OLDEST_NVCC = 12080, /* brought the atomics that gpurt/atomic.h is written in */
    CAP_SYS_ADMIN_BIT = 21
};

/* In PATH, then where a toolkit is installed by default. */
static bool nvcc_find(const doctor_machine_t *m, char out[PATH_MAX])
{
    const char *home = doctor_env("CUDA_HOME");

    if (doctor_which("nvcc", out))
        return true;
    if (home && strlen(home) < PATH_MAX - NAME_MAX) {
        snprintf(out, PATH_MAX, "%.*s/bin/nvcc", PATH_MAX - NAME_MAX, home);
        if (access(out, X_OK) == 0)
            return true;
    }
    doctor_path(m, "/usr/local/cuda/bin/nvcc", out);
    return access(out, X_OK) == 0;
}

/* "..., release 12.8, V12.8.61" as 12080; 0 for anything else. */
static int nvcc_version(const doctor_machine_t *m, const char *path)
{
    char text[4096];
    const char *at;
    int major, minor;

    if (!doctor_ask_version(m, path, text, sizeof text))
        return 0;
    at = strstr(text, "release ");
    if (!at || sscanf(at, "release %d.%d", &major, &minor) != 2 || major < 1 ||
        major > 999 || minor < 0 || minor > 99)
        return 0;
    return major * 1000 + minor * 10;
}

/* A driver runs what an older toolkit built, and a newer minor version of its own major. */
static void compare_versions(int toolkit, int driver, doctor_report_t *report)
{
    int t = toolkit / 1000, d = driver / 1000;

    if (driver == 0)
        return;
    if (t > d) {
        doctor_find(report, "cuda", DOCTOR_PROBLEM,
                    "toolkit %d.%d is newer than the driver's CUDA %d.%d", t,
                    toolkit % 1000 / 10, d, driver % 1000 / 10);
        doctor_remedy(report, "update the driver, or build with a toolkit of CUDA %d", d);
    } else if (toolkit > driver) {
        doctor_find(report, "cuda", DOCTOR_NOTE,
                    "toolkit %d.%d is a minor version ahead of the driver's CUDA %d.%d", t,
                    toolkit % 1000 / 10, d, driver % 1000 / 10);
        doctor_remedy(report,
                      "build for the GPU's own architecture (PTX of this toolkit is "
                      "refused), or update the driver");
    } else {
        doctor_find(report, "cuda", DOCTOR_OK, "the driver's CUDA %d.%d runs toolkit %d.%d",
                    d, driver % 1000 / 10, t, toolkit % 1000 / 10);
    }
}

void doctor_check_nvcc(const doctor_machine_t *m, doctor_report_t *report)
{
    char path[PATH_MAX];
    int version;

    if (!nvcc_find(m, path)) {
        doctor_find(report, "nvcc", DOCTOR_NOTE,
                    "no nvcc: programs are built for the CPU back end alone");
        doctor_remedy(report,
                      "for a GPU, install the CUDA toolkit 12.8 or newer, or add its "
                      "bin to PATH");
        return;
    }
    version = nvcc_version(m, path);
    if (version == 0) {
        doctor_find(report, "nvcc", DOCTOR_PROBLEM, "%s does not tell its version", path);
        doctor_remedy(report, "reinstall the CUDA toolkit, or take it out of PATH");
        return;
    }
    doctor_find(report, "nvcc", version < OLDEST_NVCC ? DOCTOR_PROBLEM : DOCTOR_OK,
                "nvcc %d.%d (%s)", version / 1000, version % 1000 / 10, path);
    if (version < OLDEST_NVCC)
        doctor_remedy(report,
                      "gpurt needs nvcc 12.8 or newer: install one and put it first "
                      "in PATH");
    compare_versions(version, m->driver.cuda_version, report);
}

void doctor_check_cupti(const doctor_machine_t *m, doctor_report_t *report)
{
    if (m->driver.cupti) {
        doctor_find(report, "cupti", DOCTOR_OK, "CUPTI, API %d (%s)", m->driver.cupti,
                    m->driver.cupti_path);
        return;
    }
    if (m->driver.late || m->driver.crashed)
        return; /* was not reached */
    doctor_find(report, "cupti", DOCTOR_NOTE,
                "no libcupti: kernels and copies of programs that do not use gpurt are not "
                "seen");
    doctor_remedy(report, "install cuda-cupti of the toolkit, or add extras/CUPTI/lib64 to "
                          "LD_LIBRARY_PATH");
}

static bool is_admin(const doctor_machine_t *m)
{
    char text[8192];
    const char *at;

    if (!doctor_read(m, "/proc/self/status", text, sizeof text))
        return false;
    at = strstr(text, "CapEff:");
    return at && (strtoull(at + sizeof "CapEff:" - 1, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1);
}

/* NVreg_RestrictProfilingToAdminUsers, as the kernel module reports it. */
void doctor_check_profiling(const doctor_machine_t *m, doctor_report_t *report)
{
    uint64_t restricted;

    if (!doctor_number(m, "/proc/driver/nvidia/params", "RmProfilingAdminOnly",
                       &restricted))
        return; /* no kernel module here */
    if (!restricted) {
        doctor_find(report, "profiling", DOCTOR_OK,
                    "hardware counters are open to all users");
    } else if (is_admin(m)) {
        doctor_find(report, "profiling", DOCTOR_OK,
                    "hardware counters are for administrators, and this process is one");
    } else {
        doctor_find(
            report, "profiling", DOCTOR_NOTE,
            "hardware counters are for administrators; traces work, source lines of "
            "running kernels (--cupti default,lines) and PM sampling do not");
        doctor_remedy(report, "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in "
                              "/etc/modprobe.d and reboot, or add CAP_SYS_ADMIN");
    }
}

/* A lazy load inside a launch may wait for a kernel that never ends. */
void doctor_check_loading(const doctor_machine_t *m, doctor_report_t *report)
{
    const char *value = doctor_env("CUDA_MODULE_LOADING");

    (void)m;
    if (!value) {
        doctor_find(report, "loading", DOCTOR_OK,
                    "CUDA_MODULE_LOADING is not set: gpurt loads modules at start");
    } else if (strcmp(value, "EAGER") == 0) {
        doctor_find(report, "loading", DOCTOR_OK, "CUDA_MODULE_LOADING is EAGER");
    } else {
        doctor_find(report, "loading", DOCTOR_NOTE, "CUDA_MODULE_LOADING is %s", value);
        doctor_remedy(report,
                      "unset it: a lazy load may wait for a kernel that runs for ever");
    }
}

void doctor_check_injection(const doctor_machine_t *m, doctor_report_t *report)
{
    const char *value = doctor_env("CUDA_INJECTION64_PATH"), *base;

    (void)m;
    if (!value) {
        doctor_find(report, "injection", DOCTOR_OK, "CUDA_INJECTION64_PATH is free");
        return;
    }
    base = strrchr(value, '/');
    if (value[0] == '/' && access(value, R_OK) != 0) {
        doctor_find(report, "injection", DOCTOR_PROBLEM,
                    "CUDA_INJECTION64_PATH names %s, which is not there", value);
        doctor_remedy(report,
                      "unset CUDA_INJECTION64_PATH: cuInit may fail in every program");
    } else if (strstr(base ? base : value, "gpurt")) {
        doctor_find(report, "injection", DOCTOR_OK, "CUDA_INJECTION64_PATH is gpurt's: %s",
                    value);
    } else {
        doctor_find(report, "injection", DOCTOR_NOTE,
                    "CUDA_INJECTION64_PATH is taken by another tool: %s", value);
        doctor_remedy(report,
                      "unset it to see kernels: it is run before gpurt's, and CUPTI serves "
                      "one tool at a time");
    }
}

/* The library by which programs that do not use gpurt are watched. */
void doctor_check_collector(const doctor_machine_t *m, doctor_report_t *report)
{
    char path[PATH_MAX];

    (void)m;
    if (gpurt_injection_find(path, sizeof path)) {
        doctor_find(report, "collector", DOCTOR_OK, "the collector is %s", path);
        return;
    }
    doctor_find(report, "collector", DOCTOR_NOTE,
                "%s is not found: kernels and copies are not seen", GPURT_INJECTION_LIB);
    doctor_remedy(report, "build gpurt with cupti.h of CUDA 13 in reach and install it, or "
                          "name the library in GPURT_INJECTION_LIBRARY");
}
