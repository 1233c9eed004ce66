"""Samples of http_load made into cells."""

from harness import load
from harness.load import Sample
from harness.report import Cell
from harness.stats import median


def rate_cell(
    name: str,
    size: int,
    samples: dict[str, list[Sample]],
    peer: str,
    target: float | None = None,
    leg: str = "leat",
) -> Cell:
    """MB/s of a leg against those of its peer, with what both cost their servers.

    Per request means per `size` bytes: in a short window few large requests complete, but their
    bytes are counted exactly."""

    def middle(of: str, field: str) -> float:
        return median(getattr(sample, field) for sample in samples[of])

    def pair(field: str, form: str, factor: float = 1.0) -> str:
        return " / ".join(format(middle(of, field) * factor, form) for of in (leg, peer))

    per_request = size / load.GIB * 1e6
    per_second = 1e6 / size
    return Cell(
        name=name,
        leat=middle(leg, "mb_per_s"),
        peer=peer,
        peer_value=middle(peer, "mb_per_s"),
        target=target,
        columns={
            "requests/s": pair("mb_per_s", ".0f", per_second),
            "cpu µs/request": pair("cpu_s_per_gib", ".1f", per_request),
            "cpu s/GiB": pair("cpu_s_per_gib", ".3f"),
            "server core %": pair("server_core", ".0f", 100),
            "client core %": pair("client_core", ".0f", 100),
        },
        extra={
            "requests_per_s": middle(leg, "mb_per_s") * per_second,
            "peer_requests_per_s": middle(peer, "mb_per_s") * per_second,
            "cpu_us_per_request": middle(leg, "cpu_s_per_gib") * per_request,
            "peer_cpu_us_per_request": middle(peer, "cpu_s_per_gib") * per_request,
            "cpu_s_per_gib": middle(leg, "cpu_s_per_gib"),
            "peer_cpu_s_per_gib": middle(peer, "cpu_s_per_gib"),
        },
    )
