#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh PREFIX - what README.md says to nvcc users and to users of CMake, typed as it stands there, against the gpurt
# that is installed in PREFIX.
set -euo pipefail
prefix=$(realpath "${1:?usage: readme.sh PREFIX}")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$prefix/bin:$PATH:/usr/local/cuda/bin PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gpurt.pc)")
"$here/readme_project.sh" "$work"
cd "$work"

if ! command -v nvcc >/dev/null || [[ ! -e $PKG_CONFIG_PATH/gpurt-cuda.pc ]]; then
    echo 'readme: skipped what it says of nvcc: there is none here'
else
    head -n 1 hello.sh >compile.sh
    bash -euo pipefail -x compile.sh
    [[ -x hello ]]
    sed 1d hello.sh >run.sh
    status=0
    "$here/../../tools/with_gpu.sh" bash -euo pipefail -x run.sh >out 2>&1 || status=$?
    cat out
    ((status == 77)) || { # 77: no GPU
        ((status == 0)) && grep 'hello from block 3 of 4' out >/dev/null
    }
fi

cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DGPURT_CUDA_ARCHS=90 >cmake.log || {
    cat cmake.log
    exit 1
}
cmake --build build >build.log || {
    cat build.log
    exit 1
}
GPURT_BACKEND=cpu build/app
echo 'readme: it does what it says'
