from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.ingest import json_stream
from twolaned.ingest.elements import Elements
from twolaned.ingest.json_lines import read_lines
from twolaned.ingest.json_members import MemberSplitter
from twolaned.ingest.json_stream import ElementSplitter, decode, utf8_chunks
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.place import Place
from twolaned.ingest.reader import ReadProgress, read
from twolaned.ingest.text import clean
from twolaned.ingest.times import to_ms
from twolaned.ingest.tree import Entry, Tree
from twolaned.model.conversation import Conversation
from twolaned.model.report import Skip

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


def split(data: bytes, sizes: list[int], limit: int = 1 << 20) -> list[bytes | None]:
    splitter = ElementSplitter(limit)
    found: list[bytes | None] = []
    at = 0
    for size in [*sizes, len(data)]:
        found += splitter.feed(data[at : at + size])
        at += size
    if not splitter.closed and (rest := splitter.rest()):
        found.append(rest)
    return found


def nowhere() -> Place:
    """A place in a tree of its own, with nothing beside it."""
    entry = Entry("x", 0, 0, lambda: contextlib.nullcontext(io.BytesIO()))
    return Place(entry, Tree.of([entry], []))


members = st.dictionaries(st.sampled_from(["a", "chats", 'b"', "c"]), values)


@given(members, st.lists(st.integers(1, 30), max_size=20), st.booleans())
def test_an_object_gives_its_lists_away_wherever_it_is_cut(
    value: dict[str, object], sizes: list[int], pretty: bool
) -> None:
    data = json.dumps(value, indent=1 if pretty else None).encode()
    splitter = MemberSplitter(("chats",), 1 << 20)
    found: list[object] = []
    at = 0
    for size in [*sizes, len(data)]:
        found += [decode(e) for e in splitter.feed(data[at : at + size]) if e is not None]
        at += size
    chats = value.get("chats")
    listed = isinstance(chats, list)
    assert found == (chats if listed else [])
    assert decode(splitter.rest) == value | ({"chats": []} if listed else {})
    assert splitter.closed


@given(st.lists(st.text(max_size=30), max_size=8), st.integers(1, 60))
def test_an_object_above_the_limit_still_gives_its_lists(chats: list[str], size: int) -> None:
    """What is passed over is not held, whatever strings and brackets are in it."""
    value = {"long": 'a"[\\' * 300, "deep": [[1, "x"]] * 99, "chats": chats, "z": ["]"] * 99}
    data = json.dumps(value).encode()
    splitter = MemberSplitter(("chats",), 200)
    found: list[object] = []
    for at in range(0, len(data), size):
        found += [decode(e) for e in splitter.feed(data[at : at + size]) if e is not None]
        assert len(splitter.rest) < 1_100 + size
    assert found == [chat for chat in chats if len(json.dumps(chat)) <= 200]
    assert splitter.overlong


@given(st.lists(values, max_size=6), st.lists(st.integers(1, 30), max_size=20), st.booleans())
def test_an_array_comes_apart_wherever_it_is_cut(
    array: list[object], sizes: list[int], pretty: bool
) -> None:
    text = json.dumps(array, indent=1 if pretty else None, ensure_ascii=bool(sizes))
    found = split(text.encode(), sizes)
    assert [decode(element) for element in found if element is not None] == array


@given(st.lists(values, min_size=1, max_size=5), st.data())
def test_what_comes_before_a_cut_is_kept(array: list[object], data: st.DataObject) -> None:
    text = json.dumps(array).encode()
    cut = data.draw(st.integers(1, len(text) - 1))
    whole = split(text, [])
    found = split(text[:cut], [7, 11])
    for element, wanted in zip(found[:-1], whole, strict=False):
        assert element == wanted


def test_a_large_element_is_passed_over_and_the_next_is_read() -> None:
    text = json.dumps([{"a": 1}, {"b": "x" * 5_000}, {"c": 3}]).encode()
    found = split(text, [100] * 60, limit=1_000)
    assert found == [b'{"a": 1}', None, b'{"c": 3}']


def test_strings_that_tools_get_wrong_are_read() -> None:
    assert decode(b'{"a": "half \\ud83d"}') == {"a": "half \ud83d"}
    assert decode(b'{"a": "caf\xe9"}') == {"a": "caf\ufffd"}
    assert decode(b'{"a": "tab\tinside"}') == {"a": "tab\tinside"}
    assert decode(b'{"a": "\\\\ud800"}') == {"a": "\\ud800"}


