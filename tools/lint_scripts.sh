#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shell scripts by shellcheck; Python ones at least parse.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

python3 "$here/lint_files.py" dev .ci/run '*.sh' | xargs -0 -r shellcheck --format=gcc
python3 "$here/lint_files.py" '*.py' | xargs -0 -r python3 -c '
import ast, sys
for name in sys.argv[1:]:
    ast.parse(open(name).read(), name)'
