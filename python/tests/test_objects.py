"""Objects: put, get, open, ls, stat, rm."""

import io

import pytest

import leat


@pytest.fixture(scope="module")
def bucket(store):
    return store.make_bucket("objects")


def test_what_was_put_comes_back_whole_and_in_parts(bucket):
    etag = leat.put(f"{bucket}/a/b", b"0123456789", content_type="text/x", metadata={"k": "v"})
    assert leat.get(f"{bucket}/a/b") == b"0123456789"
    assert leat.get(f"leat://{bucket}/a/b", 3, 4) == b"3456"
    assert leat.get(f"{bucket}/a/b", 7) == b"789"
    stat = leat.stat(f"{bucket}/a/b")
    assert (stat.size, stat.etag, stat.content_type) == (10, etag, "text/x")
    assert stat.metadata == {"k": "v"}
    assert stat.modified is not None


def test_texts_paths_files_and_views_can_be_put(bucket, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"from a file")
    for number, data in enumerate(["täxt", path, io.BytesIO(b"open"), memoryview(b"view")]):
        leat.put(f"{bucket}/kinds/{number}", data)
    found = [leat.get(f"{bucket}/kinds/{number}") for number in range(4)]
    assert found == ["täxt".encode(), b"from a file", b"open", b"view"]
    with pytest.raises(leat.BadRequest, match="rb"):
        leat.put(f"{bucket}/kinds/text", io.StringIO("no"))


def test_what_is_not_there_is_not_found(bucket):
    for call in (leat.get, leat.stat):
        with pytest.raises(FileNotFoundError) as caught:
            call(f"{bucket}/nothing")
        assert isinstance(caught.value, leat.NotFound)


def test_an_object_is_created_once(bucket):
    leat.put(f"{bucket}/once", b"1", if_absent=True)
    with pytest.raises(leat.Conflict):
        leat.put(f"{bucket}/once", b"2", if_absent=True)
    assert leat.get(f"{bucket}/once") == b"1"


def test_listings_are_by_folder_or_recursive(bucket):
    for key in ("list/a", "list/b/c", "list/b/d"):
        leat.put(f"{bucket}/{key}", b"x")
    assert leat.ls(f"{bucket}/list/") == [f"{bucket}/list/b/", f"{bucket}/list/a"]
    assert leat.ls(f"{bucket}/list/", recursive=True) == [
        f"{bucket}/list/{name}" for name in ("a", "b/c", "b/d")
    ]
    assert f"{bucket}/" in leat.ls()


def test_a_removed_object_is_gone(bucket):
    leat.put(f"{bucket}/removed", b"x")
    leat.rm(f"{bucket}/removed")
    with pytest.raises(leat.NotFound):
        leat.stat(f"{bucket}/removed")


def test_objects_are_files(bucket):
    with leat.open(f"{bucket}/file", "wb") as file:
        file.write(b"line 1\nline 2\n")
        file.write(b"line 3\n")
    with leat.open(f"{bucket}/file") as file:
        assert file.readline() == b"line 1\n"
        file.seek(-7, io.SEEK_END)
        assert file.read() == b"line 3\n"
        file.seek(2)
        assert file.read(3) == b"ne "
    with leat.open(f"{bucket}/text", "w", encoding="utf-8") as file:
        file.write("ä\n")
    with leat.open(f"{bucket}/text", "r", encoding="utf-8") as file:
        assert list(file) == ["ä\n"]


@pytest.mark.parametrize("later", [b"new" * (4 << 20), b"new"])
def test_a_file_never_mixes_two_versions_of_an_object(bucket, later):
    leat.put(f"{bucket}/replaced", b"old" * (4 << 20))
    with leat.open(f"{bucket}/replaced") as file:
        assert file.read(6) == b"oldold"
        leat.put(f"{bucket}/replaced", later)
        with pytest.raises(leat.Conflict, match="open it again"):
            file.read()
    with leat.open(f"{bucket}/replaced") as file:
        assert file.read() == later


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_an_exception_stores_nothing(bucket, mode):
    with pytest.raises(ZeroDivisionError), leat.open(f"{bucket}/half-{mode}", mode) as file:
        file.write("half" if mode == "w" else b"half")
        raise ZeroDivisionError
    with pytest.raises(leat.NotFound):
        leat.stat(f"{bucket}/half-{mode}")


def test_a_wrong_key_is_denied(store, bucket):
    session = leat.Session(store.node.url, access_key="nobody", secret_key="x" * 40)
    with pytest.raises(PermissionError):
        session.get(f"{bucket}/a/b")


def test_a_bucket_is_made_once(store):
    leat.mb("made-here")
    assert "made-here/" in leat.ls()
    with pytest.raises(leat.Conflict):
        leat.mb("made-here")


def test_names_that_make_no_sense_are_bad_requests(bucket):
    with pytest.raises(leat.BadRequest):
        leat.get(f"{bucket}/a/b", -1)
    with pytest.raises(leat.BadRequest):
        leat.open(f"{bucket}/a", "a+")
    with pytest.raises(leat.BadRequest, match="endpoin"):
        leat.Session(None, endpont="x").ls()
