"""The examples run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from leat_process import binary

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(store, *command):
    return run_with({**os.environ, **store.environment()}, *command)


def run_with(environment, *command):
    ended = subprocess.run(
        [sys.executable, *map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_train_learns(store):
    said = run(
        store,
        EXAMPLES / "train.py",
        "--images",
        "600",
        "--epochs",
        "2",
        "--dataset",
        "examples/small",
    )
    right = re.search(r"epoch 1: 600 images, ([\d.]+)% right", said)
    assert float(right[1]) > 50, "of ten classes"
    assert "limited by" in said


def bare_environment(home, **more):
    """Of somebody who has configured nothing, and has no other `leat` on the path."""
    settings = ("AWS_", "LEAT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    library = os.environ["LEAT_LIBRARY"]
    return {**kept, "HOME": str(home), "LEAT_LIBRARY": library, "PATH": "/usr/bin:/bin", **more}


def test_train_starts_a_store_where_there_is_none(tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    said = run_with(
        bare_environment(tmp_path, LEAT_BINARY=str(binary()), TMPDIR=str(temporary)),
        EXAMPLES / "train.py",
        "--images=200",
        "--epochs=1",
    )
    assert "a fresh store at http://127.0.0.1:" in said
    assert "epoch 0: 200 images" in said
    assert [path.name for path in temporary.iterdir() if "leat" in path.name] == []


def test_resume_is_exact(store):
    assert "together they are the epoch" in run(store, EXAMPLES / "resume.py")


def test_two_ranks_share(store):
    said = run(
        store,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        EXAMPLES / "two_ranks.py",
    )
    assert "no one twice" in said


@pytest.mark.parametrize(
    ("file", "words"),
    [("webdataset_one_line.py", "200 samples, 10 classes"), ("jax_loop.py", "epoch 2: loss")],
)
def test_other_loops_run(store, file, words):
    assert words in run(store, EXAMPLES / file)
