#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# missing.sh WHY: stands for a test that this build cannot have.
echo "skipped: $1"
exit 77
