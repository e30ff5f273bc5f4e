/* SPDX-License-Identifier: Apache-2.0 */
/* dialect.h - the seam between the device headers and the two back ends.
 *
 * dialect_cuda.h and dialect_simt.h define the same names; ids.h, warp.h, block.h, kernel.h
 * and clock.h say what each name means. Nothing else asks which back end it is compiled for. */
#ifndef GPURT_DIALECT_H
#define GPURT_DIALECT_H

#include <gpurt/atomic.h>
#include <gpurt/base.h>

#if GPURT_ON_CUDA
#    include <gpurt/impl/dialect_cuda.h>
#else
#    include <gpurt/impl/dialect_simt.h>
#endif

#endif
