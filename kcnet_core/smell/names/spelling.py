"""The forms in which names are compared, so that spelling is forgiven but no meaning is lost.

Case, spaces, hyphens, primes, brackets, accents, trade marks and a dilution behind the name do not
count; Greek letters are spelled out. Whatever tells molecules apart (digits, n- or iso-, cis or
trans, a sign of rotation) stays.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SPACES = re.compile(r"\s+")
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ω": "omega",
    "Δ": "delta", "ß": "ss",
}  # fmt: skip
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"), "-")
_SIGNS = (
    (re.compile(r"\(±\)|\(\+/-\)|\(\+-\)|^±-|^rac-|^racemic "), "dl-"),
    (re.compile(r"\(\+\)"), " dextro "),
    (re.compile(r"\(-\)"), " levo "),
)
# "Ambroxan 10% in DPG": what it is diluted in says nothing of the molecule.
_DILUTED = re.compile(r"[\s(,]+\d+(?:[.,]\d+)?\s?%.*$")
_GRADE = re.compile(r"[\s,(]+(?:natural|nat\.?|synthetic|pure|fcc|usp|kosher)\)?\s*$")
_ALDEHYDE = re.compile(r"^(c[- ]?\d+)[ -]ald(?:ehyde|\.)?(?=\s|$)|^ald\.?\s*(c[- ]?\d+)")
_SULPH = re.compile(r"sulph")
_NORMAL_CHAIN = re.compile(r"^n-(?=prop|but|pent|amyl|hex|hept|oct|non|dec|undec|dodec)")
_LAST_COMES_FIRST = re.compile(r"^(.+?)[\s,(-]+(alpha|beta|gamma|delta|epsilon|cis|trans)\)?$")
_NOT_TOLD = re.compile(r"[^a-z0-9]")


def normal(name: str) -> str:
    """Case and runs of spaces do not count."""
    return _SPACES.sub(" ", name.strip()).casefold()


def spelling(name: str) -> str:
    """The form in which two ways to spell one name are equal; "" if nothing is left."""
    return _NOT_TOLD.sub("", plain(name))


def spellings(name: str) -> Iterator[str]:
    """Forms under which a name is kept: umlauts are also written with an e."""
    yield spelling(name)
    if (written := unicodedata.normalize("NFC", name.casefold()).translate(_UMLAUTS)) != name:
        yield spelling(written)


def readings(text: str) -> Iterator[str]:
    """Forms under which a typed text is looked up, the most literal first."""
    words = plain(text)
    yield _NOT_TOLD.sub("", words)
    if turned := _LAST_COMES_FIRST.match(words):
        yield _NOT_TOLD.sub("", f"{turned[2]}{turned[1]}")
    if (shorter := _NORMAL_CHAIN.sub("", words)) != words:
        yield _NOT_TOLD.sub("", shorter)


def plain(name: str) -> str:
    """Small letters without accents; Greek ones in words, grades and dilutions left out."""
    text = name.translate(_DASHES)
    for letter, word in _GREEK.items():
        text = text.replace(letter, word)
    text = unicodedata.normalize("NFKD", text.casefold())
    text = normal("".join(one for one in text if not unicodedata.combining(one)))
    text = _GRADE.sub("", _DILUTED.sub("", text))
    for pattern, meaning in _SIGNS:
        text = pattern.sub(meaning, text)
    text = _ALDEHYDE.sub(lambda found: f"aldehyde {found[1] or found[2]}", text)
    return _SULPH.sub("sulf", text.strip())
