#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme_project.sh FOLDER - what README.md shows, laid out in FOLDER as files: hello.cu, hello.sh, scale_kernels.c with its
# scale.h, and CMakeLists.txt. The host code, app.c, is ours.
set -euo pipefail
readme=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../../README.md
cd "${1:?folder}"

block() { # LANGUAGE FILE: the first block of that language
    awk -v want="\`\`\`$1" '$0 == want && !n++ { inside = 1; next } /^```/ { inside = 0 } inside' "$readme" >"$2"
    [[ -s $2 ]] || {
        echo "FAIL: README.md has no block of $1" >&2
        exit 1
    }
}
block cuda hello.cu
block sh hello.sh
block c scale_kernels.c
block cmake block.cmake
{
    echo 'cmake_minimum_required(VERSION 3.25)'
    echo 'project(app LANGUAGES C)'
    cat block.cmake
} >CMakeLists.txt
printf '#include <stdint.h>\n%s\n' "$(sed -n 's|.*/\* \(struct scale_args .*;\) \*/.*|\1|p' scale_kernels.c)" >scale.h
cat >app.c <<'C'
#include "scale.h"
#include <gpurt/gpurt.h>
#include <stdio.h>

GPURT_KERNEL_DECLARE(scale, struct scale_args);

int main(void)
{
    float v[1000] = {1, 2, 3};
    struct scale_args args = {2, NULL, 1000};
    gpurt_launch_t launch = {.grid = {4, 1, 1}, .block = {256, 1, 1}};
    gpurt_error_t err = {0};
    gpurt_t *rt;
    void *memory;

    if (gpurt_open(NULL, &rt, &err) == GPURT_OK &&
        gpurt_mem_create(rt, sizeof v, &memory, &err) == GPURT_OK &&
        gpurt_copy(rt, 0, memory, v, sizeof v, &err) == GPURT_OK) {
        args.v = memory;
        if (gpurt_launch(rt, &launch, scale, &args, &err) == GPURT_OK &&
            gpurt_sync(rt, &err) == GPURT_OK &&
            gpurt_copy(rt, 0, v, memory, sizeof v, &err) == GPURT_OK && v[2] == 6)
            return gpurt_mem_destroy(rt, memory), gpurt_close(rt, &err);
    }
    fprintf(stderr, "app: %s, v[2] is %g\n", err.text, v[2]);
    return 1;
}
C
