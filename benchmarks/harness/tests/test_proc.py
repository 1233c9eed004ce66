import os

from harness import proc


def test_cpu_ticks_are_found_behind_a_name_with_spaces_and_parentheses():
    stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 9 9 20 0 1 0 100 0 0"
    assert proc.parse_stat_cpu_ticks(stat) == 200


def test_the_process_itself_is_in_its_tree():
    assert os.getpid() in proc.process_tree(os.getpid())


def test_this_process_has_resident_memory():
    assert proc.rss_bytes([os.getpid()]) > 1 << 20
