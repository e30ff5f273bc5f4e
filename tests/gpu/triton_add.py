# SPDX-License-Identifier: Apache-2.0
"""triton_add: a kernel of Triton's, which reads its source from a file."""
import triton
import triton.language as tl


@triton.jit
def add(x, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < count) + 1.0, mask=at < count)
