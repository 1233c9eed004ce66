"""A store for a script that finds none: `leat serve` on a temporary folder, while it runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import leat

ROOT = Path(__file__).resolve().parents[1]
ENDPOINTS = ("LEAT_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")


@contextmanager
def found_or_made() -> Iterator[None]:
    """The default session has a store in the block: the one that is configured, or a fresh one."""
    if is_configured():
        yield
        return
    leat_program = program()
    with tempfile.TemporaryDirectory(prefix="leat-example-") as folder, serving(
        leat_program, folder
    ) as server:
        try:
            connect(leat_program, folder, announced(server))
            yield
        finally:
            server.terminate()


def serving(leat_program: str, folder: str) -> "subprocess.Popen[str]":
    """A store on any free port."""
    return subprocess.Popen(
        [leat_program, "serve", folder, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
        env=without_settings(),
    )


def is_configured() -> bool:
    """Whether the environment names a service, or one answers where the configuration points."""
    if any(os.environ.get(name) for name in ENDPOINTS):
        return True
    try:
        leat.Session(retry_seconds=0).ls()
    except leat.LeatError:
        return False
    return True


def program() -> str:
    """The command `leat`: of the path, else of a build in the source tree."""
    built = (ROOT / "build" / preset / "src/programs/leat" for preset in ("release", "dev"))
    for candidate in (os.environ.get("LEAT_BINARY"), shutil.which("leat"), *built):
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    sys.exit(
        "there is no store, and no program `leat` to start one: run `make` in the source tree or "
        '`make install`, or name a store with eval "$(leat env DIR)"'
    )


def announced(server: "subprocess.Popen[str]") -> str:
    """The URL that a server says it listens at."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"https?://[\w.:]+", line):
            return found[0]
    sys.exit(f"leat serve ended with code {server.wait()}")


def connect(leat_program: str, folder: str, url: str) -> None:
    """Makes it the default, with the key that the server made."""
    command = [leat_program, "env", folder]
    said = subprocess.check_output(command, text=True, env=without_settings())
    words = (word.partition("=") for word in shlex.split(said, comments=True))
    values = {name: value.rstrip(";") for name, equals, value in words if equals}
    leat.connect(
        url,
        access_key=values["AWS_ACCESS_KEY_ID"],
        secret_key=values["AWS_SECRET_ACCESS_KEY"],
    )
    print(f"a fresh store at {url}, for as long as this runs")


def without_settings() -> dict[str, str]:
    """The program takes all variables that begin with LEAT_ for settings of its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LEAT_")}
