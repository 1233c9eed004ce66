"""The command line: help, versions, suggestions, and where a setting comes from."""

import json
import pty
import os
import shlex
import subprocess

import pytest

from leat_process import binary, clean_environment, need, run_leat, wait_until

COMMANDS = ["put", "get", "cat", "ls", "stat", "du", "cp", "mv", "sync", "rm", "mb", "rb",
            "bucket", "dataset", "serve", "top", "disk", "key", "env", "fsck", "share", "config",
            "completion", "version", "help"]


def usage_error(*arguments, **options):
    """Runs what must be refused as usage (exit code 2) and returns the lines of stderr."""
    ended = run_leat(*arguments, **options)
    assert ended.returncode == 2, ended
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert lines[0].startswith("leat: ")
    return lines


def shown(*arguments, **options):
    """`leat config show --json` as {key: (value, origin)}."""
    ended = run_leat("config", "show", "--json", *arguments, **options)
    assert ended.returncode == 0, ended.stderr
    return {row["key"]: (row["value"], row["origin"]) for row in json.loads(ended.stdout)}


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_help_lists_every_command(words):
    ended = run_leat(*words)
    assert (ended.returncode, ended.stderr) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command} " in ended.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    asked, helped = run_leat(command, "--help"), run_leat("help", command)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout == helped.stdout
    assert command in asked.stdout.lower()


@pytest.mark.parametrize("command", ["serve", "share", "config"])
def test_help_names_every_setting_as_a_flag(command):
    text = run_leat(command, "--help").stdout
    for key in shown():
        assert f"--{key.replace('.', '-').replace('_', '-')} " in text


def test_version_as_text_and_as_json():
    text = run_leat("version")
    assert text.returncode == 0
    name, number = text.stdout.split()
    assert name == "leat" and number[0].isdigit()
    assert json.loads(run_leat("version", "--json").stdout) == {"name": name, "version": number}
    assert run_leat("--version").stdout == text.stdout


@pytest.mark.parametrize("words, hint", [
    (["serv"], "did you mean `leat serve`?"),
    (["verison"], "did you mean `leat version`?"),
    (["frobnicate"], "`leat help` lists them"),
    (["config", "sho"], "did you mean `leat config show`?"),
    (["serve", "d", "--listn", "127.0.0.1:0"], "unknown flag --listn; did you mean --listen?"),
    (["serve", "d", "--listn=127.0.0.1:0"], "unknown flag --listn; did you mean --listen?"),
    (["share", "d", "--writeable"], "did you mean --writable?"),
    (["version", "--jsn"], "did you mean --json?"),
    (["version", "--zzzzzzzzzz"], "see --help"),
    (["version", "extra"], "extra"),
    (["serve"], "DIR"),
    (["share"], "DIR"),
    (["share", "a", "b"], "unexpected argument b"),
    (["config", "show", "more"], "unexpected argument more"),
    (["config"], "show"),
    (["serve", "d", "--listen"], "--listen"),
])
def test_what_is_not_understood_is_named(words, hint, tmp_path):
    assert hint in usage_error(*words, cwd=tmp_path)[0]
    assert list(tmp_path.iterdir()) == [], "a refused command must not touch anything"


def test_config_show_is_tab_separated_when_it_is_piped(tmp_path):
    ended = run_leat("config", "show", cwd=tmp_path)
    rows = [line.split("\t") for line in ended.stdout.splitlines()]
    assert all(len(row) == 3 for row in rows)
    assert {key: (value, origin) for key, value, origin in rows} == shown(cwd=tmp_path)
    assert ["listen", "127.0.0.1:9000", "default"] in rows, "loopback is the default"


def test_config_show_is_an_aligned_table_on_a_terminal(tmp_path):
    master, slave = pty.openpty()
    pid = os.posix_spawn(binary(), [str(binary()), "config", "show"], clean_environment(),
                         file_actions=[(os.POSIX_SPAWN_DUP2, slave, 1)])
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:  # how Linux tells that the other side of a terminal has closed
        pass
    os.close(master)
    assert wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0], "leat config show") == pid
    lines = text.decode().splitlines()
    column = lines[0].index("127.0.0.1:9000")
    assert "\t" not in text.decode()
    assert all(line[column - 1] == " " for line in lines)
    assert all(line.endswith("  default") for line in lines)


def test_flags_beat_the_environment_beats_the_file_beats_the_default(tmp_path):
    (tmp_path / "leat.toml").write_text(
        'cores = 1\nio_threads = 2\nlog_level = "warn"\n[http]\nidle_timeout = "5s"\n')
    variables = {"LEAT_IO_THREADS": "3", "LEAT_LOG_LEVEL": "error", "LEAT_HTTP_FIELDS_MAX": "64"}
    settings = shown("--log-level", "debug", cwd=tmp_path, environment=variables)
    assert settings["io"] == ("auto", "default")
    assert settings["cores"] == ("1", "leat.toml:1")
    assert settings["http.idle_timeout"] == ("5s", "leat.toml:5")
    assert settings["io_threads"] == ("3", "LEAT_IO_THREADS")
    assert settings["http.fields_max"] == ("64", "LEAT_HTTP_FIELDS_MAX")
    assert settings["log_level"] == ("debug", "--log-level")


