"""Lessons are small text files; this reads them, and names every line that it cannot read.

The format is described for teachers in `assets/lessons/README.md`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from kcnet_core.lessons.circuit import BOUNDS
from kcnet_core.lessons.lesson import (
    CIRCUIT_STEPS,
    CONTROLS,
    DATA,
    IMAGES,
    PLACEHOLDER,
    SETTINGS,
    VIEWS,
    Lesson,
    LessonError,
    LessonStep,
    Mistake,
    Question,
    did_you_mean,
    odor_names,
)
from kcnet_core.lessons.measures import MEASURES
from kcnet_core.limits import MAX_LESSON_BYTES
from kcnet_core.network.wiring import PLANS
from kcnet_core.storage.folders import assets

FOLDER = assets() / "lessons"
MOST_MISTAKES = 20  # of one file that are listed

_INTEGERS = ("cells", "fan_in", "wiring", "epochs")
_LESSON_FIELDS = ("data", "minutes", "order", "sample", *SETTINGS)
_BESIDE_A_QUESTION = ("measure", "guess", "choose", "change", "answer", "chart")
_STEP_FIELDS = (
    "view", "step", "show", "sample", *SETTINGS, "question", *_BESIDE_A_QUESTION, "reveal",
)  # fmt: skip
_FIELD = re.compile(r"^([a-z][a-z_]*):(?:\s+(.*))?$")
_SPAN = re.compile(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")
_PLACEHOLDERS = {  # by kind of question
    "guess": ("measured",),
    "choose": ("winner", "measured"),
    "change": ("first", "last"),
}


def lesson_names(folder: Path | None = None) -> list[str]:
    """The lessons that are there, by file name without its ending; README is for teachers."""
    folder = folder or FOLDER
    return sorted(path.stem for path in folder.glob("*.md") if path.stem.lower() != "readme")


def load_lesson(name: str, folder: Path | None = None) -> Lesson:
    """Read one lesson by name; a `LessonError` names the line that cannot be understood."""
    folder = folder or FOLDER
    names = lesson_names(folder)
    # Only listed names are opened, so that a link cannot reach any other file.
    if name not in names:
        raise LessonError(
            f"There is no lesson called “{name[:60]}”. There is: {', '.join(names) or 'none yet'}."
        )
    path = folder / f"{name}.md"
    if path.stat().st_size > MAX_LESSON_BYTES:
        raise LessonError(
            f"{path.name} is longer than {MAX_LESSON_BYTES:,} bytes; split it in two."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LessonError(f"{path.name} is not UTF-8 text; save it as UTF-8.") from error
    return LessonReader(name).read(text)


@dataclass
class _Part:
    """One heading with what stands under it, before its fields are understood."""

    title: str
    line: int
    fields: dict[str, tuple[int, str]] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    reveal: list[tuple[int, str]] | None = None


class LessonReader:
    """Turns the text of the lesson file of this name into a `Lesson`."""

    def __init__(self, name: str):
        self.name = name
        self.mistakes: list[Mistake] = []

    def fail(self, line: int, message: str) -> NoReturn:
        raise Mistake(line, message)

    def note(self, line: int, message: str) -> None:
        self.mistakes.append(Mistake(line, message))

    def attempt(self, what: Callable[..., Any], *args, otherwise=None) -> Any:
        """What `what` finds; a mistake is noted, so that the reading can go on."""
        try:
            return what(*args)
        except Mistake as mistake:
            self.mistakes.append(mistake)
            return otherwise

    def read(self, text: str) -> Lesson:
        head, *parts = self.parts(text)
        settings = self.settings(head)
        data = self.attempt(self.one_of, head, "data", DATA, "mnist_sample")
        sample = self.attempt(self.sample, head, data, "")
        minutes = self.attempt(self.whole, head, "minutes", "10")
        order = self.attempt(self.whole, head, "order", "100")
        steps = []
        for part in parts:
            settings = settings | self.settings(part)
            sample = self.attempt(self.sample, part, data, sample)
            steps.append(self.step(part, settings, sample, data))
        self.complain()
        return Lesson(
            name=self.name,
            title=head.title,
            summary=" ".join(line.strip() for line in head.text if line.strip()),
            data=data,
            minutes=minutes,
            order=order,
            steps=tuple(steps),
        )

    def complain(self) -> None:
        """All mistakes at once, in the order of the file."""
        found = sorted(self.mistakes, key=lambda mistake: mistake.line)
        lines = [f"{self.name}.md, line {each.line}: {each.text}" for each in found]
        if len(lines) > MOST_MISTAKES:
            more = len(lines) - MOST_MISTAKES
            lines[MOST_MISTAKES:] = [f"{self.name}.md has {more} more mistakes."]
        if lines:
            raise LessonError("\n".join(lines))

    def whole(self, head, name, default):
        line, text = head.fields.get(name, (head.line, default))
        return round(self.number(line, name, text, 1, 600))

    def parts(self, text):
        parts: list[_Part] = []
        for number, line in enumerate(text.splitlines(), start=1):
            if line.startswith("# ") and not parts:
                parts.append(_Part(line[2:].strip(), number))
            elif not parts:
                if line.strip():
                    self.note(number, "a lesson begins with “# ” and its title.")
                    parts.append(_Part("", number))
            elif line.startswith("## "):
                parts.append(_Part(line[3:].strip(), number))
            else:
                self.attempt(self.line, parts[-1], number, line, len(parts) == 1)
        if not parts:
            self.note(1, "the file is empty; begin with “# ” and the lesson's title.")
        elif len(parts) == 1:
            self.note(parts[0].line, "the lesson has no step; begin one with “## ” and its title.")
        if len(parts) < 2:
            self.complain()
        return parts

    def line(self, part, number, line, first):
        match = _FIELD.match(line.rstrip())
        if not match:
            if part.reveal is not None:
                part.reveal.append((number, line))
            else:
                part.text.append(line)
            return
        name, value = match[1], (match[2] or "").strip()
        known = _LESSON_FIELDS if first else _STEP_FIELDS
        if name not in known:
            where = "before the first step" if first else "in a step"
            self.fail(number, f"“{name}:” is not a field {where}{did_you_mean(name, known)}")
        if name in part.fields or (name == "reveal" and part.reveal is not None):
            self.fail(number, f"“{name}:” is given twice in this step.")
        if name == "reveal":
            part.reveal = [(number, value)]
        elif not value:
            self.fail(number, f"“{name}:” needs a value on the same line.")
        else:
            part.fields[name] = (number, value)

    def settings(self, part):
        given = [(name, *part.fields[name]) for name in SETTINGS if name in part.fields]
        return {
            name: self.attempt(self.setting_value, line, name, value) for name, line, value in given
        }

    def sample(self, part, data, before):
        """What lies on the bench from this part on."""
        if "sample" not in part.fields or data is None:
            return before
        line, value = part.fields["sample"]
        if data == "starter":
            if value not in odor_names():
                hint = did_you_mean(value, odor_names(), "Learn lists them")
                self.fail(line, f"“{value}” is not an odor of the starter set{hint}")
            return value
        if data not in IMAGES:
            return value  # whether DoOR has it, only the files say, and they may not be here
        number = self.number(line, "sample", value, 1, IMAGES[data])
        if number != int(number):
            self.fail(line, f"sample is a whole number, not {value}.")
        return str(int(number))

    def setting_value(self, line, name, text):
        if name == "plan":
            return text if text in PLANS else self.fail(line, f"plan: one of {', '.join(PLANS)}.")
        value = self.number(line, name, text, *BOUNDS[name])
        if name in _INTEGERS and value != int(value):
            self.fail(line, f"{name} is a whole number, not {text}.")
        return int(value) if name in _INTEGERS else value

    def number(self, line, name, text, low, high):
        try:
            value = float(text)
        except ValueError:
            self.fail(line, f"“{text}” is not a number; {name} goes from {low:g} to {high:g}.")
        if not low <= value <= high:
            self.fail(line, f"{name} goes from {low:g} to {high:g}, not {value:g}.")
        return value

    def one_of(self, part, name, options, default):
        if name not in part.fields:
            return default
        line, value = part.fields[name]
        if value not in options:
            self.fail(line, f"{name} is one of {', '.join(options)}; not “{value}”.")
        return value

    def step(self, part, settings, sample, data):
        before = len(self.mistakes)
        question = self.question(part, data)
        if part.reveal is not None and question is None and len(self.mistakes) == before:
            self.note(part.reveal[0][0], "“reveal:” needs a “question:” before it.")
        if question is not None:
            self.check_placeholders(part, question)
        return LessonStep(
            title=part.title,
            text="\n".join(part.text).strip(),
            view=self.attempt(self.one_of, part, "view", VIEWS, "none"),
            circuit_step=self.attempt(self.one_of, part, "step", CIRCUIT_STEPS, "input"),
            settings=settings,
            sample=sample,
            show=self.controls(part),
            question=question,
            reveal="\n".join(line for _, line in part.reveal or ()).strip(),
        )

    def controls(self, part):
        if "show" not in part.fields:
            return ()
        line, value = part.fields["show"]
        names = tuple(name.strip() for name in value.split(","))
        for name in names:
            if name not in CONTROLS:
                self.note(line, f"“{name}” is not a control{did_you_mean(name, CONTROLS)}")
        return names

    def question(self, part, data):
        if "question" not in part.fields:
            alone = [name for name in _BESIDE_A_QUESTION if name in part.fields]
            if alone:
                where, _ = part.fields[alone[0]]
                self.note(where, f"“{alone[0]}:” needs a “question:” beside it.")
            return None
        _, text = part.fields["question"]
        measure = self.attempt(self.measure, part, data)
        kind = self.attempt(self.kind_of_question, part)
        chart = self.attempt(self.setting_list, part, "chart") if "chart" in part.fields else None
        about = self.attempt(self.kind, part, kind) if kind else None
        if measure is None or about is None:
            return None
        return Question(text, measure, kind, chart=chart, **about)

    def measure(self, part, data):
        line, _ = part.fields["question"]
        if "measure" not in part.fields:
            self.fail(line, f"the question needs “measure:” with one of {', '.join(MEASURES)}.")
        measure = self.one_of(part, "measure", tuple(MEASURES), None)
        if data == "starter" and MEASURES[measure].one_answer:
            self.fail(
                part.fields["measure"][0],
                f"{measure} needs one right answer per sample; odors have several. "
                "Use “data: mnist_sample” or another measure.",
            )
        return measure

    def kind_of_question(self, part):
        line, _ = part.fields["question"]
        kinds = [kind for kind in _PLACEHOLDERS if kind in part.fields]
        if len(kinds) != 1:
            self.fail(line, "the question needs exactly one of “guess:”, “choose:” or “change:”.")
        return kinds[0]

    def kind(self, part, kind):
        line, value = part.fields[kind]
        if kind == "guess":
            match = _SPAN.fullmatch(value)
            if not match or not float(match[1]) < float(match[2]) < math.inf:
                self.fail(line, "“guess:” is written like “guess: 0 to 100”.")
            return {"low": float(match[1]), "high": float(match[2])}
        setting, values = self.setting_list(part, kind)
        if kind == "change":
            if len(values) != 2:
                self.fail(line, "“change:” compares two values, like “change: cells = 50, 500”.")
            return {"setting": setting, "values": values}
        if "answer" not in part.fields:
            self.fail(line, "“choose:” needs “answer: highest” or “answer: lowest”.")
        answer = self.one_of(part, "answer", ("highest", "lowest"), None)
        return {"setting": setting, "values": values, "answer": answer}

    def setting_list(self, part, name):
        line, value = part.fields[name]
        setting, equals, listed = map(str.strip, value.partition("="))
        if not equals or setting not in SETTINGS:
            self.fail(
                line,
                f"“{name}:” is written like “{name}: cells = 50, 500”, with one of "
                f"{', '.join(SETTINGS)}.",
            )
        values = tuple(
            self.setting_value(line, setting, text.strip()) for text in listed.split(",")
        )
        if len(values) < 2:
            self.fail(line, f"“{name}:” needs at least 2 values.")
        return setting, values

    def check_placeholders(self, part, question):
        allowed = _PLACEHOLDERS[question.kind]
        for number, line in part.reveal or ():
            # LaTeX's own braces stand between dollar signs.
            for word in PLACEHOLDER.findall(re.sub(r"\$[^$]*\$", "", line)):
                if word not in allowed:
                    names = " and ".join(f"{{{name}}}" for name in allowed)
                    self.note(number, f"{{{word}}} means nothing here; there is {names}.")
