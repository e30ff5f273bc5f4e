/* SPDX-License-Identifier: Apache-2.0 */
/* Driver, GPUs, and what stands between them and a program. */
#include "doctor.h"

#include "plural.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    OLDEST_CAPABILITY = 75
};
enum {
    MODE_PROHIBITED = 2,
    MODE_EXCLUSIVE = 3
};
enum {
    NO_DEVICE = 100
};

/* What cuInit may answer, and what helps. */
typedef struct init_remedy {
    int code;
    const char *name, *remedy;
} init_remedy_t;

static const init_remedy_t init_remedies[] = {
    {2, "out of memory", "free host memory, or GPU memory held by other processes"},
    {34, "stub library",
     "the toolkit's stub of libcuda was found first: take .../stubs out of "
     "LD_LIBRARY_PATH"},
    {46, "device unavailable", "another process holds the GPU: nvidia-smi names it"},
    {500, "functions missing", "the library is no NVIDIA driver: reinstall the driver"},
    {802, "system not ready",
     "start the fabric manager: systemctl start "
     "nvidia-fabricmanager"},
    {803, "driver and kernel module differ",
     "reboot, or reload the nvidia kernel modules: the driver was updated under them"},
    {804, "compatibility library not supported here",
     "take cuda-compat out of LD_LIBRARY_PATH, or update the driver"},
    {999, "unknown error", "load nvidia_uvm (modprobe nvidia_uvm); then see dmesg"},
};

/* The kernel module's version, the first word "N.N..." of its line; "" without a module. */
static void module_version(const doctor_machine_t *m, char *out, size_t room)
{
    char text[1024];

    out[0] = '\0';
    if (!doctor_read(m, "/proc/driver/nvidia/version", text, sizeof text))
        return;
    snprintf(out, room, "loaded");
    for (const char *at = text; (at = strchr(at, ' ')) != NULL; at++) {
        size_t digits = strspn(at + 1, "0123456789");

        if (digits && at[1 + digits] == '.') {
            snprintf(out, room, "%.*s", (int)strspn(at + 1, "0123456789."), at + 1);
            return;
        }
    }
}

static void say_no_library(const doctor_machine_t *m, const char *module,
                           doctor_report_t *report)
{
    if (module[0]) {
        doctor_find(report, "driver", DOCTOR_PROBLEM,
                    "kernel module %s, but no libcuda: %s", module, m->driver.why);
        doctor_remedy(report,
                      "install the driver's libraries; in a container, start it with "
                      "--gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility");
    } else {
        doctor_find(report, "driver", DOCTOR_NOTE,
                    "no NVIDIA driver: gpurt uses the CPU back end");
        doctor_remedy(
            report,
            "for a GPU, install a driver: 580 or newer for programs built with CUDA 13, "
            "570 or newer for CUDA 12");
    }
}

static void say_init_failed(const doctor_machine_t *m, doctor_report_t *report)
{
    const char *visible = doctor_env("CUDA_VISIBLE_DEVICES");
    int code = m->driver.init;

    if (code == NO_DEVICE) {
        doctor_find(report, "driver", DOCTOR_NOTE,
                    "the driver sees no GPU%s%s: gpurt uses the CPU back end",
                    visible ? "; CUDA_VISIBLE_DEVICES is " : "", visible ? visible : "");
        doctor_remedy(report, visible ? "unset CUDA_VISIBLE_DEVICES"
                                      : "in a container, start it with --gpus all");
        return;
    }
    for (size_t i = 0; i < sizeof init_remedies / sizeof init_remedies[0]; i++)
        if (init_remedies[i].code == code) {
            doctor_find(report, "driver", DOCTOR_PROBLEM, "cuInit fails with %d, %s", code,
                        init_remedies[i].name);
            doctor_remedy(report, "%s", init_remedies[i].remedy);
            return;
        }
    doctor_find(report, "driver", DOCTOR_PROBLEM, "cuInit fails with %d", code);
    doctor_remedy(report, "see dmesg and nvidia-smi; CUresult %d in cuda.h says what it is",
                  code);
}

