#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops as programs of CuPy and JAX have them, each library in a program of its own.

    array_loops.py time cupy|jax      a line of JSON: nanoseconds a step
    array_loops.py count cupy|jax N   N steps and no more, for counts to be compared

`cupy` launches one short kernel a step. `jax` runs a compiled step of a small model's training, whose
kernels XLA has made. Ends with 77 where the library is not there, or sees no GPU."""
import json
import os
import sys
import time

SKIPPED = 77
WARM = 20
SYNC_EVERY = 1000  # steps


def cupy_loop():
    import cupy  # pylint: disable=import-outside-toplevel
    cupy.cuda.runtime.getDeviceCount()
    x = cupy.zeros(1 << 16, dtype=cupy.float32)
    add = cupy.ElementwiseKernel("", "float32 x", "x = x + 1.0f", "count_up")

    def step():
        add(x)
        return x
    return step, lambda value: cupy.cuda.runtime.deviceSynchronize(), lambda: float(x[0])


def jax_loop():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax  # pylint: disable=import-outside-toplevel
    from jax import numpy as jnp  # pylint: disable=import-outside-toplevel
    jax.devices("gpu")
    keys = jax.random.split(jax.random.PRNGKey(1), 3)
    weights = [jax.random.normal(keys[0], (256, 512)) * 0.05, jax.random.normal(keys[1], (512, 256)) * 0.05]
    batch = jax.random.normal(keys[2], (64, 256))

    def loss(w):
        return jnp.mean((jnp.tanh(batch @ w[0]) @ w[1] - batch) ** 2)

    @jax.jit
    def train(w):
        return [a - 0.1 * g for a, g in zip(w, jax.grad(loss)(w))]
    state = [weights]

    def step():
        state[0] = train(state[0])
        return state[0]
    return step, jax.block_until_ready, lambda: float(loss(state[0]))


LOOPS = {"cupy": (cupy_loop, 40000), "jax": (jax_loop, 4000)}  # name: what makes it, steps that are timed


def run(step, wait, count):
    for i in range(count):
        value = step()
        if i % SYNC_EVERY == SYNC_EVERY - 1:
            wait(value)
    wait(value)


def main():
    words = sys.argv[1:]
    if len(words) < 2 or words[0] not in ("time", "count") or words[1] not in LOOPS:
        sys.exit(f"usage: array_loops.py time|count {'|'.join(LOOPS)} [N]")
    make, steps = LOOPS[words[1]]
    try:
        step, wait, result = make()
    except Exception as why:  # pylint: disable=broad-exception-caught # each library has its own for "no GPU"
        print(f"no {words[1]} that sees a GPU: {type(why).__name__}: {why}: skipped", file=sys.stderr)
        return SKIPPED
    if words[0] == "count":
        run(step, wait, int(words[2]))
        print(json.dumps({"result": result()}))
        return 0
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})  # this thread alone: one that moves differs by a quarter
    run(step, wait, WARM)
    begin = time.perf_counter_ns()
    run(step, wait, steps)
    print(json.dumps({words[1]: (time.perf_counter_ns() - begin) / steps}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
