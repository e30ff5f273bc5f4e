#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# with_gpu.sh COMMAND...: runs it where the machine has an NVIDIA GPU; elsewhere says so and exits 77, which ctest
# counts as skipped. A GPU that is there but cannot be used is the command's to report.
set -euo pipefail
compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]] || {
    echo 'no NVIDIA GPU on this machine: skipped'
    exit 77
}
exec "$@"
