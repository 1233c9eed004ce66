"""A real file system that fills up: puts are refused with 507, nothing that was there is harmed,
deletes work, and puts work again when there is room."""

import subprocess

import pytest

from leat_process import wait_until
from node import Node
from store_client import Gone
from workload import MIB, Workload

# Of this, 64 MiB are kept free for deletes, segments and the index.
SIZE = 160 * MIB
OBJECT = 6 * MIB
OBJECTS_MAX = SIZE // OBJECT


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture(params=["tmpfs", "ext4"])
def small_disk(request, tmp_path):
    """A mounted file system of SIZE bytes."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    if request.param == "tmpfs":
        mounted = run("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder))
    else:
        image = tmp_path / "image"
        with open(image, "wb") as file:
            file.truncate(SIZE)
        made = run("mkfs.ext4", "-q", "-m", "0", str(image))
        if made.returncode != 0:
            pytest.skip(f"mkfs.ext4: {made.stderr.strip()}")
        mounted = run("mount", "-o", "loop", str(image), str(folder))
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.strip()}")
    yield folder
    assert run("umount", str(folder)).returncode == 0


def put_until_full(node, workload):
    """Objects until one is refused; gives their keys."""
    keys = []
    for number in range(OBJECTS_MAX):
        key = f"filling {number}"
        status = node.oracle.make(node.client, workload.put("plain", key, OBJECT))
        if status == 507:
            return keys
        assert status == 201
        keys.append(key)
    raise AssertionError("the disk was never full")


def wait_for_room(node, workload):
    """Files are removed some seconds after their objects."""
    def put_works():
        return node.oracle.make(node.client, workload.put("plain", "small", 4096)) == 201
    wait_until(put_works, "room again", 40)


def test_a_full_disk_refuses_and_recovers(small_disk, seed):
    with Node(small_disk / "data", "--io", "psync") as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        node.oracle.make(node.client, workload.put("plain", "small", 4096))
        keys = put_until_full(node, workload)
        assert len(keys) > 5
        assert node.client.disks()[0]["state"] == "full"
        assert node.oracle.make(node.client, workload.put("plain", "small", 4096)) == 507
        node.oracle.check(node.client, decides=False)

        for key in keys[1:]:
            assert node.client.delete("plain", key).status == 204
            node.oracle.states.pop(("plain", key))
        wait_for_room(node, workload)
        node.oracle.make(node.client, workload.put("plain", "large again", OBJECT))
        node.kill()
        node.restart_and_check()
        node.stop_and_fsck()


def test_an_object_that_finds_no_room_leaves_nothing(small_disk, seed):
    """The space runs out in the middle of a body."""
    with Node(small_disk / "data", "--io", "psync") as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        node.oracle.make(node.client, workload.put("plain", "small", 4096))
        for _ in range(3):
            try:
                status = node.oracle.make(node.client, workload.put("plain", "huge", SIZE))
                assert status == 507
            except Gone:  # it did not want the rest of the body
                assert node.is_alive(), node.server.log()
        data = small_disk / "data"
        wait_until(lambda: not list((data / "incoming").iterdir())
                   and not [one for one in (data / "files").rglob("*") if one.is_file()],
                   "what came of it is removed")
        assert node.client.get("plain", "huge").status == 404
        wait_for_room(node, workload)
        node.oracle.check(node.client)
        node.stop_and_fsck()


def test_a_disk_that_others_filled_recovers(small_disk, seed):
    """Not a byte is left, not even for a delete; when there is room again all is as it was."""
    with Node(small_disk / "data", "--io", "psync") as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        for _ in range(10):
            node.oracle.make(node.client, workload.put(size=3000))
        filler = small_disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            with pytest.raises(OSError):
                while True:
                    file.write(b"f" * MIB)
        statuses = {node.oracle.make(node.client, workload.put(size=size))
                    for size in (3000, 300_000, 300_000, 2 * MIB, 2 * MIB)}
        assert 507 in statuses and statuses <= {201, 507}, statuses
        node.oracle.check(node.client, decides=False)
        filler.unlink()
        wait_for_room(node, workload)
        assert node.client.disks()[0]["state"] == "ok"
        node.oracle.check(node.client)
        node.kill()
        node.restart_and_check()
        node.stop_and_fsck()
