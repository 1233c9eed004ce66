from harness.s3 import keys_of_page, next_token, write_recorded

PAGE = b"""<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Contents><Key>a&amp;b</Key></Contents><Contents><Key>c</Key></Contents>
<NextContinuationToken>x&lt;y=</NextContinuationToken></ListBucketResult>"""


def test_the_token_of_the_next_page_is_found_and_decoded():
    assert next_token(PAGE) == "x<y="


def test_the_last_page_has_no_token():
    assert next_token(b"<ListBucketResult></ListBucketResult>") is None


def test_keys_come_out_of_their_escapes():
    assert keys_of_page(PAGE) == ["a&b", "c"]


def test_recorded_requests_are_told_apart_by_their_lengths(tmp_path):
    path = write_recorded(tmp_path / "two", [(b"GET", b""), (b"POST", b"{}\n")])
    assert path.read_bytes() == b"3 0\nGET4 3\nPOST{}\n"