def test_another_file_can_be_named(tmp_path):
    (tmp_path / "leat.toml").write_text("cores = 1\n")
    (tmp_path / "other.toml").write_text("cores = 2\n")
    (tmp_path / "third.toml").write_text("cores = 3\n")
    assert shown("--config", "other.toml", cwd=tmp_path)["cores"] == ("2", "other.toml:1")
    variables = {"LEAT_CONFIG": "third.toml"}
    assert shown(cwd=tmp_path, environment=variables)["cores"] == ("3", "third.toml:1")
    settings = shown("--config", "other.toml", cwd=tmp_path, environment=variables)
    assert settings["cores"] == ("2", "other.toml:1")


def test_a_file_that_was_named_must_exist(tmp_path):
    ended = run_leat("config", "show", "--config", "missing.toml", cwd=tmp_path)
    assert ended.returncode == 4
    assert len(ended.stderr.splitlines()) == 1 and "missing.toml" in ended.stderr


@pytest.mark.parametrize("text, complaint", [
    ("lisen = \"127.0.0.1:1\"\n",
     "unknown key `lisen` in leat.toml:1; did you mean `listen`?"),
    ("[http]\nhead_max_byte = 1\n",
     "unknown key `http.head_max_byte` in leat.toml:2; did you mean `http.head_max_bytes`?"),
    ("idle_timeout = \"5s\"\n",
     "unknown key `idle_timeout` in leat.toml:1; did you mean `http.idle_timeout`?"),
    ("cores = \"two\"\n", "bad value for `cores` in leat.toml:1: expected a whole number"),
    ("drain_timeout = 5\n", "bad value for `drain_timeout` in leat.toml:1: expected a duration"),
    ("cores = \n", "leat.toml:1"),
])
def test_a_wrong_file_is_refused_with_place_and_remedy(text, complaint, tmp_path):
    (tmp_path / "leat.toml").write_text(text)
    for command in (["config", "show"], ["serve", "data"], ["share", "."]):
        assert complaint in "\n".join(usage_error(*command, cwd=tmp_path))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("variable, value, complaint", [
    ("LEAT_LISTN", "x", "unknown variable LEAT_LISTN; did you mean `LEAT_LISTEN`?"),
    ("LEAT_CORES", "many", "bad value `many` in LEAT_CORES"),
    ("LEAT_DRAIN_TIMEOUT", "5 parsecs", "bad value `5 parsecs` in LEAT_DRAIN_TIMEOUT"),
])
def test_a_wrong_variable_is_refused(variable, value, complaint, tmp_path):
    lines = usage_error("config", "show", cwd=tmp_path, environment={variable: value})
    assert complaint in lines[0]


@pytest.mark.parametrize("flags, complaint", [
    (["--listen", "nowhere"], "listen: "),
    (["--listen", "127.0.0.1:65536"], "listen: "),
    (["--cores", "-1"], "cores: -1"),
    (["--cores", "99999999999999999999"], "--cores"),
    (["--io", "magic"], "io: magic"),
    (["--io-threads", "0"], "io_threads: 0"),
    (["--log-level", "loud"], "log_level: loud"),
    (["--log-format", "xml"], "log_format: xml"),
    (["--http-fields-max", "129"], "http.fields_max: 129"),
    (["--http-head-max-bytes", "1GiB"], "http.head_max_bytes"),
    (["--http-target-max-bytes", "60KiB"], "http.target_max_bytes"),
    (["--http-body-rate-min", "0"], "http.body_rate_min"),
    (["--buffers-max-bytes", "1MiB"], "buffers_max_bytes"),
    (["--drain-timeout", "soon"], "--drain-timeout"),
])
def test_a_value_that_makes_no_sense_is_refused(flags, complaint, tmp_path):
    lines = usage_error("serve", "data", *flags, cwd=tmp_path)
    assert complaint in lines[0]


def test_all_errors_are_told_at_once(tmp_path):
    (tmp_path / "leat.toml").write_text("coers = 2\n[http]\nfields_max = true\n")
    lines = usage_error("config", "show", "--io-threads", "x", cwd=tmp_path,
                        environment={"LEAT_LOG": "1"})
    text = "\n".join(lines)
    assert len(lines) == 4
    for part in ("coers", "http.fields_max", "LEAT_LOG", "--io-threads"):
        assert part in text


def completed(*words):
    """What the bash completion offers when the last of these words is being typed."""
    script = ('source <("$0" completion bash); leat() { command "$0" "$@"; }; '
              'COMP_WORDS=("leat" "$@"); COMP_CWORD=$#; _leat; printf "%s\\n" "${COMPREPLY[@]}"')
    script = script.replace('command "$0"', f'"{binary()}"')
    ended = subprocess.run(["bash", "-c", script, str(binary()), *words], text=True,
                           env=clean_environment(HOME="/nonexistent"), capture_output=True)
    assert ended.returncode == 0, ended
    return [line.strip() for line in ended.stdout.splitlines()]


