#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-doctor on machines that folders stand in for.
Arguments: folder of the programs, the library of tests/gen/fake_driver.c."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

DOCTOR = os.path.join(sys.argv[1], "gpurt-doctor")
FAKE = sys.argv[2]
FILES = {
    "proc/version": "Linux version 6.1.0-amd64 (gcc-12) #1 SMP\n",
    "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu sse2 avx avx2\n\nprocessor\t: 1\n",
    "proc/self/limits": "Limit   Soft Limit  Hard Limit  Units\nMax locked memory         unlimited            unlimited            bytes\n",
    "proc/self/status": "Name:\tgpurt-doctor\nCapEff:\t0000000000000000\n",
    "proc/sys/vm/max_map_count": "65530\n",
    "proc/sys/vm/mmap_rnd_bits": "28\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "usr/share/terminfo/x/xterm": "",
    "facts": "shm_bytes 1073741824\nshm_free 1073741824\ncpus 2\n",
}
DRIVER = {
    "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n",
    "proc/driver/nvidia/params": "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n",
}
TOOLS = {
    "gcc": "gcc (Debian 12.2.0-14) 12.2.0",
    "clang": "Debian clang version 14.0.6",
    "nvcc": "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88",
    "gdb": "GNU gdb (Debian 13.1-3) 13.1",
    "addr2line": "GNU addr2line (GNU Binutils for Debian) 2.40",
    "gpurt-drain": "gpurt-drain 0.1.0",
}


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


class Machine:
    """A sound machine, changed by the arguments: files (None: without), tools, environment."""

    def __init__(self, driver=None, files=None, tools=None, **environment):
        self.root = tempfile.mkdtemp(dir=".")
        for path, text in {**FILES, **(DRIVER if driver is not None else {}), **(files or {})}.items():
            if text is not None:
                write(f"{self.root}/{path}", text)
        for name, text in {**TOOLS, **(tools or {})}.items():
            if text is not None:
                lines = text if text.startswith("#!") else f"#!/bin/sh\nprintf '%s\\n' '{text}'\n"
                write(f"{self.root}/bin/{name}", lines, 0o755)
        if driver is not None:
            for path in ("lib/libcuda.so.1", "lib/libnvidia-ml.so.1", "usr/local/cuda/lib64/libcupti.so.13"):
                os.makedirs(os.path.dirname(f"{self.root}/{path}"), exist_ok=True)
                shutil.copy(FAKE, f"{self.root}/{path}")
        self.environment = {
            "PATH": os.path.abspath(f"{self.root}/bin") + ":/usr/bin:/bin" if environment.pop("real_path", False)
            else os.path.abspath(f"{self.root}/bin"),
            "TERM": "xterm", "LC_ALL": "C.UTF-8", "FAKE_DRIVER": driver or "", **environment,
        }
        for key in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if key in os.environ:
                self.environment[key] = os.environ[key]

    def run(self, *arguments):
        self.environment.setdefault("PATH", "/nowhere")
        return subprocess.run([DOCTOR, "--root", self.root, *arguments], env=self.environment, capture_output=True, text=True)

    def findings(self, *arguments):
        done = self.run("--json", *arguments)
        report = json.loads(done.stdout)
        problems = sum(f["state"] == "problem" for f in report["findings"])
        assert report["schema"] == "gpurt-doctor" and report["problems"] == problems
        assert done.returncode == (1 if problems else 0), done
        for f in report["findings"]:
            assert f["state"] == "ok" or f["remedy"], f"no remedy: {f}"
        return report["findings"]


def expect(machine, topic, state, words, *arguments):
    """The topic has a finding in that state that says the words; nothing else is a problem."""
    findings = machine.findings(*arguments)
    told = [f for f in findings if f["topic"] == topic]
    assert any(f["state"] == state and re.search(words, f["found"]) for f in told), (topic, state, words, told)
    others = [f for f in findings if f["topic"] != topic and f["state"] == "problem"]
    assert not others, others


def sound():
    for driver in (None, ""):
        worse = [f for f in Machine(driver).findings() if f["state"] != "ok"]
        assert [f["topic"] for f in worse] == (["driver", "cupti"] if driver is None else []), worse
    found = Machine("").findings()
    assert [f["found"] for f in found if f["topic"] == "driver"] == ["NVIDIA driver 580.65.06, CUDA 13.0, 2 GPUs"]
    text = Machine("").run().stdout
    assert "Fake \\x1b[31mGPU 40, compute capability 9.0, 132 SMs" in text and "\x1b" not in text
    assert text.endswith("0 problems, 0 notes\n")


