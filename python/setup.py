"""Puts libleat.so into the wheel, and gives the wheel its name: any Python, this platform.

The library is LEAT_LIBRARY if that is set, else it is built from the source tree around here.
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def library() -> Path:
    given = os.environ.get("LEAT_LIBRARY")
    if given:
        return Path(given).resolve(strict=True)
    if not (ROOT / "CMakePresets.json").exists():
        raise SystemExit("leat is built inside of its source tree, or with LEAT_LIBRARY=/path")
    subprocess.run([ROOT / "tools/build.sh", "release", "leat_shared"], check=True)
    return next((ROOT / "build/release").glob("**/libleat.so")).resolve()


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "leat", "libleat.so")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library(), target)


class WheelOfPlatform(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class DistributionOfPlatform(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=DistributionOfPlatform,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfPlatform},
)
