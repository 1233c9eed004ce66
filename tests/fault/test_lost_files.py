"""Files that somebody removed or cut short under a running node: what was in them is an error that
is logged, counted and listed, and never an object that is not there.
"""

import os

import pytest

from leat_process import wait_until
from node import Node
from test_bit_flips import PER_KIND, check_listings, fill, read_all


def remove(path):
    path.unlink()


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [remove, cut], ids=["missing", "truncated"])
@pytest.mark.parametrize("kind", ["object file", "segment"])
def test_what_is_lost_is_an_error_and_not_a_404(tmp_path, seed, kind, damage):
    with Node(tmp_path / "data") as node:
        fill(node, seed)
        node.stop()
        node.start()  # nothing is open yet
        files = list(node.folder.glob(PER_KIND[kind]))
        assert files
        for path in files:
            damage(path)
        errors = read_all(node) + read_all(node)  # Wrong, if one is a 404
        assert errors > 0
        check_listings(node)
        wait_until(lambda: node.server.metric("leat_disk_damaged_reads_total") == errors,
                   "that the reads are counted")
        assert "an object is damaged" in node.server.log()
        assert node.server.log().count('"request failed"') == errors
        assert any(disk["damaged"] for disk in node.client.disks())
        node.kill()
