#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh LIBRARY - the kernel and the host code of README.md, as they stand there, compile without a warning and run.
# LIBRARY is libgpurt.a.
set -euo pipefail
library=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# block N: the Nth block of C.
block() { awk -v want="$1" '/^```c$/ { inside = ++n == want; next } /^```/ { inside = 0 } inside' "$root/README.md"; }
block 1 >scale_kernels.c
block 2 >host.txt
grep -q GPURT_KERNEL_DECLARE host.txt || {
    echo 'FAIL: the second block of C in README.md is not the host code' >&2
    exit 1
}
printf '#include <stdint.h>\n%s\n' "$(sed -n 's|.*/\* \(struct scale_args .*;\) \*/.*|\1|p' scale_kernels.c)" >scale.h
{
    echo '#include <stdio.h>'
    sed '/^GPURT_KERNEL_DECLARE/q' host.txt
    echo 'static float v[1000] = {1, 2, 3};'
    echo 'int main(void)'
    echo '{'
    echo 'struct scale_args args = {2, v, 1000};'
    sed '1,/^GPURT_KERNEL_DECLARE/d; s/^\.\.\.$//' host.txt
    echo 'return v[2] == 6 ? gpurt_close(rt, &err) : 1;'
    echo '}'
} >app.c
gcc -std=gnu11 -Wall -Wextra -Werror -I"$root/runtime/include" -I. app.c scale_kernels.c "$library" -lpthread -ldl -lm -o app || {
    cat app.c
    exit 1
}
GPURT_BACKEND=cpu ./app
