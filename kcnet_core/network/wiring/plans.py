"""Plans for the wiring, by name and in words; `drawing` has how each is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """One way to wire the cells."""

    title: str
    explanation: str
    measured: str = ""  # where it helps and where not
    needs_image: bool = False  # whether inputs must be pixels
    needs_glomeruli: bool = False  # whether inputs must be a fly's glomeruli, by name

    @property
    def about(self) -> str:
        return " ".join(
            f"{sentence}." for sentence in (self.explanation, self.measured) if sentence
        )


PLANS = {
    "random": Plan("Anywhere", "each cell draws its inputs from anywhere, as in the paper"),
    "local": Plan(
        "Receptive fields",
        "each cell draws its inputs inside a rectangle of the image, of random size and place",
        "It helps on MNIST (0.967 instead of 0.952 on held-out training images, 2,000 cells; 0.974 "
        "on softened pixels) and "
        "loses on Fashion-MNIST (0.855 instead of 0.868): compare both on your own images",
        needs_image=True,
    ),
    "hemibrain": Plan(
        "A real fly's",
        "each cell hears the glomeruli that it hears in the hemibrain connectome",
        "It ties with its two controls: AUROC of 0.877 beside 0.884 (shuffled) and 0.878 (random) "
        "for the chemical class of unseen odorants",
        needs_glomeruli=True,
    ),
    "hemibrain-shuffled": Plan(
        "A real fly's, shuffled",
        "every cell and every glomerulus keeps its number of partners, and which they are is drawn",
        needs_glomeruli=True,
    ),
    "hemibrain-random": Plan(
        "Random, with a real fly's fan-ins",
        "every cell hears as many glomeruli as in the hemibrain, drawn from anywhere",
        needs_glomeruli=True,
    ),
}
