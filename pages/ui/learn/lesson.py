"""A lesson on the Learn page: read, predict, then see what is measured, here and now."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.lessons.circuit import CircuitSettings, of_whole_fly
from kcnet_core.lessons.lesson import Lesson, LessonStep
from kcnet_core.lessons.lesson_file import lesson_names, load_lesson
from pages.ui.learn import views
from pages.ui.learn.bench import SAMPLE_OF, Bench, glomeruli
from pages.ui.learn.fly_controls import plan_control, plans_of, setting_control
from pages.ui.learn.lesson_question import ask
from pages.ui.learn.needed import needs_downloads
from pages.ui.learn.present import kept, presenting, switch
from pages.ui.learn.sample_choice import choose_sample, first_sample
from pages.ui.learn.walk import back_button, next_button, still
from pages.ui.shell import session_keys
from pages.ui.shell.escaping import escape_markdown

VIEWS = {"inhibition": views.inhibition, "tags": views.tags, "flies": views.flies}


def overview() -> None:
    """All lessons, each with its door; a file that cannot be read says why."""
    st.markdown(
        "In a lesson you **predict first**, and only then the fly is measured, on this machine, "
        "with the data you see. Nothing is prepared: reshuffle, and the numbers change a little."
    )
    lessons, broken = _read_all()
    with st.grid(min_column_width=270, border=True) as grid:
        for lesson in lessons:
            with grid.cell(), st.container(key=f"lesson_{lesson.name}"):
                st.header(lesson.title, anchor=False)
                st.markdown(lesson.summary)
                st.caption(f"{len(lesson.steps)} steps, about {lesson.minutes} minutes")
                st.button(
                    "Start",
                    key=f"start_{lesson.name}",
                    type="primary",
                    on_click=st.query_params.from_dict,
                    args=(kept({"lesson": lesson.name}),),
                    icon=":material/school:",
                )
    for mistakes in broken:
        _mistakes(mistakes)
    st.caption(
        "Teachers: a lesson is a small text file in assets/lessons; the README there shows how to "
        "write one. Its address, ?lesson= and the file's name, opens it for a class."
    )


def _read_all() -> tuple[list[Lesson], list[str]]:
    lessons, broken = [], []
    for name in lesson_names():
        try:
            lessons.append(load_lesson(name))
        except KCNetError as error:
            broken.append(str(error))
    return sorted(lessons, key=lambda lesson: (lesson.order, lesson.title)), broken


def _mistakes(lines: str) -> None:
    """What is wrong with a file, a line each."""
    each = [escape_markdown(line) for line in lines.splitlines()]
    st.error("  \n".join(each), icon=":material/edit_off:")


def _leave() -> None:
    st.query_params.from_dict(kept({"view": "Lessons"}))
    st.session_state[session_keys.VIEW] = "Lessons"


def show(name: str) -> None:
    """Run one lesson; `?lesson=` names it, `?part=` says how far one is."""
    try:
        lesson = load_lesson(name)
    except KCNetError as error:
        st.title("Lessons", anchor=False)
        _mistakes(str(error))
        st.button("All lessons", on_click=_leave, icon=":material/arrow_back:", key="lesson_leave")
        return
    part = _part(lesson)
    _header(lesson, part)
    turned = st.session_state.get(session_keys.LESSON_PAGE) != (name, part)
    st.session_state[session_keys.LESSON_PAGE] = (name, part)
    # What the last step left behind goes at once, not when the new step has been computed.
    # On a projector the two stand side by side, so that both are on the screen.
    beside = st.columns([5, 7], gap="medium") if presenting() else (st, st)
    card, below = (place.empty() if turned else place for place in beside)
    with card.container(key="lesson_card", border=True, width=820):
        if part > len(lesson.steps):
            _summary(lesson)
            return
        step = lesson.steps[part - 1]
        st.header(step.title, anchor=False)
        st.markdown(step.text)
        if needs_downloads(lesson.data):
            return
        try:
            bench = _bench(lesson, step, part)
        except KCNetError as error:  # data that are damaged, or a molecule that is none
            st.error(escape_markdown(error), icon=":material/error:")
            return
        question, mark = step.question, (lesson.name, part)
        done = question is None or ask(question, step.reveal, mark, bench)
        _navigation(lesson, part, done)
    if done and step.view != "none":
        with below.container(key="lesson_view"):
            _view(step, bench)


def _part(lesson: Lesson) -> int:
    try:
        part = int(st.query_params.get("part", 1))
    except ValueError:
        part = 1
    return min(max(part, 1), len(lesson.steps) + 1)


def _header(lesson: Lesson, part: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_head"):
        st.title(lesson.title, anchor=False, width="stretch")
        switch()
        st.button(
            "Leave the lesson",
            icon=":material/close:",
            type="tertiary",
            on_click=_leave,
            key="lesson_leave",
        )
    n = len(lesson.steps)
    where = f"Step {part} of {n}" if part <= n else "The end"
    st.progress(min(part, n) / n, text=where)


def _navigation(lesson: Lesson, part: int, done: bool) -> None:
    with st.container(horizontal=True, key="lesson_navigation"):
        back_button("lesson_back", _go, part - 1, disabled=part == 1)
        next_button(
            "lesson_next",
            _go,
            part + 1,
            disabled=not done,
            label="Next" if part < len(lesson.steps) else "Finish",
            type="primary" if done else "secondary",
        )


def _go(part: int) -> None:
    st.query_params["part"] = str(part)


def _bench(lesson: Lesson, step: LessonStep, part: int) -> Bench:
    """The fly as the lesson sets it, with the controls that the step shows."""
    kind = SAMPLE_OF[lesson.data]
    chosen: dict[str, Any] = {**asdict(CircuitSettings()), **step.settings}
    sample = None
    if step.show:
        names = sorted(step.show, key=lambda name: name == "sample")  # the sample comes last
        with st.container(key="fly_controls"):
            columns = st.columns(max(2, len(step.show)), gap="medium")
            for name, column in zip(names, columns, strict=False):
                with column:
                    if name == "sample":
                        sample = choose_sample(kind, first=step.sample)
                    elif name == "plan":
                        key, plans = f"{lesson.name}_{part}_plan", plans_of(lesson.data)
                        chosen[name] = plan_control(plans, chosen[name], key)
                    else:
                        key = f"{lesson.name}_{part}_{name}"
                        chosen[name] = setting_control(name, chosen[name], key=key)
    sample = sample or first_sample(kind, step.sample)
    settings = of_whole_fly(CircuitSettings(**chosen), glomeruli(lesson.data))
    return Bench(lesson.data, settings, sample, kind)


def _view(step: LessonStep, bench: Bench) -> None:
    if step.view == "circuit":
        still(bench, step.circuit_step)
    elif step.view == "draw":
        views.draw(bench.settings)
    else:
        VIEWS[step.view](bench)


def _summary(lesson: Lesson) -> None:
    """What was predicted and what was measured, side by side."""
    results = st.session_state.get(session_keys.LESSON_RESULTS, {})
    rows = [
        (step.question.text, results.get((lesson.name, part)))
        for part, step in enumerate(lesson.steps, start=1)
        if step.question is not None
    ]
    answered = [result for _, result in rows if result is not None]
    right = sum(result.right for result in answered)
    st.header(f"{right} of {len(rows)} predictions held", anchor=False)
    st.table(
        {
            "Question": [question for question, _ in rows],
            "You predicted": [result.prediction if result else "skipped" for _, result in rows],
            "Measured": [result.measured if result else "" for _, result in rows],
            "Held": ["yes" if result and result.right else "no" for _, result in rows],
        },
        hide_index=True,
    )
    with st.container(horizontal=True):
        st.button(
            "Once more",
            icon=":material/replay:",
            on_click=_restart,
            args=(lesson,),
            key="lesson_again",
        )
        st.button("All lessons", type="primary", on_click=_leave, key="lesson_done")


def _restart(lesson: Lesson) -> None:
    for part in range(1, len(lesson.steps) + 1):
        st.session_state.get(session_keys.LESSON_REVEALED, {}).pop((lesson.name, part), None)
        st.session_state.get(session_keys.LESSON_RESULTS, {}).pop((lesson.name, part), None)
        st.session_state.pop(session_keys.prediction(lesson.name, part), None)
    _go(1)
