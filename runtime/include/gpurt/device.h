/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - everything a kernel author needs, in one include. */
#ifndef GPURT_DEVICE_H
#define GPURT_DEVICE_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/defer.h>
#include <gpurt/ids.h>
#include <gpurt/kernel.h>
#include <gpurt/log.h>
#include <gpurt/panic.h>
#include <gpurt/scope.h>
#include <gpurt/unwind.h>
#include <gpurt/waits.h>
#include <gpurt/warp.h>

#endif