def drivers():
    expect(Machine("crash"), "driver", "problem", "crashed while cuInit")
    expect(Machine("init=999"), "driver", "problem", "cuInit fails with 999")
    expect(Machine("init=803"), "driver", "problem", "differ")
    expect(Machine("init=777"), "driver", "problem", "cuInit fails with 777")
    expect(Machine("init=100", CUDA_VISIBLE_DEVICES="7"), "driver", "note", "CUDA_VISIBLE_DEVICES is 7")
    expect(Machine("prohibited"), "gpu", "problem", "GPU 1: .*prohibited")
    expect(Machine("exclusive"), "gpu", "note", "GPU 1: .*exclusive")
    expect(Machine("old"), "gpu", "problem", "GPU 1: .*capability 6.1")
    expect(Machine(files=DRIVER), "driver", "problem", "kernel module 580.65.06, but no libcuda")
    expect(Machine("cuda=12080"), "cuda", "problem", "toolkit 13.0 is newer than the driver's CUDA 12.8")
    newer = {"nvcc": "Cuda compilation tools, release 13.1, V13.1.5"}
    expect(Machine("", tools=newer), "cuda", "note", "minor version ahead")
    expect(Machine("cuda=13010"), "cuda", "ok", "the driver's CUDA 13.1 runs toolkit 13.0")
    start = time.monotonic()
    expect(Machine("hang"), "driver", "problem", "hangs while cuInit", "--timeout", "3s")
    assert time.monotonic() - start < 60


def toolkit():
    restricted = {"proc/driver/nvidia/params": "RmProfilingAdminOnly: 1\n"}
    admin = {"proc/self/status": "CapEff:\t0000000000200000\n"}
    nearly = {"proc/self/status": "CapEff:\t0000000000100000\n"}
    expect(Machine("", files=restricted), "profiling", "note", "administrators")
    expect(Machine("", files={**restricted, **nearly}), "profiling", "note", "administrators")
    expect(Machine("", files={**restricted, **admin}), "profiling", "ok", "this process is one")
    expect(Machine("", files={"proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n"}), "profiling", "ok", "all users")
    old = "Cuda compilation tools, release 12.6, V12.6.20"
    expect(Machine(tools={"nvcc": old}), "nvcc", "problem", "nvcc 12.6")
    expect(Machine(tools={"nvcc": old.replace("12.6", "12.8")}), "nvcc", "ok", "nvcc 12.8")
    expect(Machine(tools={"nvcc": "nonsense"}), "nvcc", "problem", "does not tell its version")
    expect(Machine(tools={"nvcc": "#!/bin/sh\nexec sleep 60\n"}, real_path=True), "nvcc", "problem", "does not tell", "--timeout", "3s")
    expect(Machine(tools={"nvcc": None}), "nvcc", "note", "no nvcc")
    expect(Machine(CUDA_MODULE_LOADING="LAZY"), "loading", "note", "LAZY")
    expect(Machine(CUDA_MODULE_LOADING="EAGER"), "loading", "ok", "EAGER")
    expect(Machine(CUDA_INJECTION64_PATH="/nowhere/libother.so"), "injection", "problem", "not there")
    expect(Machine(CUDA_INJECTION64_PATH="libother.so"), "injection", "note", "another tool")
    expect(Machine(CUDA_INJECTION64_PATH="libgpurt_inject.so"), "injection", "ok", "gpurt's")
    expect(Machine(GPURT_INJECTION_LIBRARY="/nowhere/libgpurt-inject.so"), "collector", "note", "is not found")
    expect(Machine(GPURT_INJECTION_LIBRARY="/bin/true"), "collector", "ok", "/bin/true")


