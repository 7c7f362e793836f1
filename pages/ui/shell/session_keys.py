"""Every key under which a visitor's session holds something of ours: what it is, and who sets it.

A key that a widget has for itself alone is not listed; one that code reads or sets is. Those that
are also parameters of a link (view, step, cell) keep their names, or old links would break.
"""

from __future__ import annotations

from collections.abc import Iterable

# -- all pages -----------------------------------------------------------------------------------
OWNER = "owner"  # token of this browser (visitor)
RUN = "run"  # the Run that the controls show on every page (current_run)
ADOPTED = "adopted"  # how often a whole Run was taken over; new widget keys (current_run)
UPLOADED = "uploaded"  # the visitor's own Dataset (visitor_data)
JOB_ID = "job_id"  # the run that Train looks at (visitor_jobs)
FIGURE_FORMAT = "figure_format"  # widget: how figures are saved (Train's downloads)
LONG_RUN = "long_run"  # a plan whose long time was named; once more starts it (visitor_jobs)
MEMO = "memo"  # what would be costly to make again, by slot (memo)

# -- Train ---------------------------------------------------------------------------------------
PRESET = "preset"  # widget: the preset to load (run_controls)
PACE = "pace"  # widget: how fast a run goes (run_bar)
PACE_CHOSEN = "pace_chosen"  # whether the visitor, or a link, has said so (run_bar)
START_PROBLEM = "start_problem"  # why Start was refused, until it was said (run_bar)
SHORTER_RUNS = "shorter_runs"  # Runs to take instead of one that takes very long (run_bar)
LIVE_DRAWN = "live_drawn"  # what this browser was sent of the run it watches (live_film)
CLICKED_CELL = "clicked_cell"  # the point clicked last among the Kenyon cells (cell_view)
INTERRUPTED_SHOWN = "interrupted_shown"  # the interruption whose settings were adopted (train)

# -- Data ----------------------------------------------------------------------------------------
DOWNLOADS = "downloads"  # jobs that fetch, by dataset (catalogue)
UPLOAD_JOB = "upload_job"  # the job that reads a file (upload)
UPLOAD_USED = "upload_used"  # the job whose dataset is in use, and what it left out (upload)

# -- Learn ---------------------------------------------------------------------------------------
VIEW = "view"  # widget: which experiment is open
STEP = "step"  # widget: where the walk stands
CELL = "cell"  # widget: the Kenyon cell looked at, from 1; on Train, which has one too, from 0
LESSON_PAGE = "lesson_page"  # lesson and part drawn last (lesson)
LESSON_REVEALED = "lesson_revealed"  # predictions by lesson and part, once measured (lesson)
LESSON_RESULTS = "lesson_results"  # prediction beside measurement, likewise (lesson)

# -- Smell ---------------------------------------------------------------------------------------
SMELL_BOX = "smell_box"  # component: the text box (box)
SMELL_TEXT = "smell_text"  # what stands in it (box)
SMELL_VERSION = "smell_version"  # how often we replaced that (box)
SMELL_TOO_LONG = "smell_too_long"  # characters of a text that was refused (box)
SMELL_DRAW = "smell_draw"  # widget: whether the editor is shown (draw)
SMELL_EDITOR = "smell_editor"  # component: the editor (draw)
SMELL_TABLE = "smell_table"  # name and lines of a table that takes the place of the box (ask)
SMELL_UPLOAD = "smell_upload"  # widget: whether the place for a table is open (ask)
SMELL_MODEL = "smell_model"  # widget: who answers (models)
SMELL_FILE = "smell_file"  # the ChosenModel from a file (models)
SMELL_DILUTION = "smell_dilution"  # widget: at which dilution (models)
SMELL_COVERAGE = "smell_coverage"  # widget: share of true characters to be named (models)
SMELL_ANSWERS = "smell_answers"  # what was asked last, and the Answers (ask)
SMELL_BEFORE = "smell_before"  # SMILES and name of the molecule that was changed (edits)
SMELL_VIEW = "smell_view"  # widget: ask about molecules, or search by smell (search, as all these)
SMELL_WANTED = "smell_wanted"  # widget: characters that are wished for
SMELL_UNWANTED = "smell_unwanted"  # widget: characters that are not
SMELL_MASS = "smell_mass"  # widget: from and to, g/mol
SMELL_BOILS = "smell_boils"  # widget: from and to, °C
SMELL_HOLDING = "smell_holding"  # widget: elements that must be there
SMELL_WITHOUT = "smell_without"  # widget: elements that must not be there
SMELL_VOLATILE = "smell_volatile"  # widget: only what a nose can smell
SMELL_LIKE = "smell_like"  # widget: a molecule to be like
SMELL_AMONG = "smell_among"  # widget: whose molecules are searched
SMELL_MAP = "smell_map"  # widget: the map of known molecules, and what was clicked (tag_map)
SMELL_JOB = "smell_job"  # costly questions by their place, and the job of each (queued)

# -- Compare -------------------------------------------------------------------------------------
COMPARISON = "comparison"  # the Comparison that the controls show
COMPARISON_ADOPTED = "comparison_adopted"  # how often a whole one was taken over; new widget keys
COMPARISON_KIND = "comparison_kind"  # of the data that it was made for
COMPARISON_ROWS = "comparison_rows"  # every row seen, by id: none is measured twice
COMPARISON_UPLOAD = "comparison_upload"  # the upload that rows of this name belong to
MEASURED_JOBS = "compare_jobs"  # ids of the measurements that are looked at, by kind (measured)
COMPARE_VIEW = "compare_view"  # widget: KCNet | ELM live, or the measured comparison (view)
BESIDE_WIDEST = "beside_widest"  # widget: how far the two grow (view, as all of these)
BESIDE_SEEDS = "beside_seeds"  # widget: how often
BESIDE_WIDTH = "beside_width"  # widget: the width looked at
BESIDE_NOISE = "beside_noise"  # widget: the noise on the test rows
BESIDE_SAMPLE = "beside_sample"  # widget: the test row looked at
AIMS_MOVED = "compare_aims_moved"  # aims that follow the results no longer (scores)

# -- Paper ---------------------------------------------------------------------------------------
PAPER_CHOICE = "paper_choice"  # widget: which table or figure is open


def addresses(page: str) -> str:
    """The addresses of `page` that we wrote ourselves (address)."""
    return f"{page}_addresses"


def parameter(name: str) -> str:
    """What a page's address said before another page was opened (address)."""
    return f"address_{name}"


def clicked(what: str) -> str:
    """Whether a click was noted and not yet carried out (streamlit_workarounds)."""
    return f"deferred_{what}"


def refused(kind: str) -> str:
    """Why a measurement could not be started (measured)."""
    return f"{kind}_problem"


def metric(usual: str) -> str:
    """Widget: the metric that is looked at, where `usual` is the data's own (Compare's scores)."""
    return f"compare_metric_{usual}"


def aim(dataset: str, metric: str) -> str:
    """Widget: how good a model shall be when its time counts (Compare's scores)."""
    return f"compare_aim_{dataset}_{metric}"


def noise_size(sizes: Iterable[int]) -> str:
    """Widget: which of the compared hidden sizes is tested for robustness (noise)."""
    return f"noise_size_{'_'.join(map(str, sizes))}"


def prediction(lesson: str, part: int) -> str:
    """Widget: what is predicted in a part of a lesson."""
    return f"predict_{lesson}_{part}"