def test_bash_completes_commands_flags_and_words():
    assert completed("ser") == ["serve"]
    assert {"put", "get", "ls", "sync"} <= set(completed(""))
    assert not [name for name in completed("") if name.startswith("_")]
    assert completed("put", "--dry") == ["--dry-run"]
    assert {"--endpoint", "--json", "--profile"} <= set(completed("ls", "--"))
    assert completed("key", "re") == ["revoke"]
    assert completed("dataset", "ap") == ["append"]
    assert completed("dataset", "get", "--ta") == ["--tars"]
    assert completed("put", "./x") == [""], "files are left to the shell"


def offered_by_fish(*words):
    """What fish offers when the last of these words is being typed."""
    line = shlex.join(["leat", *words[:-1]]) + " " + words[-1]
    script = (f'function leat; "{binary()}" $argv; end; leat completion fish | source; '
              f"complete -C '{line}'")
    ended = subprocess.run([need("fish"), "--no-config", "-c", script], text=True,
                           env=clean_environment(HOME="/nonexistent"), capture_output=True)
    assert ended.returncode == 0, ended
    return [part.split("\t")[0] for part in ended.stdout.splitlines()]


def offered_by_zsh(*words):
    """The same of zsh: the words that its completion function adds."""
    script = (f'leat() {{ "{binary()}" "$@" }}; compdef() {{ : }}; eval "$(leat completion zsh)"; '
              'compadd() { print -rl -- "${(@P)@[-1]}" }; _files() { print files }; '
              'words=(leat "$@"); CURRENT=${#words}; _leat')
    ended = subprocess.run([need("zsh"), "-f", "-c", script, "zsh", *words], text=True,
                           env=clean_environment(HOME="/nonexistent"), capture_output=True)
    assert ended.returncode == 0, ended
    return ended.stdout.splitlines()


@pytest.mark.parametrize("offered", [offered_by_fish, offered_by_zsh])
def test_other_shells_complete_the_same(offered):
    assert offered("ser") == ["serve"]
    assert {"put", "get", "ls", "sync"} <= set(offered(""))
    assert offered("put", "--dry") == ["--dry-run"]
    assert {"--endpoint", "--json", "--profile"} <= set(offered("ls", "--"))
    assert offered("key", "re") == ["revoke"]


def test_files_are_left_to_the_shells(tmp_path):
    (tmp_path / "picture").touch()
    assert offered_by_zsh("put", f"{tmp_path}/pic") == ["files"]
    assert offered_by_fish("put", f"{tmp_path}/pic") == [f"{tmp_path}/picture"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(shell):
    ended = run_leat("completion", shell)
    assert ended.returncode == 0 and "leat __complete" in ended.stdout
    assert usage_error("completion", "tcsh")[0].endswith("expected bash, zsh or fish")


def test_the_man_page_has_every_command():
    page = run_leat("__man").stdout
    assert page.startswith(".TH LEAT 1")
    for command in ("put", "sync", "serve", "completion", "dataset", "dataset put"):
        assert f"\n.SS leat {command}\n" in page
    assert "__complete" not in page
    # Nothing but what is meant is a request of troff.
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(".")}
    assert requests <= {".TH", ".SH", ".SS", ".B", ".PP", ".nf", ".fi"}


def test_mandoc_finds_no_error_in_the_man_page():
    page = run_leat("__man").stdout
    checked = subprocess.run([need("mandoc"), "-T", "lint", "-W", "error"], input=page,
                             capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_fsck_does_not_rebuild_when_it_is_asked_only_to_look(start, tmp_path):
    start("serve", tmp_path / "data").stop()
    before = sorted(path for path in tmp_path.rglob("*"))
    (line,) = usage_error("fsck", "--rebuild", "--dry-run", tmp_path / "data")
    assert "--rebuild has no --dry-run" in line
    assert sorted(path for path in tmp_path.rglob("*")) == before
    assert run_leat("fsck", "--dry-run", tmp_path / "data").returncode == 0


def test_env_gives_the_shell_nothing_to_interpret(start, tmp_path):
    folder = tmp_path / "it's a $(touch pwned) `touch pwned` \"folder\""
    folder.mkdir()
    server = start("serve", folder, "--tls", "auto")
    announced = server.wait_for_output(rb'eval "\$\(leat (env .*)\)"   #')[1].decode()
    show = 'printf "%s\\n" "$AWS_CA_BUNDLE" "$AWS_ENDPOINT_URL"'
    for words in (f"env {shlex.quote(str(folder))}", announced):
        command = f"{shlex.quote(str(binary()))} {words}"
        ended = subprocess.run(["sh", "-c", f'eval "$({command})"; {show}'], cwd=tmp_path,
                               env=clean_environment(), capture_output=True, text=True, check=True)
        assert ended.stdout.splitlines() == [str(folder / "tls.pem"), server.url], command
    assert not (tmp_path / "pwned").exists()
