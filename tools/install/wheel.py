#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""wheel.py BUILD VERSION FOLDER: the Python module of a build as a wheel, made without a network.

It holds the module and, in a folder next to it, the two libraries that it needs. Of the system it needs the libraries
that the Debian packages of the build have (SystemC, libyaml, fmt); they are named where an import fails.
"""
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

METADATA = """Metadata-Version: 2.1
Name: vinci
Version: {version}
Summary: Simulator of Da Vinci-style NPUs (Ascend AI Core family)
License: Apache-2.0
Requires-Python: >=3.{minor}, <3.{next}
Requires-Dist: numpy
"""
WHEEL = """Wheel-Version: 1.0
Generator: vinci
Root-Is-Purelib: false
Tag: cp3{minor}-cp3{minor}-{platform}
"""


def library(build, name):
    """The shared library behind its links, and the name under which the module asks for it."""
    path = next(iter((build / "tools").glob(f"*/lib{name}.so"))).resolve()
    text = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    return path, next(line.split()[1] for line in text.splitlines() if "SONAME" in line)


def main():
    build, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    module = next((build / "tools/python").glob("vinci.*.so"))
    minor = sys.version_info.minor
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        info = folder / f"vinci-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(METADATA.format(version=version, minor=minor, next=minor + 1))
        (info / "WHEEL").write_text(WHEEL.format(minor=minor, platform=platform))
        shutil.copy(module, folder)
        if (module.parent / "vinci.pyi").exists():
            shutil.copy(module.parent / "vinci.pyi", folder)
        for library_name in ("vinci", "vinci_builder"):
            path, soname = library(build, library_name)
            (folder / "vinci.libs").mkdir(exist_ok=True)
            shutil.copy(path, folder / "vinci.libs" / soname)
        # `cmake --install` wrote the module with a search path of its own; here its libraries are in vinci.libs.
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/vinci.libs", folder / module.name], check=True)
        subprocess.run(["strip", "--strip-unneeded", *folder.glob("*.so"), *folder.glob("vinci.libs/*")], check=True)
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "wheel", "pack", folder, "--dest-dir", out], check=True)


if __name__ == "__main__":
    main()
