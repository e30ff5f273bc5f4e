/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_error.h - what each CUDA error means to a caller of gpurt: a status, and what to do.
 *
 * One table, so that every failing call of the CUDA back end is told in the same words. */
#ifndef GPURT_HOST_CUDA_ERROR_H
#define GPURT_HOST_CUDA_ERROR_H

#include <gpurt/status.h>

#include <cuda_runtime_api.h>

typedef struct gpurt_cuda_error {
    cudaError_t error;
    gpurt_status_t status;
    bool kills; /* the context is dead with it: the process can use no GPU any more */
    const char *remedy; /* what the caller can do, without a full stop */
} gpurt_cuda_error_t;

/* The row of the error; a row of GPURT_E_CUDA for one the table does not name. */
const gpurt_cuda_error_t *gpurt_cuda_error_find(cudaError_t error);

/* Takes the error out of CUDA's hands (so that it does not surface in somebody else's
 * next call) and tells it: "doing: CUDA's words (cudaErrorName); remedy". Context: the
 * host thread whose call failed. Returns: the status of the row. */
gpurt_status_t gpurt_cuda_fail(gpurt_error_t *err, cudaError_t error, const char *doing);

#endif
