"""Words by frequency rank, in several languages.

Word 0 is the most frequent. The head of each alphabetic language is its real function words, since
a search treats those in a way of its own; everything else is invented.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZE = 400_000
"""Distinct words of English; the other languages use the front of the same ranks."""

_ENGLISH = """the to of and a in is it that for you on with this be as are have not or we can if an
at from by but was will so there what do which when all one would how no they has use about like
then out up more just get them into some only than other should time make need also new any after
way see work could does where who over very set first same because each want between here our used
without most both still now these those may your its had been their his her why too while before
must each such even much being through under again since until during against own few off once"""

_GERMAN = """die der und in zu den das nicht von sie ist des sich mit dem dass er es ein ich auf so
eine auch als an nach wie im für man aber aus durch wenn nur war noch werden bei hat wir was wird
sein einen welche sind oder zur um haben einer mir über ihm diese einem ihr uns da zum kann doch vor
dieser mich ihn du hatte seine mehr am denn nun unter sehr selbst schon hier bis habe ihre dann
ihnen seiner alle wieder meine zeit gegen vom ganz einzelnen wo muss ohne eines können ja"""

_RUSSIAN = """и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой
что весь год от так о для ты же все тот мочь вы человек такой его сказать только или ещё бы себя
один как уже до время если сам когда другой вот говорить наш мой знать стать при чтобы дело жизнь
кто
первый очень два день её новый рука даже во со раз где там под можно ну какой после их без"""

_SUFFIXES = ("", "", "", "", "s", "ing", "ed", "er", "tion", "al", "ly", "ment")


@dataclass(frozen=True)
class Language:
    """One language: its words by rank, and what stands between them."""

    code: str
    words: list[str]
    space: str = " "
    stop: str = "."
    share: float = 0.0


def _syllables(consonants: str, vowels: str) -> list[str]:
    return [c + v for c in consonants for v in vowels]


def _invented(count: int, syllables: list[str], suffixes: tuple[str, ...]) -> list[str]:
    """*count* distinct pronounceable words, shorter for frequent ranks."""
    base, words = len(syllables), []
    for rank in range(count):
        left, word = rank + base, ""
        while left:
            left, digit = divmod(left, base)
            word += syllables[digit]
        words.append(word + suffixes[rank % len(suffixes)])
    return words


def _language(
    code: str, head: str, consonants: str, vowels: str, size: int, share: float
) -> Language:
    common = list(dict.fromkeys(head.split()))
    suffixes = _SUFFIXES if code == "en" else ("",)
    taken = set(common)
    invented = _invented(size, _syllables(consonants, vowels), suffixes)
    rest = [word for word in dict.fromkeys(invented) if word not in taken]
    return Language(code, (common + rest)[:size], share=share)


def _ideographic(size: int, share: float) -> Language:
    """Words of one to three characters, written without spaces."""
    kana = [chr(c) for c in range(0x3042, 0x3094)]
    kanji = [chr(0x4E00 + i * 7) for i in range(2400)]
    words = kana + kanji
    for rank in range(size - len(words)):
        a, b = divmod(rank, len(kanji))
        words.append(kanji[(b * 31 + a) % len(kanji)] + kanji[b])
    return Language("ja", words[:size], space="", stop="。", share=share)


def languages() -> tuple[Language, ...]:
    """All languages; the shares add up to one."""
    small = SIZE // 8
    return (
        _language("en", _ENGLISH, "bcdfghjklmnprstvwz", "aeiou", SIZE, 0.80),
        _language("de", _GERMAN, "bdfghklmnprstwz", "aeiouäöü", small, 0.08),
        _language("ru", _RUSSIAN, "бвгдклмнпрст", "аеиоуя", small, 0.05),
        _ideographic(small, 0.07),
    )
