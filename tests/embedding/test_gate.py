from __future__ import annotations

import pytest

from tests.embedding.fake_provider import FakeProvider
from twolaned.embedding.gate import PrivacyGate, PrivacyViolation
from twolaned.model.source import Extraction


async def test_each_text_has_its_provider() -> None:
    """Ordinary texts go to the one, local texts to the other."""
    remote, local = FakeProvider(is_local=False), FakeProvider()
    gate = PrivacyGate(remote, local)

    assert gate.provider_for(Extraction.DEFAULT) is remote
    assert gate.provider_for(Extraction.LOCAL) is local
    assert (remote, local) == gate.providers


async def test_a_local_text_never_falls_back_to_a_remote_provider() -> None:
    """Without a local provider it has none."""
    gate = PrivacyGate(FakeProvider(is_local=False), None)

    assert None is gate.provider_for(Extraction.LOCAL)


async def test_a_provider_that_is_not_local_gets_no_local_text() -> None:
    """Also when it stands in the place of the local one, and when it turned out so later."""
    wrong = FakeProvider(is_local=False)
    with pytest.raises(PrivacyViolation, match="stays on this machine"):
        PrivacyGate(None, wrong).provider_for(Extraction.LOCAL)

    turned = FakeProvider()
    gate = PrivacyGate(turned, turned)
    assert gate.provider_for(Extraction.LOCAL) is turned
    turned.is_local = False
    with pytest.raises(PrivacyViolation):
        gate.provider_for(Extraction.LOCAL)
    assert gate.provider_for(Extraction.DEFAULT) is turned


@pytest.mark.parametrize("extraction", Extraction)
@pytest.mark.parametrize("is_local", [True, False])
async def test_admission(extraction: Extraction, is_local: bool) -> None:
    """Whatever is not an ordinary text needs a local provider."""
    provider = FakeProvider(is_local=is_local)
    if is_local or extraction is Extraction.DEFAULT:
        PrivacyGate.admit(provider, extraction)
        return
    with pytest.raises(PrivacyViolation):
        PrivacyGate.admit(provider, extraction)


def test_what_is_made_of_several_texts_is_as_private_as_the_most_private() -> None:
    """A digest of one local conversation among a hundred is local."""
    ordinary = [Extraction.DEFAULT] * 99

    assert Extraction.DEFAULT is PrivacyGate.strictest(ordinary)
    assert Extraction.LOCAL is PrivacyGate.strictest([*ordinary, Extraction.LOCAL])
