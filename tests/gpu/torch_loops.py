#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops as programs of PyTorch have them, for gpurt-record to be held against.

    torch_loops.py time [--profiler]   a line of JSON: nanoseconds a step of each loop
    torch_loops.py count [--profiler]  three steps of each, inside an NVTX range "steps"; with the profiler a line of
                                       JSON: how often it saw each kernel, how many copies and fills
    torch_loops.py pieces LOOP         a line of JSON: what a step takes, over a fixed piece of Python beside it, and that
                                       piece in nanoseconds; for LONG_S seconds, so that windows of a budget fall into it

`train` and `infer` are a transformer whose kernels keep an H200 busy; those that end in `_short` are so small that the
GPU waits for their launches, which is where a tool shows most; `graph` replays a captured inference. `triton` launches
small kernels of Triton's; it runs only where it is named, because it needs a compiler. Steps are a fixed number and the
seed is fixed, so that two runs launch the same. --profiler: under the torch profiler. Ends with 77 where there is no
PyTorch, or none that sees a GPU."""
import json
import sys
import tempfile
import time
from contextlib import nullcontext

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    torch = None

SKIPPED = 77
VOCABULARY = 8192
SYNC_EVERY = 10  # steps: a program looks at its loss now and then
LONG_S = 6
MARGIN_S = 0.01  # kernels' times and those of ranges come from two clocks, fitted to each other


class Block(nn.Module if torch else object):
    def __init__(self, width):
        super().__init__()
        self.heads = width // 64
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, 64).transpose(1, 2)
                   for part in self.mix(self.before(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.wide(self.between(x))))


def transformer(layers, width):
    torch.manual_seed(1)
    with torch.device("cuda"):
        return nn.Sequential(nn.Embedding(VOCABULARY, width), *(Block(width) for _ in range(layers)),
                             nn.LayerNorm(width), nn.Linear(width, VOCABULARY))


def tokens(batch, length):
    return torch.randint(VOCABULARY, (batch, length), device="cuda", generator=torch.Generator("cuda").manual_seed(2))


def training(layers, width, batch, length):
    model = transformer(layers, width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    text = tokens(batch, length + 1)

    def step(ranges=False):
        named = torch.cuda.nvtx.range if ranges else lambda _: nullcontext()
        with named("forward"), torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        with named("backward"):
            loss.backward()
        with named("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.detach()
    return step


def inference(layers, width, batch, length):
    model = transformer(layers, width).to(torch.bfloat16).eval()
    text = tokens(batch, length)

    def step(ranges=False):
        with torch.inference_mode(), torch.cuda.nvtx.range("forward") if ranges else nullcontext():
            return model(text)[0, 0, 0]
    return step


def replay(layers, width, batch, length):
    inner = inference(layers, width, batch, length)
    aside, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(aside):
        for _ in range(3):
            inner()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        out = inner()

    def step(ranges=False):
        with torch.cuda.nvtx.range("replay") if ranges else nullcontext():
            graph.replay()
        return out
    step.memory = inner  # the graph reads it
    return step


def own_kernels():
    """Short kernels of Triton, which finds the driver's launch by itself."""
    from triton_add import add  # pylint: disable=import-outside-toplevel
    x = torch.zeros(1 << 16, device="cuda")

    def step(ranges=False):
        with torch.cuda.nvtx.range("triton") if ranges else nullcontext():
            for _ in range(4):
                add[(64,)](x, x.numel(), BLOCK=1024)
        return x[0]
    return step


LOOPS = {  # name: what makes it, steps that are timed
    "train": (lambda: training(12, 1024, 32, 512), 20),
    "train_short": (lambda: training(2, 256, 4, 64), 100),
    "infer": (lambda: inference(12, 1024, 32, 256), 60),
    "infer_short": (lambda: inference(12, 1024, 1, 64), 100),
    "graph": (lambda: replay(12, 1024, 1, 64), 400),
    "triton": (own_kernels, 2000),
}


def profiler(wanted):
    activities = (torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities) if wanted else nullcontext()


def run(step, count):
    for i in range(count):
        value = step()
        if i % SYNC_EVERY == SYNC_EVERY - 1:
            value.item()
    torch.cuda.synchronize()


def timed(profiled, names):
    took = {}
    for name in names:
        make, steps = LOOPS[name]
        step = make()
        run(step, 10)
        with profiler(profiled):
            begin = time.perf_counter_ns()
            run(step, steps)
            took[name] = (time.perf_counter_ns() - begin) / steps
        del step
        torch.cuda.empty_cache()
    print(json.dumps(took))


def piece():
    """Python that asks CUDA for nothing: how fast the host is just now."""
    begin = time.perf_counter_ns()
    sum(i * i for i in range(20000))
    return time.perf_counter_ns() - begin


def in_pieces(name):
    step = LOOPS[name][0]()
    run(step, 30)
    end, steps, pieces, count = time.monotonic() + LONG_S, 0, 0, 0
    while time.monotonic() < end:
        pieces += piece()
        begin = time.perf_counter_ns()
        run(step, SYNC_EVERY)
        steps += time.perf_counter_ns() - begin
        count += 1
    print(json.dumps({"ratio": steps / SYNC_EVERY / pieces, "piece": pieces / count}))


def counted(profiled, names):
    steps = [(name, LOOPS[name][0]()) for name in names]
    for _, step in steps:
        run(step, 3)
    nvtx = torch.cuda.nvtx.range
    with profiler(profiled) as watched:
        with nvtx("steps"):
            time.sleep(MARGIN_S)
            for name, step in steps:
                for _ in range(3):
                    with nvtx(name):
                        value = step(ranges=True)
                value.item()
            torch.cuda.synchronize()
            time.sleep(MARGIN_S)
    if not profiled:
        return
    with tempfile.NamedTemporaryFile(suffix=".json") as trace:
        watched.export_chrome_trace(trace.name)
        with open(trace.name, encoding="utf-8") as text:
            events = json.load(text)["traceEvents"]
    kernels = {}
    for event in events:
        if event.get("cat") == "kernel":
            kernels[event["name"]] = kernels.get(event["name"], 0) + 1
    print(json.dumps({"kernels": kernels, "copies": sum(e.get("cat") == "gpu_memcpy" for e in events),
                      "fills": sum(e.get("cat") == "gpu_memset" for e in events)}))


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if not words or words[0] not in ("time", "count", "pieces") or not set(words[1:]) <= set(LOOPS):
        sys.exit(f"usage: torch_loops.py time|count|pieces [--profiler] [{' '.join(LOOPS)}]")
    if torch is None or not torch.cuda.is_available():
        print("no PyTorch that sees a GPU: skipped", file=sys.stderr)
        return SKIPPED
    if words[0] == "pieces":
        in_pieces(words[1])
        return 0
    (timed if words[0] == "time" else counted)("--profiler" in sys.argv, words[1:] or [name for name in LOOPS if name != "triton"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
