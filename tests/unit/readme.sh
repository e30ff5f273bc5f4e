#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh LIBRARY - the kernel of README.md, as it stands there, compiles without a warning and runs; the page is short,
# and what it links to is there. LIBRARY is libgpurt.a. tests/install/readme.sh does what the page says of builds.
set -euo pipefail
library=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
(($(wc -l <"$root/README.md") <= 120)) || fail 'README.md has more than 120 lines'
grep -o '](\([^):]*\))' "$root/README.md" | sed 's/^](//; s/)$//' >links
while read -r link; do
    [[ -e $root/$link ]] || fail "README.md links to $link, which is not there"
done <links

"$root/tests/install/readme_project.sh" .
gcc -std=gnu11 -Wall -Wextra -Werror -I"$root/runtime/include" -I. app.c scale_kernels.c "$library" -lpthread -ldl -lm -o app
GPURT_BACKEND=cpu ./app
