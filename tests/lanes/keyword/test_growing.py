"""Arrays that grow in chunks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.lanes.keyword import growing
from twolaned.lanes.keyword.growing import Growing


@given(st.lists(st.lists(st.integers(0, 60_000), max_size=9)), st.integers(0, 5))
def test_all_values_come_back_in_order(parts: list[list[int]], spare: int) -> None:
    values = [value for part in parts for value in part]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "CHUNK", 8)
        array = Growing(np.uint16, len(values) + spare)
        for part in parts:
            array.add(np.array(part, np.uint16))
        joined = array.joined()
    assert joined.dtype == np.uint16
    assert joined.tolist() == values


def test_more_than_the_limit_is_refused() -> None:
    array = Growing(np.uint8, 3)
    with pytest.raises(AssertionError):
        array.add(np.zeros(4, np.uint8))
