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
_DILUTED = re.compile(r"[\s(,]+\d+(?:[.,]\d+)?\s?(?:%.*|(?:in )?(?:dpg|ipm|dep|tec|pg|bb))$")
_GRADE = re.compile(r"[\s,(]+(?:natural|nat\.?|synthetic|pure|fcc|usp|kosher)\)?\s*$")
_ALDEHYDE = re.compile(
    r"^(c[- ]?\d+)(?:[ -]ald(?:ehyde|\.)?(?=\s|$)|(?= m[no]a$))|^ald\.?\s*(c[- ]?\d+)"
)
_SULPH = re.compile(r"sulph")
# What else stands on bottles, where the whole is no name: "Geraniol 980", "Citral extra",
# "Linalool ex bois de rose", "Hedione (Firmenich)".
_BOTTLED = re.compile(
    r"[\s,(-]+(?:[5-9]\d\d?|extra|coeur|ffc|cryst(?:als?|\.)?|ex\s.+|"
    r"iff|firmenich|givaudan|symrise|takasago|kao|basf|quest|mane|robertet)\)?$"
)
# Other ways to write one name, each tried by itself.
_REWRITTEN = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (r"^(.+?)[\s,(-]+(alpha|beta|gamma|delta|epsilon|cis|trans|[omp]|ortho|meta|para)-?\)?$",
         r"\2\1"),
        (r"^(.+?)[\s,(-]+(dl|l|d)-?\)?$", r"\2\1"),
        (r"^(.+?)[\s,(-]+(cis|trans)-?\s?(\d)-?\)?$", r"\2\3\1"),  # Hexenal trans-2
        (r"^(.+?)[\s,-]+(\d)[\s,-]+(cis|trans)$", r"\3\2\1"),  # Hexenol-3-cis
        (r"^([a-z]+an(?:ol|one))-(\d)$", r"\2\1"),  # Octanol-3
        (r"^n-(?=prop|but|pent|amyl|hex|hept|oct|non|dec|undec|dodec)", ""),
        (r"^(?:levo|laevo)[\s-]+|^(.+?)[\s,(-]+(?:levo|laevo)\)?$", r"l\1"),
        (r"^dextro[\s-]+|^(.+?)[\s,(-]+dextro\)?$", r"d\1"),
        (r"^para[\s-]+", "p"), (r"^ortho[\s-]+", "o"), (r"^meta[\s-]+", "m"),
        (r"^a-(?=[a-z]{3})", "alpha"), (r"^b-(?=[a-z]{3})", "beta"),
        (r"^g-(?=[a-z]{3})", "gamma"),
        (r"phenyl[\s-]?ethyl", "phenethyl"),
        (r"(?<=[a-z]{5})at$", "ate"),  # Terpinylacetat
    )
)  # fmt: skip
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
    for form in dict.fromkeys((words, _BOTTLED.sub("", words))):
        yield _NOT_TOLD.sub("", form)
        for pattern, meaning in _REWRITTEN:
            if (other := pattern.sub(meaning, form)) != form:
                yield _NOT_TOLD.sub("", other)


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
