/* SPDX-License-Identifier: Apache-2.0 */
#include "gpuclaim.h"

#include "gpudriver.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    QUEUE = 64 /* who asks for the holder, between two answers */
};

static socklen_t address_of(const uint8_t uuid[GPUCLAIM_UUID], struct sockaddr_un *address)
{
    char *to = address->sun_path + 1; /* a leading 0 in the path: abstract */
    size_t used;

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    used = (size_t)snprintf(to, sizeof address->sun_path - 1, "gpurt-lines-");
    for (int i = 0; i < GPUCLAIM_UUID; i++)
        used += (size_t)snprintf(to + used, sizeof address->sun_path - 1 - used, "%02x",
                                 uuid[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + used);
}

static uint32_t holder_of(const struct sockaddr_un *address, socklen_t bytes)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct ucred who = {0};
    socklen_t room = sizeof who;

    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)address, bytes) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &room) != 0)
        who.pid = 0;
    close(fd);
    return who.pid > 0 ? (uint32_t)who.pid : 0;
}

bool gpuclaim_take(gpuclaim_t *c, const uint8_t uuid[GPUCLAIM_UUID], uint32_t *holder)
{
    struct sockaddr_un address;
    const socklen_t bytes = address_of(uuid, &address);
    bool taken;
    int fd;

    *holder = 0;
    if (c->fd >= 0)
        return true;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true;
    if (bind(fd, (const struct sockaddr *)&address, bytes) == 0 && listen(fd, QUEUE) == 0) {
        c->fd = fd;
        return true;
    }
    taken = errno == EADDRINUSE;
    close(fd);
    if (taken)
        *holder = holder_of(&address, bytes);
    return !taken;
}

void gpuclaim_drop(gpuclaim_t *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void gpuclaim_answer(const gpuclaim_t *c)
{
    int fd;

    while (c->fd >= 0 && (fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(fd);
}

bool gpuclaim_uuid(uint32_t device, uint8_t uuid[GPUCLAIM_UUID])
{
    gpudriver_t driver;
    CUdevice handle;

    return gpudriver_find(&driver) &&
           driver.cuDeviceGet(&handle, (int)device) == CUDA_SUCCESS &&
           gpudriver_uuid(&driver, handle, uuid);
}
