"""The wheel: one for every Python, with the library in it; and the checks of the source."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]


def run(*command, **options):
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, **options
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "leat"):
        (source / name).symlink_to(PACKAGE / name)
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        folder,
        source,
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_is_for_every_python_on_this_platform(wheel):
    assert wheel.name.startswith("leat-")
    assert "-py3-none-linux" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "leat/libleat.so" in names
    assert "leat/py.typed" in names
    metadata = (
        zipfile.ZipFile(wheel)
        .read(next(name for name in names if name.endswith("METADATA")))
        .decode()
    )
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert all("extra ==" in line for line in needed), "the core needs nothing"


def test_an_empty_environment_runs_it(wheel, store, tmp_path):
    bare = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LEAT_LIBRARY", "PYTHONPATH")
    }
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--quiet", "--no-deps", wheel, env=bare)
    said = run(python, "-m", "leat", env={**bare, **store.environment()}, cwd=tmp_path)
    assert "the service answers" in said
    assert str(tmp_path / "venv") in said
    code = "from importlib.metadata import entry_points as e; print(*e(group='fsspec.specs'))"
    assert "leat.fs" in run(python, "-c", code, env=bare, cwd=tmp_path)


def test_the_types_are_strict():
    run(sys.executable, "-m", "mypy", "--cache-dir", os.devnull, cwd=PACKAGE)


def test_the_style_is_ruffs():
    run(sys.executable, "-m", "ruff", "check", "--no-cache", ".", cwd=PACKAGE)
    run(sys.executable, "-m", "ruff", "format", "--no-cache", "--check", ".", cwd=PACKAGE)
