#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nvcc_lto.sh TOOLKIT FOLDER ARGUMENT...: nvcc, for a link with -dlto. nvlink loads libnvvm.so from nvvm/lib64 of its
# toolkit; toolkits put together from wheels have it in lib. There, a tree of links in FOLDER plays a toolkit as nvlink
# expects it.
set -euo pipefail
root=$1 folder=$2
nvcc=$root/bin/nvcc
shift 2

if [[ ! -e $root/nvvm/lib64/libnvvm.so ]]; then
    found=$(compgen -G "$root/lib*/libnvvm.so*" | head -n 1) || {
        echo "no libnvvm.so in $root: a link with -dlto needs it" >&2
        exit 1
    }
    mkdir -p "$folder/bin" "$folder/nvvm/lib64"
    ln -sfn "$root"/bin/* "$folder/bin/"
    ln -sfn "$root"/nvvm/bin "$root"/nvvm/libdevice "$folder/nvvm/"
    ln -sfn "$found" "$folder/nvvm/lib64/libnvvm.so"
    for part in include lib lib64 targets; do
        [[ ! -e $root/$part ]] || ln -sfn "$root/$part" "$folder/$part"
    done
    nvcc=$folder/bin/nvcc
fi
exec "$nvcc" "$@"
