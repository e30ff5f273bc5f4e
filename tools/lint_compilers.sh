#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dialect, by every compiler that will read it: each public header alone, and each file with a kernel in it.
#   c      gcc as gnu11, with its warnings about what C++ would refuse
#   cxx    g++ as C++17
#   cuda   nvcc, headers only: the cuda preset compiles the kernels. Alone those that say what is CUDA's; the others
#          in one go, for alone g++ reads the same text of them
# clang reads all of them for clang-tidy and in the preset tsan.
# lint_compilers.sh                          all of it
# lint_compilers.sh LANGUAGE NAME SOURCE     one compilation; NAME is what a report calls it
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
nvcc=$(PATH="$PATH:/usr/local/cuda/bin" command -v nvcc || true)

compile() { # LANGUAGE NAME SOURCE
    local flags=(-Iruntime/include "-I$(dirname "$2")" -Wall -Wextra -Werror -fsyntax-only)
    case $1 in
    c) gcc -std=gnu11 -x c -Wc++-compat "${flags[@]}" "$3" ;;
    cxx) g++ -std=c++17 -x c++ "${flags[@]}" -Wno-missing-field-initializers "$3" ;;
    cuda) "$nvcc" -std=c++17 -x cu -arch=sm_90 -ptx -Iruntime/include -Werror all-warnings "$3" -o "$3.ptx" ;;
    esac || {
        echo "$2:1: refused as $1 (above): keep to what C11 and CUDA C++ share (docs/DIALECT.md)"
        return 1
    }
}

plan() { # prints LANGUAGE NAME SOURCE of each compilation
    local header file language languages together=$temporary/together.c
    while IFS= read -r -d '' header; do
        # A source of its own, so that the header is the first thing a compiler meets.
        file=$temporary/$(basename "$header" .h).c
        printf '#include <%s>\ntypedef int gpurt_lint_not_empty;\n' "${header#runtime/include/}" >"$file"
        languages=(c cxx)
        case $header in # the two halves of the seam are for one kind of compiler each
        */dialect_cuda*.h) languages=(cuda) ;;
        */dialect_simt.h) ;;
        *) if grep -qE 'GPURT_ON_CUDA|__CUDA|__NVCC__' "$header"; then languages+=(cuda); else cat "$file" >>"$together"; fi ;;
        esac
        for language in "${languages[@]}"; do
            [[ $language == cuda && ! $nvcc ]] || printf '%s\0' "$language" "$header" "$file"
        done
    done < <(python3 "$here/lint_files.py" 'runtime/include/gpurt/*.h')
    [[ ! $nvcc || ! -e $together ]] || printf '%s\0' cuda runtime/include/gpurt "$together"
    while IFS= read -r -d '' file; do
        for language in c cxx; do
            printf '%s\0' "$language" "$file" "$file"
        done
    done < <(python3 "$here/lint_files.py" 'tests/*.c' 'examples/*.c' | xargs -0 -r grep -lZ '^GPURT_KERNEL(')
}

if (($# == 3)); then
    compile "$@"
    exit
fi
[[ $nvcc ]] || echo 'no nvcc: the headers are not read as CUDA'
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
plan | xargs -0 -r -n 3 -P "$(nproc)" "${BASH_SOURCE[0]}"
