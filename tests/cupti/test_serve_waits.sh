#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_serve_waits.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: a call of CUDA that has not returned for a second beside a service of
# its GPU is told once, with both names; short ones, and those of another GPU, are not.
set -euo pipefail
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"

GPURT_BACKEND=cpu "$bin/gpurt-record" -q -o run.gplog -- "$tests/both_app" serve || fail 'serve'
log_has 'WARN .*cudaFree (cuMemFree_v2) of thread [0-9]* has not returned for a second while service echo runs on GPU 1' serve
[ "$(lines 'has not returned')" = 1 ] || fail "$("$bin/gpurt-log" cat run.gplog)"
