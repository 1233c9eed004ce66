from harness import files


def test_files_have_the_size_asked_for_and_differ_from_each_other(tmp_path):
    made = files.make_files(tmp_path, "x", 3, 5000)
    contents = [path.read_bytes() for path in made]
    assert [len(content) for content in contents] == [5000] * 3
    assert len(set(contents)) == 3


def test_a_file_larger_than_the_random_block_is_filled_to_its_end(tmp_path):
    size = 9 * files.MIB
    made = files.make_files(tmp_path, "x", 1, size)
    content = made[0].read_bytes()
    assert len(content) == size
    assert content[4 * files.MIB : 8 * files.MIB].count(0) < files.MIB


def test_a_warm_file_is_resident_to_the_last_byte(tmp_path):
    path = files.make_files(tmp_path, "x", 1, 10_000)[0]
    files.warm([path])
    assert files.resident_bytes(path) == 10_000


def test_sizes_are_named_in_binary_units():
    assert [files.size_name(size) for size in (4096, 131072, 1 << 20, 64 << 20)] == [
        "4KiB",
        "128KiB",
        "1MiB",
        "64MiB",
    ]


def test_a_tree_is_removed_whole(tmp_path):
    root = tmp_path / "tree"
    (root / "a" / "b").mkdir(parents=True)
    for folder in (root, root / "a", root / "a" / "b"):
        (folder / "file").write_bytes(b"x")
    (root / "link").symlink_to(tmp_path)
    files.remove_tree(root)
    assert not root.exists()
    assert tmp_path.exists()
