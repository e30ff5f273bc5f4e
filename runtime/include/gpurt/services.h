/* SPDX-License-Identifier: Apache-2.0 */
/* services.h - kernels that run until the host stops them: the host's side (service.h has the
 * device's).
 *
 *     struct echo_args args = {.words = words};          // its port is called `service`
 *     gpurt_service_t echo;
 *
 *     gpurt_service_launch(rt, &launch, echo_kernel, &args, NULL, &echo, &err);
 *     gpurt_hostword_store(rt, words, 1, &err);          // hostwords.h
 *     gpurt_service_ring(rt, echo);                      // it looks for work
 *     gpurt_service_stop(rt, echo, &err);
 *
 * A service has a stream of its own, which gpurt_sync does not wait for. All its blocks are
 * resident at once. gpurt_close stops services first, the latest launched first. While one runs,
 * on a GPU gpurt_sync waits for the streams of gpurt_stream_create and for CUDA's default
 * streams; of a non-blocking stream that the program made itself it does not know.
 * Context: host, any thread. */
#ifndef GPURT_SERVICES_H
#define GPURT_SERVICES_H

#include <gpurt/heap.h>
#include <gpurt/service.h>

typedef uint64_t gpurt_service_t;

enum {
    GPURT_SERVICES = 64, /* of a device at a time */
    GPURT_SERVICE_HEAPS = 8,
    GPURT_SERVICE_NAME = 48, /* bytes of a name, with its end */
    GPURT_SERVICE_STOP_MS = 5000
};

/* Zero means the default everywhere. */
typedef struct gpurt_service_options {
    uint32_t struct_size; /* sizeof(gpurt_service_options_t), or 0 */
    uint32_t stop_ms;     /* how long it may take to stop; default GPURT_SERVICE_STOP_MS */
    const char *name;     /* for errors, the log and the screen; default: the kernel's */
    /* Heaps that it uses. While one of them is saved, compacted or destroyed, the service stands
     * at its safe points, and that call waits for it, stop_ms at most. */
    const gpurt_heap_t *const *heaps;
    uint32_t heap_count;
} gpurt_service_options_t;

typedef enum gpurt_service_state {
    GPURT_SERVICE_IS_STARTING = 0, /* not all of its blocks run yet */
    GPURT_SERVICE_IS_RUNNING = 1,
    GPURT_SERVICE_IS_RESTING = 2,  /* a heap that it declared is to be at rest */
    GPURT_SERVICE_IS_STOPPING = 3, /* it was told to, and has not ended */
    GPURT_SERVICE_IS_ENDED = 4     /* its kernel has ended, or failed */
} gpurt_service_state_t;

typedef struct gpurt_service_status {
    gpurt_service_state_t state;
    uint32_t blocks;
    uint32_t coming, running, resting, left; /* of them; cancelled ones: see service.h */
    gpurt_status_t ended;                    /* how its kernel ended; GPURT_OK before */
    char name[GPURT_SERVICE_NAME];           /* cut */
} gpurt_service_status_t;

GPURT_BEGIN_DECLS

/* As gpurt_launch_kernel, but launch->stream is not looked at. port_offset: of the port in args,
 * which the launch fills in its copy.
 * Returns: GPURT_E_ROOM when it, with the services that run, would leave less than an eighth of
 * the device for other kernels, the runtime's own among them. */
gpurt_status_t gpurt_service_launch_kernel(gpurt_t *rt, const gpurt_launch_t *launch,
                                           const gpurt_kernel_t *kernel, const void *args,
                                           size_t args_bytes, size_t port_offset,
                                           const gpurt_service_options_t *options,
                                           gpurt_service_t *out, gpurt_error_t *err);

/* Blocks that are idle go on and look for work. */
gpurt_status_t gpurt_service_ring(gpurt_t *rt, gpurt_service_t service);

/* Tells it to stop, waits until its kernel has ended, and releases the handle.
 * Returns: how its kernel ended, or GPURT_E_PANIC, as gpurt_stream_sync; GPURT_E_TIMEOUT when it
 * runs on: then it stays told to stop, and the handle stays. */
gpurt_status_t gpurt_service_stop(gpurt_t *rt, gpurt_service_t service, gpurt_error_t *err);

/* Waits for nothing. */
gpurt_status_t gpurt_service_status(gpurt_t *rt, gpurt_service_t service,
                                    gpurt_service_status_t *out);

GPURT_END_DECLS

/* gpurt_service_launch(rt, &launch, kernel, &args, &options, &service, err): kernel is the name
 * given to GPURT_KERNEL; its arguments have a member `gpurt_service_port_t service`. */
#define gpurt_service_launch(rt, launch, kernel, args, options, out, err)           \
    (gpurt_launch_from(__FILE__, __LINE__),                                         \
     gpurt_service_launch_kernel(                                                   \
         rt, launch, &gpurt_kernel_##kernel,                                        \
         (1 ? (args) : (const gpurt_args_of_##kernel *)0), sizeof *(args),          \
         offsetof(gpurt_args_of_##kernel, service) +                                \
             0 * sizeof(*(1 ? &(args)->service : (const gpurt_service_port_t *)0)), \
         options, out, err))

#endif
