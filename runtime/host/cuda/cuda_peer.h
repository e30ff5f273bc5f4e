/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_peer.h - memory of one GPU, reached by kernels of another (backend.h: peer_reach). */
#ifndef GPURT_HOST_CUDA_PEER_H
#define GPURT_HOST_CUDA_PEER_H

#include "cuda_device.h"

/* Returns: GPURT_E_UNSUPPORTED: there is no way between the two. Asked twice it is done once. */
gpurt_status_t gpurt_cuda_peer_reach(void *self, void *other, gpurt_error_t *err);

#endif
