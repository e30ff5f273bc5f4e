/* SPDX-License-Identifier: Apache-2.0 */
/* Processor, memory and limits of the kernel. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    MAPS_DEFAULT = 65530, /* of Linux; enough for the guard pages of all fibers */
    ASLR_BITS_OLD = 28,   /* what the race detector of gcc 13 and clang 17 knows */
};
#define MIB (1024.0 * 1024.0)

/* Whether `word` stands in the text by itself. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
        if ((at == text || at[-1] == ' ' || at[-1] == '\t') &&
            (at[length] == ' ' || at[length] == '\n' || at[length] == '\0'))
            return true;
    return false;
}

void doctor_check_cpu(const doctor_machine_t *m, doctor_report_t *report)
{
    char text[16384], *flags;

    if (!doctor_read(m, "/proc/cpuinfo", text, sizeof text))
        text[0] = '\0';
    flags = strstr(text, "\nflags");
    if (!flags) { /* not x86: the 16-byte access is an atomic instruction of its own */
        doctor_find(report, "cpu", DOCTOR_OK,
                    "no x86 processor; 16-byte groups by atomics");
        return;
    }
    flags[1 + strcspn(flags + 1, "\n")] = '\0';
    if (has_word(flags, "avx")) {
        doctor_find(report, "cpu", DOCTOR_OK, "AVX: 16-byte groups are moved whole");
        return;
    }
    doctor_find(report, "cpu", DOCTOR_PROBLEM,
                "no AVX: a move of 16 bytes may be seen half done");
    doctor_remedy(report, "use a processor with AVX; in a virtual machine, pass the host's "
                          "processor through (-cpu host)");
}