def test_nesting_that_is_meant_to_hurt_is_one_bad_conversation(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    good = json.dumps(
        {
            "mapping": {
                "a": {
                    "message": {
                        "author": {"role": "user"},
                        "content": {"content_type": "text", "parts": ["Still here?"]},
                    }
                }
            },
            "id": "good",
        }
    )
    path.write_text(f'[{{"mapping": {"[" * 100_000}{"]" * 100_000}}}, {good}]')
    items = list(read(path, name="x", limits=IngestLimits()))
    assert [i.id for i in items if isinstance(i, Conversation)] == ["chatgpt:good"]
    assert [i.reason for i in items if isinstance(i, Skip)] == ["bad_conversation"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks(encoding: str) -> None:
    text = '[{"a": "quay 語"}]'
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    data = mark + text.encode(encoding)
    assert b"".join(utf8_chunks(io.BytesIO(data))).decode() == text


@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=8),
    st.booleans(),
    st.integers(1, 9),
)
def test_lines_are_cut_at_line_feeds_only(lines: list[bytes], ended: bool, chunk: int) -> None:
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(chunk, size or chunk) if size and size > 0 else chunk)

    found = list(read_lines(Slow(data), 1_000))
    wanted = data.split(b"\n")
    if wanted[-1] == b"":
        wanted.pop()
    assert [line.data for line in found] == [line.removesuffix(b"\r") for line in wanted]
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    if found:
        assert found[-1].ended == data.endswith(b"\n")


def test_a_huge_line_is_never_held() -> None:
    class Endless:
        left = 40

        def read(self, _: int) -> bytes:
            self.left -= 1
            return b"x" * 1_000 if self.left > 0 else (b"\nshort\n" if self.left == 0 else b"")

    found = list(read_lines(Endless(), 5_000))
    assert [(line.number, line.data) for line in found] == [(1, None), (2, b"short")]


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (1_772_000_000.25, 1_772_000_000_250),
        (1_772_000_000_123, 1_772_000_000_123),
        ("1772000000123", 1_772_000_000_123),
        ("2026-02-25T06:13:20Z", 1_772_000_000_000),
        ("2026-02-25T06:13:20.123456+00:00", 1_772_000_000_123),
        ("2026-02-25T07:13:20.5+01:00", 1_772_000_000_500),
        ("2026-02-25T06:13:20", 1_772_000_000_000),
        ({"$date": {"$numberLong": "1772000000123"}}, 1_772_000_000_123),
        *[(bad, None) for bad in (0, None, "", "yesterday", True, -5, float("nan"), float("inf"))],
        *[(bad, None) for bad in ("0001-01-01T00:00:00Z", 10**30, [], {"$date": None}, "9" * 400)],
    ],
)
def test_moments(value: object, ms: int | None) -> None:
    assert to_ms(value) == ms


@given(st.text(max_size=60))
def test_no_text_is_a_moment_that_raises(value: str) -> None:
    found = to_ms(value)
    assert found is None or found > 0


def test_texts_are_cleaned() -> None:
    assert clean("a\r\nb\rc\0d") == "a\nb\ncd"
    assert clean("half \ud83d") == "half \ufffd"
    assert clean("e\u0301") == "\u00e9"
    image = "see data:image/png;base64,iVBORw0KGgoAAAANSUhEUg== here"
    assert clean(image) == "see [image] here"
    assert clean(f"key {'A1b2' * 200} end") == "key [data] end"
    assert clean("x" * 511) == "x" * 511


