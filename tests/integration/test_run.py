"""`make run`, what a newcomer types first: from a build to an epoch, without a terminal."""

import os
import subprocess

from leat_process import ROOT, clean_environment

IMAGES = 300


def run(folder):
    """As make calls it, with the build that tests have, and a port that is free."""
    ended = subprocess.run(
        [ROOT / "tools/run.sh", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
        env=clean_environment(RUN_PRESET="dev", RUN_FOLDER=str(folder), RUN_IMAGES=str(IMAGES)))
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


def test_the_main_job_ends_by_itself_and_can_be_repeated(tmp_path):
    before = processes()
    first = run(tmp_path)
    assert f"{IMAGES} images, {IMAGES} of them new" in first
    assert f"{IMAGES} samples of ['png']" in first
    assert "limited by" in first
    assert "what next" in first
    assert "The store stays" not in first, "there is no terminal to stop it from"
    second = run(tmp_path)
    assert f"{IMAGES} images, 0 of them new" in second
    assert f"{IMAGES} samples of ['png']" in second, "the same files are the same samples"
    assert "limited by" in second
    assert processes() <= before, "no server is left"


def processes():
    """The servers on folders of this test, by their command lines."""
    found = set()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            with open(f"{entry.path}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue  # it has ended meanwhile
        if b"serve" in words and any(word.endswith(b"/run-data") for word in words):
            found.add(entry.name)
    return found