def surroundings():
    pid = {"tmp/nvidia-mps/nvidia-cuda-mps-control.pid": "4711\n"}
    expect(Machine(files={**pid, "proc/4711/comm": "mps\n"}), "mps", "note", r"MPS runs \(process 4711\)")
    expect(Machine(files=pid), "mps", "ok", "no MPS")
    expect(Machine(CUDA_MPS_PIPE_DIRECTORY="/run/mps"), "mps", "note", "no MPS daemon runs there")
    wsl = {"proc/version": "Linux version 5.15.90.1-microsoft-standard-WSL2 (gcc) #1 SMP\n"}
    expect(Machine(files=wsl), "wsl", "note", "^WSL2: ")
    expect(Machine("", files=wsl), "wsl", "problem", "^WSL2: ")
    expect(Machine(files={"proc/cpuinfo": "flags\t: x\nflags\t: fpu sse2 notavx avx2\n"}), "cpu", "problem", "no AVX")
    expect(Machine(files={"proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd\n"}), "cpu", "ok", "no x86")
    expect(Machine(TERM="dumb"), "terminal", "note", "TERM is dumb")
    expect(Machine(TERM="unheard-of"), "terminal", "note", "nothing is known")
    expect(Machine(LC_ALL="C"), "locale", "note", "ASCII")
    expect(Machine(tools={"gcc": "gcc (GCC) 8.5.0"}), "gcc", "problem", "too old")
    expect(Machine(tools={"clang": None}), "race", "note", "very slow")
    expect(Machine(tools={"gpurt-drain": None}), "drainer", "note", "not in PATH")
    expect(Machine(GPURT_OFF="1"), "logging", "note", "GPURT_OFF is 1")
    assert all(f["topic"] != "logging" for f in Machine(GPURT_OFF="0").findings())
    expect(Machine(tools={"gdb": None}), "gdb", "note", "no gdb")
    expect(Machine(tools={"addr2line": None}), "addr2line", "note", "no addr2line")


def memory():
    tiny = {"facts": "shm_bytes 67108864\nshm_free 1048576\ncpus 2\n"}
    refused = {"facts": tiny["facts"] + "memfd_errno 38\n"}
    room = {"facts": FILES["facts"] + "memfd_errno 1\n"}
    expect(Machine(files=tiny), "shm", "note", "64.0 MiB, 1.0 MiB free; a box takes 1")
    expect(Machine(files=refused), "shm", "problem", "1.0 MiB free")
    expect(Machine(files=room), "memfd", "note", "not permitted")
    expect(Machine(files=tiny), "shm", "ok", "a box takes 1.0 MiB", "--box-bytes", "1048576")
    # Two GPUs of 132 SMs with 64 warps each: 2 * 132 * 64 rings of 16 KiB and their controls.
    expect(Machine("", files=tiny), "shm", "note", "a box takes 272.8 MiB")
    low = {"proc/self/limits": "Max locked memory         8388608              8388608              bytes\n"}
    expect(Machine("", files=low), "memlock", "note", "up to 8.0 MiB, a box takes 272.8 MiB")
    expect(Machine("", files=low), "memlock", "ok", "up to 8.0 MiB", "--box-bytes", "8388608")
    assert all(f["topic"] != "memlock" for f in Machine(files=low).findings())
    short = {"proc/self/limits": "Max file size             %d              unlimited            bytes\n"}
    expect(Machine(files={k: v % 65536 for k, v in short.items()}), "filesize", "problem", "up to 0.1 MiB, a box takes")
    expect(Machine(files={k: v % (3 << 30) for k, v in short.items()}), "filesize", "note", "up to 3.0 GiB")
    assert all(f["topic"] != "filesize" for f in Machine().findings())
    huge = "sys/kernel/mm/transparent_hugepage/shmem_enabled"
    expect(Machine(files={huge: "always within_size advise [never] deny force\n"}), "huge-pages", "note", "a third slower")
    expect(Machine(files={huge: "always within_size [advise] never deny force\n"}), "huge-pages", "ok", "may lie in huge")
    assert all(f["topic"] != "huge-pages" for f in Machine().findings())
    expect(Machine(files={"proc/sys/vm/max_map_count": "1000\n"}), "maps", "note", "is 1000")
    expect(Machine(files={"proc/sys/vm/mmap_rnd_bits": "32\n"}), "aslr", "note", "32 bits")
    calm = {"proc/sys/vm/mmap_rnd_bits": "32\n", "proc/sys/kernel/randomize_va_space": "0\n"}
    expect(Machine(files=calm), "aslr", "ok", "0 bits")


def real():
    """This machine, whatever it is: an answer, in time, and a status that fits."""
    done = subprocess.run([DOCTOR, "--json"], capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    assert done.returncode == (report["problems"] > 0), done
    topics = {f["topic"] for f in report["findings"]}
    assert {"driver", "nvcc", "mps", "cpu", "memfd", "shm", "gcc", "terminal", "locale"} <= topics, topics
    for arguments in (["word"], ["--timeout", "soon"]):
        assert subprocess.run([DOCTOR, *arguments], capture_output=True).returncode == 2


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for check in (sound, drivers, toolkit, surroundings, memory, real):
        check()
print("all well")
