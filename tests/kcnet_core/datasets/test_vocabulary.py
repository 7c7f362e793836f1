"""Other people's words are read in our characters, as a table says that everybody can correct."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kcnet_core.datasets import gs_lf, starter
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.keller_labels import QUESTIONNAIRE
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.datasets.vocabulary import translated, words_of


def made(names, y):
    y = np.array(y)
    return Dataset("gs_lf", "", np.zeros((len(y), 1), np.float32), y, ("x",), tuple(names))


def test_every_word_stands_for_characters_that_the_starter_set_has():
    ours = {word for entry in starter._entries(starter.PATH) for word in entry["characters"]}
    sources = ("keller_2016", "gs_lf", *ARCHIVES)
    said = {one for name in sources for found in words_of(name).values() for one in found}
    assert said == {word.capitalize() for word in ours}
    assert {"Woody", "Fruity", "Odorless"} <= said


def test_a_character_is_there_when_any_of_its_words_is():
    data = made(("Cedar", "Woody", "Rose", "Warm"), [[1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 1, 1]])
    labels = translated(data, ("Floral", "Woody", "Rose", "Musky"))
    assert labels.tolist() == [[0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0]]


def test_a_source_without_words_gives_no_labels():
    data = replace(made(("Woody",), [[1]]), name="elsewhere")
    assert words_of("elsewhere") == {} and translated(data, ("Woody",)).tolist() == [[0]]


def test_every_word_of_the_published_table_is_listed(shared_data):
    path = shared_data / gs_lf.FOLDER
    table = gs_lf._read(path)
    words = [column.capitalize() for column in table.columns[2:]]
    assert set(words) == set(words_of("gs_lf"))


def test_every_word_of_the_questionnaire_is_listed():
    assert {word.capitalize() for word in QUESTIONNAIRE} == set(words_of("keller_2016"))