SAMPLES = [p for p in sorted(FORMATS.rglob("*")) if p.is_file() and p.name != "expected.json"]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_never_stop_a_reading(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Bytes changed, cut or doubled: every item is a known kind, and the reading ends."""
    sample = data.draw(st.sampled_from([p for p in SAMPLES if p.stat().st_size < 60_000]))
    raw = bytearray(sample.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        if not raw:
            break
        at = data.draw(st.integers(0, len(raw) - 1))
        match data.draw(st.sampled_from(["set", "cut", "double", "drop"])):
            case "set":
                raw[at] = data.draw(st.integers(0, 255))
            case "cut":
                del raw[at:]
            case "double":
                raw[at:at] = raw[at : at + data.draw(st.integers(1, 300))]
            case "drop":
                del raw[at : at + data.draw(st.integers(1, 50))]
    path = tmp_path_factory.getbasetemp() / f"fuzz{sample.suffix}"
    path.write_bytes(bytes(raw))
    items = list(read(path, name=sample.name, limits=IngestLimits(max_element_bytes=1 << 20)))
    assert items
    for item in items:
        if isinstance(item, Conversation):
            assert item.messages
            "".join(m.text for m in item.messages).encode()


@given(values)
@settings(deadline=None)
def test_any_json_in_the_shape_of_an_export_is_read(value: object) -> None:
    """Whatever stands where a conversation's parts should be, it is taken or counted."""
    for shape in (
        {"mapping": value},
        {"mapping": {"a": {"message": value}}},
        {"mapping": {"a": {"message": {"author": value, "content": value, "metadata": value}}}},
        {"chat_messages": value, "uuid": value, "name": value},
        {"chat_messages": [value], "uuid": "u"},
        {"chat_messages": [{"content": value, "attachments": value, "sender": "human"}]},
        {"docs": [value], "uuid": value, "name": value},
        {"conversation": {"id": "g", "title": value, "create_time": value}, "responses": value},
        {"conversation": {"id": "g"}, "responses": [{"response": value}]},
        {"conversation": {"id": "g"}, "responses": [{"response": {"message": value}}, value]},
    ):
        elements = Elements(nowhere())
        found = [*elements.take(shape), *elements.end()]
        assert found or "docs" in shape


def test_archives_inside_archives_stop_at_the_second(tmp_path: Path) -> None:
    inner = FORMATS / "archive" / "nested-zip" / "outer.zip"
    data = inner.read_bytes()
    for depth in range(3):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(f"level{depth}.zip", data)
        data = buffer.getvalue()
    path = tmp_path / "deep.zip"
    path.write_bytes(data)
    items = list(read(path, name="deep.zip", limits=IngestLimits()))
    assert [i.reason for i in items if isinstance(i, Skip)] == ["zip_too_deep"]


def test_a_budget_ends_an_archive_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(12):
            archive.writestr(f"{number}.txt", "words")
    items = read(path, name="many.zip", limits=IngestLimits(max_entries=10))
    reasons = [i.reason for i in items if isinstance(i, Skip)]
    assert reasons.count("too_many_entries") == 1
    assert reasons.count("not_conversations") == 10


def test_a_truncated_archive_is_said_to_be_damaged(tmp_path: Path) -> None:
    whole = (FORMATS / "chatgpt" / "split-zip" / "export.zip").read_bytes()
    path = tmp_path / "export.zip"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    items = read(path, name="export.zip", limits=IngestLimits())
    assert [i.reason for i in items if isinstance(i, Skip)] == ["bad_zip"]


def test_a_damaged_entry_costs_only_itself(tmp_path: Path) -> None:
    """Its compressed bytes are nonsense; the archive's other entry is read."""
    path = tmp_path / "export.zip"
    good = FORMATS / "chatgpt" / "basic-tree" / "conversations.json"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", "[" + " " * 5_000)
        archive.write(good, "b.json")
    data = bytearray(path.read_bytes())
    start = 30 + len("a.json")
    data[start : start + 6] = b"\xff" * 6
    path.write_bytes(bytes(data))
    items = list(read(path, name="export.zip", limits=IngestLimits()))
    assert [i.reason for i in items if isinstance(i, Skip)] == ["bad_zip"]
    assert len([i for i in items if isinstance(i, Conversation)]) == 1


def big_export(path: Path, megabytes: int) -> None:
    """A ChatGPT export of many conversations in a zip."""
    random = Random(4)
    words = ["".join(random.choices("abcdefghij", k=6)) for _ in range(4_000)]

    def texts() -> Iterator[str]:
        for _ in range(megabytes * 16):
            yield " ".join(random.choices(words, k=9_000))

    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as out,
    ):
        out.write(b"[")
        for number, text in enumerate(texts()):
            node = {
                "message": {
                    "author": {"role": "user"},
                    "content": {"content_type": "text", "parts": [text]},
                }
            }
            item = {"id": f"c{number}", "mapping": {f"n{number}": node}}
            out.write((b"," if number else b"") + json.dumps(item).encode())
        out.write(b"]")


@pytest.mark.slow
def test_memory_is_that_of_one_conversation(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "big.zip"
    big_export(path, 120)
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from twolaned.ingest.reader import IngestLimits, read\n"
        "path = Path(sys.argv[1])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in read(path, name='big', limits=IngestLimits()))\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    count, growth = map(int, done.stdout.split())
    assert count > 1_900
    assert growth < 40_000, f"{growth} KiB"


def test_progress_is_told_and_never_more_than_all(tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    big_export(path, 12)
    progress = [
        i for i in read(path, name="e", limits=IngestLimits()) if isinstance(i, ReadProgress)
    ]
    assert len(progress) > 2
    done = [p.bytes_done for p in progress]
    assert done == sorted(done)
    assert all(0 <= p.bytes_done <= p.bytes_total == path.stat().st_size for p in progress)


def test_chunks_are_not_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sample gives the same with chunks of a few bytes."""
    for name in ("chatgpt/basic-tree", "claude-ai/branches", "claude-code/malformed"):
        folder = FORMATS / name
        wanted = [i for i in read(folder, name="x", limits=IngestLimits()) if _tells(i)]
        monkeypatch.setattr(json_stream, "CHUNK", 13)
        found = [i for i in read(folder, name="x", limits=IngestLimits()) if _tells(i)]
        monkeypatch.undo()
        assert found == wanted


def _tells(item: object) -> bool:
    return not isinstance(item, ReadProgress)
