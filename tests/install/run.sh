#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR: installs that build into a prefix of its own and builds the consumer against it, by pkg-config and
# by CMake; both must run. With the CUDA back end installed, its half is linked too.
set -euo pipefail
build=$(realpath "${1:?usage: run.sh BUILD_DIR}")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

say() { printf 'install: %s\n' "$*"; }

cmake --install "$build" --prefix "$prefix" >"$work/install.log"
# Nothing may look back into the tree it came from.
mv "$prefix" "$work/moved"
prefix=$work/moved
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gpurt.pc)")
read -ra cflags < <(pkg-config --cflags gpurt)
read -ra libs < <(pkg-config --libs gpurt)

say 'pages and completions'
"$here/pages.sh" "$prefix"

say 'by pkg-config, in C'
cc -std=gnu11 -Wall -Wextra -Werror "${cflags[@]}" "$here"/consumer{,_kernels}.c "${libs[@]}" -o "$work/by-pkg-config"
"$work/by-pkg-config"

say 'by pkg-config, in C++'
c++ -std=c++17 -x c++ -Wall -Wextra -Werror -Wno-missing-field-initializers "${cflags[@]}" \
    "$here"/consumer{,_kernels}.c -x none "${libs[@]}" -o "$work/by-pkg-config-c++"
"$work/by-pkg-config-c++"

nvcc=$(PATH="$PATH:/usr/local/cuda/bin" command -v nvcc || true)
if [[ $nvcc && -e $PKG_CONFIG_PATH/gpurt-cuda.pc ]]; then
    say 'by pkg-config, with the CUDA half'
    read -ra cuda_libs < <(pkg-config --libs gpurt-cuda)
    "$nvcc" -x cu -std=c++17 -arch=sm_90 "${cflags[@]}" -c "$here/consumer_kernels.c" -o "$work/kernels.cuda.o"
    cc -std=gnu11 "${cflags[@]}" "$here"/consumer{,_kernels}.c "$work/kernels.cuda.o" "${cuda_libs[@]}" \
        -o "$work/by-pkg-config-cuda"
    "$work/by-pkg-config-cuda"

    say 'by pkg-config, plain CUDA C++ in one call of nvcc'
    # shellcheck disable=SC2046 # as a user types it
    "$nvcc" -std=c++17 -arch=sm_90 "$here/../../examples/hello_cuda.cu" $(pkg-config --cflags --libs gpurt-cuda) \
        -o "$work/hello_cuda"
    "$here/../../tools/with_gpu.sh" "$work/hello_cuda" || [[ $? == 77 ]]
fi

say 'by CMake'
cmake -S "$here" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DGPURT_CUDA_ARCHS=90 >"$work/cmake.log" || {
    cat "$work/cmake.log"
    exit 1
}
sed -n 's/^-- gpurt: //p' "$work/cmake.log"
cmake --build "$work/cmake" >"$work/build.log" || {
    cat "$work/build.log"
    exit 1
}
for program in "$work"/cmake/consumer*; do
    [[ -f $program && -x $program ]] || continue
    say "${program##*/}"
    "$program"
done
[[ -x $work/cmake/consumer ]]
say 'by README.md'
"$here/readme.sh" "$prefix"
say 'all of it runs'
