"""Numbers and keys that stand for a molecule without saying what it looks like: CAS, InChIKey."""

from __future__ import annotations

import re

CAS = re.compile(  # `*+` gives nothing back: half a million dashes are read once
    r"(?:CAS[\s-]*+(?:(?:registry[\s-]*+)?(?:no|nr|rn|number|nummer)\b)?[\s.:#-]*+)?"
    r"(\d{2,7})-(\d\d)-(\d)",
    re.I,
)
INCHI_KEY = re.compile(r"(?:InChIKey=)?([A-Z]{14}-[A-Z]{10}-[A-Z])")


def cas_number(text: str) -> str | None:
    """The CAS number that a text is, without what people write before it."""
    found = CAS.fullmatch(text.strip())
    return None if found is None else "-".join(found.groups())


def check_digit(cas: str) -> int:
    """The last digit that a CAS number must have, given the others."""
    digits = cas.replace("-", "")[:-1]
    return sum(place * int(digit) for place, digit in enumerate(reversed(digits), start=1)) % 10


def cas_sentence(cas: str) -> str:
    """Why a CAS number alone is no molecule."""
    right = check_digit(cas)
    if int(cas[-1]) != right:
        return (
            f"The CAS number {cas} has a wrong check digit: with these digits it would end in "
            f"-{right}. Compare it with its source."
        )
    return (
        f"The CAS number {cas} is well formed but not among those known here: give the name or the "
        "SMILES."
    )


def inchi_key(text: str) -> str | None:
    found = INCHI_KEY.fullmatch(text.strip())
    return None if found is None else found[1]
