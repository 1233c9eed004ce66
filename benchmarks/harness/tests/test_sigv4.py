import calendar

from harness.sigv4 import Key, Request, head, sha256, signed_fields

# The credentials and the answer of the example in the documentation of S3.
KEY = Key("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
THEN = calendar.timegm((2013, 5, 24, 0, 0, 0))


def test_the_published_example_is_signed_as_published():
    request = Request(
        "GET", "/test.txt", fields={"Range": "bytes=0-9"}, payload=sha256(b"")
    )
    fields = signed_fields(request, "examplebucket.s3.amazonaws.com", KEY, THEN)
    assert fields["authorization"].endswith(
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )


def test_the_published_listing_is_signed_as_published():
    request = Request("GET", "/", {"prefix": "J", "max-keys": "2"}, payload=sha256(b""))
    fields = signed_fields(request, "examplebucket.s3.amazonaws.com", KEY, THEN)
    assert fields["authorization"].endswith(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


def test_a_target_is_encoded_once_and_its_query_sorted():
    request = Request("GET", "/bucket/a b+c", {"z": "1/2", "a": ""})
    assert request.target() == "/bucket/a%20b%2Bc?a=&z=1%2F2"


def test_a_head_with_a_body_says_how_long_it_is():
    text = head(Request("PUT", "/bucket/key"), "127.0.0.1:1", KEY, body_bytes=7).decode()
    assert text.startswith("PUT /bucket/key HTTP/1.1\r\n")
    assert "\r\ncontent-length: 7\r\n" in text
    assert text.endswith("\r\n\r\n")
