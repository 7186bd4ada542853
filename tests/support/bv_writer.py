"""Write a BVGraph for tests, as the paper of Boldi and Vigna (2004) describes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

Rows = Sequence[Sequence[int]]  # the sorted targets of each page


class BitWriter:
    """Codes of numbers, as digits."""

    def __init__(self) -> None:
        self.digits: list[str] = []

    def bits(self, number: int, many: int) -> None:
        if many:
            self.digits.append(format(number, f"0{many}b"))

    def unary(self, number: int) -> None:
        self.digits.append("0" * number + "1")

    def gamma(self, number: int) -> None:
        length = (number + 1).bit_length() - 1
        self.unary(length)
        self.bits(number + 1 - (1 << length), length)

    def delta(self, number: int) -> None:
        length = (number + 1).bit_length() - 1
        self.gamma(length)
        self.bits(number + 1 - (1 << length), length)

    def zeta(self, number: int, k: int) -> None:
        group = ((number + 1).bit_length() - 1) // k
        self.unary(group)
        left = 1 << group * k
        rest = number + 1 - left
        if rest < left:
            self.bits(rest, group * k + k - 1)
        else:
            self.bits(rest + left, group * k + k)

    def done(self) -> bytes:
        text = "".join(self.digits)
        text += "0" * (-len(text) % 8)
        return int(text or "0", 2).to_bytes(len(text) // 8, "big")


def signed(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def write_bv_graph(
    base: Path, rows: Rows, *, window: int = 7, least: int = 4, k: int = 3, flags: str = ""
) -> None:
    """Write `.graph` and `.properties`. Each page copies from the one before it, if it can."""
    out = BitWriter()
    for page, row in enumerate(rows):
        (out.delta if "OUTDEGREES_DELTA" in flags else out.gamma)(len(row))
        if not row:
            continue
        left = set(row)
        if window:
            before = list(rows[page - 1]) if page else []
            shared = left.intersection(before)
            out.unary(1 if shared else 0)
            if shared:
                _write_blocks(out, [one in shared for one in before])
                left -= shared
        _write_rest(out, page, sorted(left), least, k, flags)
    base.with_suffix(".graph").write_bytes(out.done())
    arcs = sum(map(len, rows))
    base.with_suffix(".properties").write_text(
        f"#BVGraph properties\ngraphclass = it.unimi.dsi.webgraph.BVGraph\nversion = 0\n"
        f"nodes = {len(rows)}\narcs = {arcs}\nwindowsize = {window}\nmaxrefcount = 3\n"
        f"minintervallength = {least}\nzetak = {k}\ncompressionflags = {flags}\n"
    )


def _write_blocks(out: BitWriter, is_copied: list[bool]) -> None:
    """Lengths of blocks that are copied and skipped in turn; the last one is not written."""
    blocks, kind = [0], True
    for one in is_copied:
        if one == kind:
            blocks[-1] += 1
        else:
            blocks.append(1)
            kind = one
    blocks.pop()  # up to the end: copied if an even number of blocks comes before it
    out.gamma(len(blocks))
    for number, length in enumerate(blocks):
        out.gamma(length - bool(number))


def _write_rest(
    out: BitWriter, page: int, left: list[int], least: int, k: int, flags: str
) -> None:  # fmt: skip
    if not left:
        return
    runs, single = _runs(left, least) if least else ([], left)
    if least:
        out.gamma(len(runs))
        before = 0
        for number, (start, end) in enumerate(runs):
            out.gamma(start - before - 1 if number else signed(start - page))
            out.gamma(end - start - least)
            before = end
    for number, target in enumerate(single):
        written = target - single[number - 1] - 1 if number else signed(target - page)
        if "RESIDUALS_GAMMA" in flags:
            out.gamma(written)
        else:
            out.zeta(written, k)


def _runs(left: list[int], least: int) -> tuple[list[tuple[int, int]], list[int]]:
    runs: list[tuple[int, int]] = []
    for target in left:
        if runs and runs[-1][1] == target:
            runs[-1] = runs[-1][0], target + 1
        else:
            runs.append((target, target + 1))
    long = [run for run in runs if run[1] - run[0] >= least]
    taken = {target for start, end in long for target in range(start, end)}
    return long, [target for target in left if target not in taken]
