#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `./dev mutants [ID...]`: see run.py.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/run.py" "$@"
