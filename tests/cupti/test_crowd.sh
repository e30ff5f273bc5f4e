#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_crowd.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS MANY: so many kernels, each counted once, in memory that does not grow
# with them (the program checks its own).
set -euo pipefail
bin=$1 tests=$2 many=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GPURT_CUPTI_LIBRARY=$tests/libfake_cupti.so GPURT_NVML=off GPURT_CUPTI=kernels
unset CUDA_INJECTION64_PATH FAKE_CUPTI

"$bin/gpurt-record" -q -o "$dir/run.gplog" -- "$tests/cupti_app" crowd "$many"
stat=$("$bin/gpurt-log" stat --json "$dir/run.gplog")
for want in '"dropped":0,' "\"activity\":{\"kernels\":$many," '"untimed":0,' '"name":"plain_kernel","count":'; do
    [[ $stat == *"$want"* ]] || {
        echo "FAIL: no $want in $stat" >&2
        exit 1
    }
done
