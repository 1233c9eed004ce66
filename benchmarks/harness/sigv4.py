"""Signatures of S3 requests (AWS Signature Version 4), by the standard library alone.

The load generator must not share code with what it measures, and neither must its signatures: a
mistake that both sides share would go unseen. Every request of a benchmark has a signature of its
own, over its own path; the server verifies each one in full. It is made before the measurement,
because a signature holds for fifteen minutes and the client must not be the limit.
"""

import hashlib
import hmac
import time
from dataclasses import dataclass, field
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
REGION = "leat"


@dataclass(frozen=True)
class Key:
    id: str
    secret: str
    region: str = REGION


@dataclass(frozen=True)
class Request:
    """`path` is not encoded yet; `payload` is the word of x-amz-content-sha256."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    payload: str = UNSIGNED

    def target(self) -> str:
        """Path and query as they are sent, which is also how they are signed."""
        path = quote(self.path, safe="/-._~")
        return f"{path}?{self.canonical_query()}" if self.query else path

    def canonical_query(self) -> str:
        pairs = sorted((quote(name, safe="-._~"), quote(value, safe="-._~"))
                       for name, value in self.query.items())
        return "&".join(f"{name}={value}" for name, value in pairs)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def signing_key(key: Key, date: str) -> bytes:
    secret = f"AWS4{key.secret}".encode()
    for part in (date, key.region, "s3", "aws4_request"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    return secret


def signed_fields(
    request: Request, host: str, key: Key, now: float | None = None
) -> dict[str, str]:
    """All fields of the request, with those that a signature adds. Every field is signed."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    fields = {name.lower(): value for name, value in request.fields.items()}
    fields |= {"host": host, "x-amz-date": stamp, "x-amz-content-sha256": request.payload}
    names = sorted(fields)
    signed = ";".join(names)
    canonical = "\n".join([
        request.method,
        quote(request.path, safe="/-._~"),
        request.canonical_query(),
        *(f"{name}:{fields[name]}" for name in names),
        "",
        signed,
        request.payload,
    ])
    scope = f"{stamp[:8]}/{key.region}/s3/aws4_request"
    text = "\n".join([ALGORITHM, stamp, scope, sha256(canonical.encode())])
    signature = hmac.digest(signing_key(key, stamp[:8]), text.encode(), "sha256").hex()
    authorization = f"{ALGORITHM} Credential={key.id}/{scope},SignedHeaders={signed}"
    return fields | {"authorization": f"{authorization},Signature={signature}"}


def head(request: Request, host: str, key: Key, body_bytes: int = 0) -> bytes:
    """The head of the request as it is sent."""
    fields = signed_fields(request, host, key)
    if body_bytes > 0 or request.method in ("PUT", "POST"):
        fields["content-length"] = str(body_bytes)
    lines = [f"{request.method} {request.target()} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