/* ---- shared memory ------------------------------------------------------------------- */
/* Returns: 0, or errno of the first step that a box needs and that fails. */
static int memfd_try(const doctor_machine_t *m)
{
    uint64_t stand_in = 0;
    int fd, code = 0;
    void *at;

    if (m->root[0]) {
        doctor_fact(m, "memfd_errno", &stand_in);
        return (int)stand_in;
    }
    fd = memfd_create("gpurt-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return errno;
    if (ftruncate(fd, 4096) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        code = errno;
    at = code ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        munmap(at, 4096);
    else if (code == 0)
        code = errno;
    close(fd);
    return code;
}

static const char *size_text(uint64_t bytes, char buffer[24])
{
    double mib = (double)bytes / MIB;

    snprintf(buffer, 24, mib < 1024 ? "%.1f MiB" : "%.1f GiB",
             mib < 1024 ? mib : mib / 1024);
    return buffer;
}

static bool shm_room(const doctor_machine_t *m, uint64_t *bytes, uint64_t *unused)
{
    struct statvfs info;
    char path[PATH_MAX];

    if (doctor_fact(m, "shm_bytes", bytes) && doctor_fact(m, "shm_free", unused))
        return true;
    doctor_path(m, "/dev/shm", path);
    if (statvfs(path, &info) != 0 || access(path, W_OK) != 0)
        return false;
    *bytes = (uint64_t)info.f_blocks * info.f_frsize;
    *unused = (uint64_t)info.f_bavail * info.f_frsize;
    return true;
}

/* "always within_size advise [never] deny force" */
static void huge_pages_check(const doctor_machine_t *m, doctor_report_t *report)
{
    char text[128];

    if (!doctor_read(m, "/sys/kernel/mm/transparent_hugepage/shmem_enabled", text,
                     sizeof text))
        return;
    if (!strstr(text, "[never]") && !strstr(text, "[deny]")) {
        doctor_find(report, "huge-pages", DOCTOR_OK, "boxes may lie in huge pages");
        return;
    }
    doctor_find(report, "huge-pages", DOCTOR_NOTE,
                "shared memory is never in huge pages: where memory is scattered, a GPU "
                "writes floods of messages a third slower");
    doctor_remedy(report,
                  "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled");
}

/* A box is a memfd, which /dev/shm does not bound; a file there is the second choice. */
void doctor_check_memory(const doctor_machine_t *m, doctor_report_t *report)
{
    uint64_t need = doctor_box_bytes(m), bytes = 0, unused = 0;
    char all[24], free_text[24], box[24];
    int code = memfd_try(m);
    bool there = shm_room(m, &bytes, &unused);
    bool enough = there && unused >= need;

    huge_pages_check(m, report);
    if (code == 0) {
        doctor_find(report, "memfd", DOCTOR_OK, "memfd works, with seals");
    } else {
        doctor_find(report, "memfd", DOCTOR_NOTE,
                    "no memfd (%s): a box is a file in /dev/shm", strerror(code));
        doctor_remedy(report, "allow memfd_create in the sandbox's or container's seccomp "
                              "profile");
    }
    if (!there) {
        doctor_find(report, "shm", code ? DOCTOR_PROBLEM : DOCTOR_NOTE,
                    "/dev/shm is missing or read-only");
        doctor_remedy(report, "mount -t tmpfs tmpfs /dev/shm");
        return;
    }
    doctor_find(report, "shm",
                enough ? DOCTOR_OK
                : code ? DOCTOR_PROBLEM
                       : DOCTOR_NOTE,
                "/dev/shm: %s, %s free; a box takes %s", size_text(bytes, all),
                size_text(unused, free_text), size_text(need, box));
    if (!enough)
        doctor_remedy(report,
                      "mount -o remount,size=%.0fm /dev/shm (docker: --shm-size), or "
                      "smaller rings: GPURT_RING_BYTES",
                      (double)(2 * need + bytes - unused) / MIB + 1);
}

/* ---- limits -------------------------------------------------------------------------- */
/* A line of /proc/self/limits, its soft value. Returns: false where it is not limited. */
static bool limit_read(const doctor_machine_t *m, const char *name, bool *known,
                       uint64_t *limit)
{
    char text[4096], *at, *end;

    *known = doctor_read(m, "/proc/self/limits", text, sizeof text) &&
             (at = strstr(text, name)) != NULL;
    if (!*known)
        return false;
    at += strlen(name);
    at += strspn(at, " ");
    *limit = strtoull(at, &end, 10);
    return end != at;
}

void doctor_check_memlock(const doctor_machine_t *m, doctor_report_t *report)
{
    uint64_t need = doctor_box_bytes(m), limit;
    char has[24], box[24];
    bool known;

    if (m->driver.gpu_count == 0)
        return; /* nothing is pinned */
    if (!limit_read(m, "Max locked memory", &known, &limit)) {
        if (known)
            doctor_find(report, "memlock", DOCTOR_OK, "locked memory is not limited");
        return;
    }
    if (limit >= need) {
        doctor_find(report, "memlock", DOCTOR_OK, "locked memory: up to %s",
                    size_text(limit, has));
        return;
    }
    doctor_find(report, "memlock", DOCTOR_NOTE, "locked memory: up to %s, a box takes %s",
                size_text(limit, has), size_text(need, box));
    doctor_remedy(report, "NVIDIA's driver does not count what it pins; if registering the "
                          "box fails: ulimit -l unlimited");
}

/* Shared memory counts as a file, and so do logs. */
void doctor_check_filesize(const doctor_machine_t *m, doctor_report_t *report)
{
    uint64_t need = doctor_box_bytes(m), limit;
    char has[24], box[24];
    bool known;

    if (!limit_read(m, "Max file size", &known, &limit))
        return;
    doctor_find(report, "filesize", limit >= need ? DOCTOR_NOTE : DOCTOR_PROBLEM,
                "files, logs and a box among them: up to %s, a box takes %s",
                size_text(limit, has), size_text(need, box));
    doctor_remedy(report, limit >= need
                              ? "a log that meets the limit ends there: ulimit -f "
                                "unlimited"
                              : "no box can be made: ulimit -f unlimited");
}

void doctor_check_maps(const doctor_machine_t *m, doctor_report_t *report)
{
    uint64_t count;

    if (!doctor_number(m, "/proc/sys/vm/max_map_count", "", &count))
        return;
    if (count >= MAPS_DEFAULT) {
        doctor_find(report, "maps", DOCTOR_OK, "vm.max_map_count is %llu",
                    (unsigned long long)count);
        return;
    }
    doctor_find(report, "maps", DOCTOR_NOTE,
                "vm.max_map_count is %llu: the CPU back end's lanes run out of stacks with "
                "guard pages",
                (unsigned long long)count);
    doctor_remedy(report, "sysctl vm.max_map_count=%d", MAPS_DEFAULT);
}

void doctor_check_aslr(const doctor_machine_t *m, doctor_report_t *report)
{
    uint64_t bits, on = 1;

    doctor_number(m, "/proc/sys/kernel/randomize_va_space", "", &on);
    if (!doctor_number(m, "/proc/sys/vm/mmap_rnd_bits", "", &bits))
        return; /* for administrators alone in some containers */
    if (!on || bits <= ASLR_BITS_OLD) {
        doctor_find(report, "aslr", DOCTOR_OK,
                    "addresses are randomised by %u bits: every race detector starts",
                    on ? (unsigned)bits : 0);
        return;
    }
    doctor_find(
        report, "aslr", DOCTOR_NOTE,
        "addresses are randomised by %u bits: race detectors before gcc 14 and clang "
        "18 do not start",
        (unsigned)bits);
    doctor_remedy(report,
                  "setarch -R gpurt-check --race ..., or sysctl vm.mmap_rnd_bits=%d",
                  ASLR_BITS_OLD);
}

/* ---- what GPURT_LOG needs, and what switches it off ---------------------------------- */
void doctor_check_logging(const doctor_machine_t *m, doctor_report_t *report)
{
    const char *off = doctor_env("GPURT_OFF"), *slash = strrchr(m->self, '/');
    char path[PATH_MAX];

    if (off && strcmp(off, "0") != 0) {
        doctor_find(report, "logging", DOCTOR_NOTE, "GPURT_OFF is %.20s: nothing is logged",
                    off);
        doctor_remedy(report, "unset GPURT_OFF");
    }
    if (doctor_which("gpurt-drain", path)) {
        doctor_find(report, "drainer", DOCTOR_OK, "gpurt-drain (%.200s)", path);
        return;
    }
    doctor_find(report, "drainer", DOCTOR_NOTE,
                "gpurt-drain is not in PATH: GPURT_LOG=FILE works for programs beside it "
                "alone");
    doctor_remedy(report, "add %.*s to PATH, or use gpurt-record",
                  slash ? (int)(slash - m->self) : 0, m->self);
}
