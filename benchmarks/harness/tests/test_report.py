import json

from harness.report import Cell, Report, shorten


def report(*cells: Cell, **options) -> Report:
    return Report("http_get", "MB/s", {"cores": 2}, list(cells), **options)


def test_the_last_line_of_the_text_is_the_result_as_design_describes_it():
    text = report(Cell("4KiB/16", leat=498.04, peer="nginx", peer_value=355.0, target=1.0)).text()
    name, _, line = text.splitlines()[-1].partition(" ")
    assert name == "RESULT"
    assert json.loads(line) == {
        "name": "http_get",
        "unit": "MB/s",
        "cells": [
            {
                "cell": "4KiB/16",
                "leat": 498.0,
                "peer": "nginx",
                "peer_value": 355.0,
                "ratio": 1.4,
                "target": 1.0,
                "met": True,
            }
        ],
        "min_ratio": 1.4,
        "met": True,
        "machine": {"cores": 2},
    }


def test_one_missed_target_means_the_whole_is_not_met():
    result = report(
        Cell("a", leat=2, peer="nginx", peer_value=1, target=1.2),
        Cell("b", leat=97, peer="nginx", peer_value=100, target=1.0),
    ).result()
    assert result["met"] is False
    assert result["min_ratio"] == 0.97


def test_a_ratio_that_only_rounds_up_to_the_target_does_not_meet_it():
    assert Cell("a", leat=1.1996, peer="nginx", peer_value=1, target=1.2).met is False


def test_a_bound_judges_the_absolute_value_and_the_ratio_still_points_upwards():
    cell = Cell(
        "p99", leat=0.5, peer="nginx", peer_value=28.0, unit="ms", bound=2.0, smaller_is_better=True
    )
    assert cell.met is True
    assert cell.result()["ratio"] == 56.0
    assert cell.result()["unit"] == "ms"
    assert (
        Cell("p99", leat=2.0, peer="nginx", peer_value=28.0, bound=2.0, smaller_is_better=True).met
        is False
    )


def test_cells_without_a_target_neither_meet_nor_lower_the_minimum():
    result = report(
        Cell("judged", leat=3, peer="nginx", peer_value=2, target=1.2),
        Cell("shown", leat=1, peer="dd", peer_value=2),
    ).result()
    assert result["min_ratio"] == 1.5
    assert result["met"] is True
    assert result["cells"][1]["met"] is None


def test_without_any_target_nothing_is_claimed():
    result = report(Cell("shown", leat=1, peer="dd", peer_value=2)).result()
    assert result["met"] is None
    assert result["min_ratio"] == 0.5


def test_a_self_test_says_so_in_both_forms():
    marked = report(Cell("a", leat=1, peer="nginx", peer_value=1), self_test=True)
    assert marked.result()["self_test"] is True
    assert "SELF-TEST" in marked.text()


def test_every_row_of_the_table_has_every_column():
    rows = report(
        Cell("a", leat=1, peer="nginx", peer_value=1, columns={"cpu": "1"}),
        Cell("b", leat=1, peer="nginx", peer_value=1, columns={"memory": "2"}),
    ).rows()
    assert rows[0][-2:] == ["cpu", "memory"]
    assert {len(row) for row in rows} == {len(rows[0])}


def test_figures_keep_four_digits():
    assert [shorten(value) for value in (4321.6, 12.3456, 0.00123456, 0.0)] == [
        4322.0,
        12.35,
        0.001235,
        0.0,
    ]


def test_markdown_is_a_table_with_its_notes():
    cell = Cell("4KiB/16", leat=2, peer="nginx", peer_value=1, columns={"memory MiB": "3"})
    assert report(cell, notes=["A note."]).markdown().splitlines() == [
        "| cell | unit | leat | peer | value | ratio | target | met | memory MiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "| 4KiB/16 | MB/s | 2 | nginx | 1 | 2.00 | – | – | 3 |",
        "",
        "A note.",
    ]