void doctor_check_driver(const doctor_machine_t *m, doctor_report_t *report)
{
    const doctor_driver_t *d = &m->driver;
    char module[64];

    module_version(m, module, sizeof module);
    if (!d->asked) {
        doctor_find(report, "driver", DOCTOR_PROBLEM, "no process to ask the driver with");
        doctor_remedy(report, "raise the limit of processes: ulimit -u");
    } else if (d->late || d->crashed) {
        doctor_find(report, "driver", DOCTOR_PROBLEM, "the driver %s while %s",
                    d->late ? "hangs" : "crashed", d->step[0] ? d->step : "starting");
        doctor_remedy(report,
                      "see dmesg for Xid and nvidia lines; reset the GPU (nvidia-smi "
                      "--gpu-reset) or reboot");
    } else if (!d->loaded) {
        say_no_library(m, module, report);
    } else if (d->init != 0) {
        say_init_failed(m, report);
    } else {
        const char *version = d->version[0] ? d->version : module[0] ? module : "unknown";

        doctor_find(report, "driver", DOCTOR_OK, "NVIDIA driver %s, CUDA %d.%d, %d GPU%s",
                    version, d->cuda_version / 1000, d->cuda_version % 1000 / 10,
                    d->gpu_count, gpurt_plural(d->gpu_count, "s"));
    }
}

static void check_gpu(const doctor_gpu_t *g, int index, doctor_report_t *report)
{
    int capability = g->major * 10 + g->minor;
    doctor_state_t state = DOCTOR_OK;
    const char *mode = "", *remedy = "";

    if (g->mode == MODE_PROHIBITED) {
        state = DOCTOR_PROBLEM;
        mode = ", compute mode prohibited";
        remedy = "nvidia-smi -c DEFAULT -i";
    } else if (g->mode == MODE_EXCLUSIVE) {
        state = DOCTOR_NOTE;
        mode = ", compute mode exclusive: one process at a time";
        remedy = "to share it: nvidia-smi -c DEFAULT -i";
    }
    if (capability < OLDEST_CAPABILITY)
        state = DOCTOR_PROBLEM;
    doctor_find(report, "gpu", state, "GPU %d: %s, compute capability %d.%d, %d SMs%s",
                index, g->name, g->major, g->minor, g->sms, mode);
    if (capability < OLDEST_CAPABILITY)
        doctor_remedy(report,
                      "gpurt needs compute capability %d.%d; choose another GPU with "
                      "CUDA_VISIBLE_DEVICES, or GPURT_BACKEND=cpu",
                      OLDEST_CAPABILITY / 10, OLDEST_CAPABILITY % 10);
    else if (remedy[0])
        doctor_remedy(report, "%s %d", remedy, index);
}

void doctor_check_gpus(const doctor_machine_t *m, doctor_report_t *report)
{
    int count = m->driver.gpu_count < DOCTOR_GPUS ? m->driver.gpu_count : DOCTOR_GPUS;

    for (int i = 0; i < count; i++)
        check_gpu(&m->driver.gpus[i], i, report);
}

/* The control daemon leaves its folder behind when it is killed: its process decides. */
void doctor_check_mps(const doctor_machine_t *m, doctor_report_t *report)
{
    const char *folder = doctor_env("CUDA_MPS_PIPE_DIRECTORY");
    char path[PATH_MAX], process[64];
    uint64_t pid = 0;
    bool runs;

    snprintf(path, sizeof path, "%s/nvidia-cuda-mps-control.pid",
             folder ? folder : "/tmp/nvidia-mps");
    runs = doctor_number(m, path, "", &pid);
    snprintf(process, sizeof process, "/proc/%llu", (unsigned long long)pid);
    if (runs && doctor_exists(m, process)) {
        doctor_find(report, "mps", DOCTOR_NOTE, "MPS runs (process %llu)",
                    (unsigned long long)pid);
        doctor_remedy(report, "a fault of one client ends all clients of that GPU; without "
                              "MPS: echo quit | nvidia-cuda-mps-control");
    } else if (folder) {
        doctor_find(report, "mps", DOCTOR_NOTE,
                    "CUDA_MPS_PIPE_DIRECTORY is set, but no MPS daemon runs there");
        doctor_remedy(report, "unset CUDA_MPS_PIPE_DIRECTORY, or start "
                              "nvidia-cuda-mps-control -d");
    } else {
        doctor_find(report, "mps", DOCTOR_OK, "no MPS");
    }
}

void doctor_check_wsl(const doctor_machine_t *m, doctor_report_t *report)
{
    char text[512];

    doctor_read(m, "/proc/version", text, sizeof text);
    if (!strcasestr(text, "microsoft"))
        return;
    /* A GPU's stores to host memory are seen there only after seconds. */
    doctor_find(report, "wsl", m->driver.gpu_count > 0 ? DOCTOR_PROBLEM : DOCTOR_NOTE,
                "WSL%s: host memory is not coherent with a running kernel",
                strcasestr(text, "WSL2") || strcasestr(text, "microsoft-standard") ? "2"
                                                                                   : "");
    doctor_remedy(report, "records of a GPU come late, often only after the kernel: use a "
                          "native Linux, or GPURT_BACKEND=cpu");
}
