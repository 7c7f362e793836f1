"""Plans for the wiring, by name and in words; `drawing` has how each is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """One way to wire the cells."""

    title: str
    explanation: str
    needs_image: bool = False  # whether inputs must be pixels


PLANS = {
    "random": Plan("Anywhere", "each cell draws its inputs from anywhere, as in the paper"),
    "local": Plan(
        "Receptive fields",
        "each cell draws its inputs inside a rectangle of the image, of random size and place",
        needs_image=True,
    ),
}
