"""The enums of the API and of the domain, both ways."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor

from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import common_pb2 as common
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import source_service_pb2 as sources
from twolaned.model.errors import InvalidInput
from twolaned.model.query import Detail, RankingDate, Scope, Similarity
from twolaned.model.result import FoundBy, SearchMode
from twolaned.model.row import PassageKind, Quality, RowKind, Tier
from twolaned.model.source import Extraction, SourceScope
from twolaned.search.evidence import EvidenceForm
from twolaned.search.suggest import SuggestionKind

D = TypeVar("D", bound=StrEnum)
P = TypeVar("P", bound=int)


class Enum(Generic[D, P]):
    """A domain enum and the proto enum whose values have the same names behind *prefix*."""

    def __init__(self, domain: type[D], proto: EnumDescriptor, prefix: str) -> None:
        self._name = proto.name
        self._to_proto = {
            value: cast("P", proto.values_by_name[prefix + value.name].number) for value in domain
        }
        self._from_proto = {int(number): value for value, number in self._to_proto.items()}

    def to_proto(self, value: D) -> P:
        """The proto value of *value*."""
        return self._to_proto[value]

    def from_proto(self, number: int, field: str, *, unspecified: D) -> D:
        """The domain value of *number*, found in *field*; 0 stands for *unspecified*.

        Raises InvalidInput for a number that the enum does not have.
        """
        return unspecified if number == 0 else self.known(number, field)

    def optional(self, number: int, field: str) -> D | None:
        """The domain value of *number*, or None for 0. Raises InvalidInput."""
        return None if number == 0 else self.known(number, field)

    def known(self, number: int, field: str) -> D:
        """The domain value of *number*, which must be one. Raises InvalidInput."""
        value = self._from_proto.get(number)
        if value is None:
            names = ", ".join(f"{v.name} ({n})" for n, v in self._from_proto.items())
            raise InvalidInput(
                field,
                f"`{field}` is {number}, which {self._name} does not have. It has {names}.",
                reason="UNKNOWN_ENUM_VALUE",
                value=str(number),
                enum=self._name,
            )
        return value


ROW_KIND = Enum[RowKind, common.RowKind.ValueType](RowKind, common.RowKind.DESCRIPTOR, "ROW_KIND_")
TIER = Enum[Tier, common.Tier.ValueType](Tier, common.Tier.DESCRIPTOR, "TIER_")
QUALITY = Enum[Quality, common.Quality.ValueType](Quality, common.Quality.DESCRIPTOR, "QUALITY_")
SCOPE = Enum[Scope, search.Scope.ValueType](Scope, search.Scope.DESCRIPTOR, "SCOPE_")
DETAIL = Enum[Detail, search.Detail.ValueType](Detail, search.Detail.DESCRIPTOR, "DETAIL_")
SIMILARITY = Enum[Similarity, search.Similarity.ValueType](
    Similarity, search.Similarity.DESCRIPTOR, "SIMILARITY_"
)
RANKING_DATE = Enum[RankingDate, search.RankingDate.ValueType](
    RankingDate, search.RankingDate.DESCRIPTOR, "RANKING_DATE_"
)
SEARCH_MODE = Enum[SearchMode, search.SearchMode.ValueType](
    SearchMode, search.SearchMode.DESCRIPTOR, "SEARCH_MODE_"
)
FOUND_BY = Enum[FoundBy, search.FoundBy.ValueType](FoundBy, search.FoundBy.DESCRIPTOR, "FOUND_BY_")
PASSAGE_KIND = Enum[PassageKind, search.PassageKind.ValueType](
    PassageKind, search.PassageKind.DESCRIPTOR, "PASSAGE_KIND_"
)
EVIDENCE_FORM = Enum[EvidenceForm, search.EvidenceForm.ValueType](
    EvidenceForm, search.EvidenceForm.DESCRIPTOR, "EVIDENCE_FORM_"
)
EXTRACTION = Enum[Extraction, sources.Extraction.ValueType](
    Extraction, sources.Extraction.DESCRIPTOR, "EXTRACTION_"
)
SOURCE_SCOPE = Enum[SourceScope, sources.SourceScope.ValueType](
    SourceScope, sources.SourceScope.DESCRIPTOR, "SOURCE_SCOPE_"
)


class _Outcome(StrEnum):
    """What became of a saved conversation, as the writer says it."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


_OUTCOME = Enum[_Outcome, archive.SaveOutcome.ValueType](
    _Outcome, archive.SaveOutcome.DESCRIPTOR, "SAVE_OUTCOME_"
)


def outcome_to_proto(outcome: str) -> archive.SaveOutcome.ValueType:
    """The proto value of the writer's word *outcome*."""
    return _OUTCOME.to_proto(_Outcome(outcome))


def outcome_from_proto(number: int) -> str:
    """The writer's word for *number*."""
    return _OUTCOME.known(number, "outcome").value


SUGGESTION = Enum[SuggestionKind, search.SuggestionKind.ValueType](
    SuggestionKind, search.SuggestionKind.DESCRIPTOR, "SUGGESTION_KIND_"
)
