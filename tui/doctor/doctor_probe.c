/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver, NVML and CUPTI, each loaded at run time, and prints a line for each
 * answer. Runs as a process of its own: any call here may hang or crash. The step at
 * work is printed before it begins. */
#include "doctor_machine.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Attributes as CUdevice_attribute numbers them. */
enum {
    SM_COUNT = 16,
    COMPUTE_MODE = 20,
    SM_THREADS = 39,
    CAPABILITY_MAJOR = 75,
    CAPABILITY_MINOR = 76
};

typedef int cu_init_fn(unsigned flags);
typedef int cu_version_fn(int *version);
typedef int cu_count_fn(int *count);
typedef int cu_device_fn(int *device, int ordinal);
typedef int cu_name_fn(char *name, int room, int device);
typedef int cu_attribute_fn(int *value, int attribute, int device);
typedef int nvml_init_fn(void);
typedef int nvml_version_fn(char *version, unsigned room);
typedef int cupti_version_fn(uint32_t *version);

/* A function out of a library. ISO C has no cast from an object pointer to a function's. */
#define FIND(library, type, name)       \
    ((union {                           \
         void *object;                  \
         type *call;                    \
     }){.object = dlsym(library, name)} \
         .call)

static void step(const char *name)
{
    printf("step %s\n", name);
    fflush(stdout);
}

/* The value is one line of ours. */
static void say(const char *key, const char *value)
{
    printf("%s ", key);
    for (; *value; value++)
        putchar(*value == '\n' || *value == '\r' ? ' ' : *value);
    putchar('\n');
    fflush(stdout);
}

static int attribute_of(cu_attribute_fn *get, int attribute, int device)
{
    int value = 0;

    return get(&value, attribute, device) == 0 ? value : 0;
}

static void probe_gpus(void *cuda, int count)
{
    cu_device_fn *device_get = FIND(cuda, cu_device_fn, "cuDeviceGet");
    cu_name_fn *name_get = FIND(cuda, cu_name_fn, "cuDeviceGetName");
    cu_attribute_fn *get = FIND(cuda, cu_attribute_fn, "cuDeviceGetAttribute");

    if (!device_get || !name_get || !get)
        return;
    for (int i = 0; i < count && i < DOCTOR_GPUS; i++) {
        char name[DOCTOR_NAME] = "", line[DOCTOR_NAME * 2];
        int device;

        if (device_get(&device, i) != 0)
            continue;
        name_get(name, (int)sizeof name - 1, device);
        snprintf(line, sizeof line, "%d %d %d %d %d %d %s", i,
                 attribute_of(get, CAPABILITY_MAJOR, device),
                 attribute_of(get, CAPABILITY_MINOR, device),
                 attribute_of(get, COMPUTE_MODE, device),
                 attribute_of(get, SM_COUNT, device), attribute_of(get, SM_THREADS, device),
                 name);
        say("gpu", line);
    }
}

static void probe_cuda(const char *root)
{
    char path[PATH_MAX];
    void *cuda;
    cu_init_fn *init;
    cu_version_fn *version_get;
    cu_count_fn *count_get;
    int version = 0, count = 0, result;

    step("loading libcuda");
    snprintf(path, sizeof path, "%s%s", root,
             root[0] ? "/lib/libcuda.so.1" : "libcuda.so.1");
    cuda = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!cuda) {
        say("missing", dlerror());
        return;
    }
    say("loaded", "");
    init = FIND(cuda, cu_init_fn, "cuInit");
    version_get = FIND(cuda, cu_version_fn, "cuDriverGetVersion");
    count_get = FIND(cuda, cu_count_fn, "cuDeviceGetCount");
    if (!init || !version_get || !count_get) {
        printf("init 500\n"); /* CUDA_ERROR_NOT_FOUND */
        return;
    }
    if (version_get(&version) == 0)
        printf("cuda %d\n", version);
    step("cuInit");
    result = init(0);
    printf("init %d\n", result);
    step("counting GPUs");
    if (result != 0 || count_get(&count) != 0)
        return;
    printf("gpus %d\n", count);
    probe_gpus(cuda, count);
}

static void probe_nvml(const char *root)
{
    char path[PATH_MAX], version[DOCTOR_NAME] = "";
    void *nvml;
    nvml_init_fn *init;
    nvml_version_fn *get;

    step("loading libnvidia-ml");
    snprintf(path, sizeof path, "%s%s", root,
             root[0] ? "/lib/libnvidia-ml.so.1" : "libnvidia-ml.so.1");
    nvml = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvml)
        return;
    init = FIND(nvml, nvml_init_fn, "nvmlInit_v2");
    get = FIND(nvml, nvml_version_fn, "nvmlSystemGetDriverVersion");
    step("nvmlInit");
    if (init && get && init() == 0 && get(version, (unsigned)sizeof version - 1) == 0)
        say("version", version);
}

static bool probe_cupti_at(const char *path)
{
    uint32_t version = 0;
    cupti_version_fn *get;
    void *cupti = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!cupti)
        return false;
    get = FIND(cupti, cupti_version_fn, "cuptiGetVersion");
    if (!get || get(&version) != 0)
        return false;
    printf("cupti %u\n", version);
    say("cupti_path", path);
    return true;
}

static void probe_cupti(const char *root)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    static const char *const folders[] = {"/extras/CUPTI/lib64", "/lib64", "/lib"};
    const char *home = doctor_env("CUDA_HOME");
    char path[PATH_MAX];

    step("loading libcupti");
    for (size_t i = 0; i < 3 && !root[0]; i++)
        if (probe_cupti_at(names[i]))
            return;
    for (int place = 0; place < 2; place++)
        for (size_t i = 0; i < 9; i++) {
            if (place == 0 && (!home || root[0]))
                break;
            snprintf(path, sizeof path, "%s%s%s/%s", root, place ? "/usr/local/cuda" : home,
                     folders[i / 3], names[i % 3]);
            if (access(path, R_OK) == 0 && probe_cupti_at(path))
                return;
        }
}

int doctor_probe(const char *root)
{
    probe_cuda(root);
    probe_nvml(root);
    probe_cupti(root);
    fflush(stdout);
    _exit(0); /* no exit handlers of a driver */
}
