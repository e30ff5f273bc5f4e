/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_peer.h"

#include "refuse.h"

/* Where it was enabled before, also by the program itself, it stays so. */
static cudaError_t peer_enable(int number)
{
    cudaError_t e = gpurt_cuda_api->device_enable_peer_access(number, 0);

    if (e != cudaErrorPeerAccessAlreadyEnabled)
        return e;
    (void)gpurt_cuda_api->get_last_error();
    return cudaSuccess;
}

gpurt_status_t gpurt_cuda_peer_reach(void *self, void *other, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    const gpurt_cuda_device_t *to = (const gpurt_cuda_device_t *)other;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);
    cudaError_t e;
    int can = 0;

    if (st != GPURT_OK)
        return st;
    e = gpurt_cuda_api->device_can_access_peer(&can, d->number, to->number);
    if (e == cudaSuccess && can)
        e = peer_enable(to->number);
    st = gpurt_cuda_leave(d, visit, e, err, "reach another GPU's memory");
    if (st == GPURT_OK && !can)
        return REFUSE(err, GPURT_E_UNSUPPORTED,
                      "GPU %d cannot reach the memory of GPU %d: take two that `nvidia-smi "
                      "topo -p2p w` shows as OK, or send through the host "
                      "(gpurt/hostchannels.h)",
                      d->number, to->number);
    return st;
}
