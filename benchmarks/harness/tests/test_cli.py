import pytest

from harness import cli


def test_every_suite_has_a_line_for_the_list():
    assert {"http_get", "http_get_cold", "http_put", "http_idle"} <= set(cli.suite_names())
    assert all(cli.suite_line(name) for name in cli.suite_names())


def test_an_unknown_name_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.parse_arguments(["http_got"])
    assert ended.value.code != 0
    assert "http_get" in capsys.readouterr().err


def test_a_run_needs_a_name():
    with pytest.raises(SystemExit):
        cli.parse_arguments(["--quick"])
