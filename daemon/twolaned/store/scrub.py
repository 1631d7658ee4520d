"""Clearing what LMDB leaves behind inside the pages of a file.

A page is filled from both ends, and the gap between them keeps whatever the memory held before:
words of values that have long been deleted. The gap is never read, so it may be cleared in place.
The layout is that of LMDB 0.9: page number (u64), pad (u16), flags (u16), and then either the ends
of the gap (u16 each) or, for the first of several overflow pages, their number (u32).
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_HEADER = struct.Struct("=QHHHH")
_PAGES = struct.Struct("=I")
_BRANCH, _LEAF, _OVERFLOW = 0x01, 0x02, 0x04
_KINDS = 0xFF


def clear_gaps(file: Path, page_size: int) -> int:
    """Clear the gaps of all pages of *file* and make that durable; returns how many had one.

    Only while no transaction writes, and once all free pages have been written over: then each
    page's header is to be trusted.
    """
    cleared = 0
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        count = os.fstat(descriptor).st_size // page_size
        number = 2  # the first two are meta pages
        while number < count:
            page = os.pread(descriptor, page_size, number * page_size)
            own, _, flags, lower, upper = _HEADER.unpack_from(page)
            kind = flags & _KINDS
            if own != number:
                number += 1
                continue
            if kind == _OVERFLOW:
                (pages,) = _PAGES.unpack_from(page, 12)
                number += max(1, pages)
                continue
            in_order = _HEADER.size <= lower <= upper <= page_size
            if kind in (_BRANCH, _LEAF) and in_order and any(page[lower:upper]):
                os.pwrite(descriptor, bytes(upper - lower), number * page_size + lower)
                cleared += 1
            number += 1
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return cleared
