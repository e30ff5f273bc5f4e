#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py BUILD [FOLDER]: the programs as a Python wheel, for people whose GPU code is Python; prints its path.

Takes what `cmake --install` lays down: programs, the collector, manual pages, completions and the pages that --help names. Headers and libraries
stay out. Needs Python alone, and no network. The name says the oldest glibc that the programs run on."""
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# gpurt-check and gpurt-replay are for those who write kernels in C.
PROGRAMS = ("gpurt", "gpurt-doctor", "gpurt-drain", "gpurt-log", "gpurt-panic", "gpurt-record", "gpurt-top")
FOLDERS = ("share/man/man1", "share/bash-completion", "share/zsh", "share/fish")
PAGES = "share/doc/gpurt"  # that --help names
TIME = (2020, 1, 1, 0, 0, 0)  # the same input makes the same file


def version():
    text = (ROOT / "runtime/include/gpurt/base.h").read_text()
    return ".".join(re.search(rf"define GPURT_VERSION_{part}\s+(\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def chosen(prefix):
    """Pairs of a path in the wheel, below gpurt-VERSION.data, and the file that goes there."""
    for name in PROGRAMS:
        yield f"scripts/{name}", prefix / "bin" / name
    # Programs look for it in lib/ beside their folder, whatever this system calls its own.
    for name in ("libgpurt-inject.so", "libgpurt-launch.so"):
        for path in prefix.glob(f"lib*/**/{name}"):
            yield f"data/lib/{name}", path
    for folder in FOLDERS:
        for path in sorted((prefix / folder).rglob("*")):
            if path.is_file() and path.name.strip("_").split(".")[0] in PROGRAMS:
                yield f"data/{path.relative_to(prefix)}", path
    for path in sorted((prefix / PAGES).glob("*.md")):
        yield f"data/{path.relative_to(prefix)}", path


def tag(files):
    needed = [int(minor) for _, path in files for minor in re.findall(rb"GLIBC_2\.(\d+)", path.read_bytes())]
    return f"manylinux_2_{max(needed)}_{platform.machine()}"


def metadata():
    return (f"Metadata-Version: 2.1\nName: gpurt\nVersion: {version()}\n"
            "Summary: Watch, log and debug any CUDA program: gpurt-top, gpurt-record, gpurt-log, gpurt-panic\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "README.md").read_text()).encode()


def write(path, files, platform_tag):
    about = f"gpurt-{version()}.dist-info"
    entries = [(f"gpurt-{version()}.data/{name}", file.read_bytes(), 0o755 if "share" not in name else 0o644)
               for name, file in files]
    entries += [(f"{about}/METADATA", metadata(), 0o644),
                (f"{about}/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
                (f"{about}/WHEEL", ("Wheel-Version: 1.0\nGenerator: gpurt\nRoot-Is-Purelib: false\n"
                                    f"Tag: py3-none-{platform_tag}\n").encode(), 0o644)]
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content, mode in entries:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
            add(wheel, name, content, mode)
        add(wheel, f"{about}/RECORD", f"{record}{about}/RECORD,,\n".encode(), 0o644)


def add(wheel, name, content, mode):
    info = zipfile.ZipInfo(name, TIME)
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, content)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: wheel.py BUILD [FOLDER]")
    folder = pathlib.Path(sys.argv[-1])
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", sys.argv[1], "--strip", "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        files = list(chosen(pathlib.Path(prefix)))
        if not all(path.exists() for _, path in files):
            sys.exit(f"wheel.py: {sys.argv[1]} installs no programs: configure it with GPURT_TUI=ON")
        platform_tag = tag(files)
        path = folder / f"gpurt-{version()}-py3-none-{platform_tag}.whl"
        write(path, files, platform_tag)
    print(os.fspath(path))


main()
