"""Tables are read in the encodings, separators and shapes that people really have."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core.datasets.uploads import cells, quota
from kcnet_core.datasets.uploads.cells import ENCODINGS, SEPARATORS, read_table
from kcnet_core.errors import DataError, KCNetError, LimitError
from kcnet_core.limits import MAX_CSV_LINE, MAX_CSV_LINES

ROWS = [["name", "smiles", "odor"], ["crème brûlée", "CCO", "süß"], ["b", "CCC", "sour"]]


def written(separator=",", rows=ROWS, newline="\n"):
    return newline.join(separator.join(row) for row in rows)


def as_lists(table):
    return [list(row) for row in table.rows]


@pytest.mark.parametrize("separator", list(SEPARATORS))
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-16-le", "utf-16-be"])
def test_every_encoding_separator_and_line_end_gives_the_same_cells(separator, newline, encoding):
    table = read_table(written(separator, newline=newline).encode(encoding))
    assert as_lists(table) == ROWS
    assert table.separator == separator


def test_blank_lines_and_blank_rows_are_skipped_but_lines_are_counted():
    table = read_table(b"a,b\n\n1,2\n , \n\n3,4\n")
    assert as_lists(table) == [["a", "b"], ["1", "2"], ["3", "4"]]
    assert table.lines == (1, 3, 6)


def test_quotes_protect_separators_newlines_and_quotes():
    table = read_table(b'a,b\n"x, y","he said ""hi"""\n"two\nlines",z\n')
    assert as_lists(table)[1:] == [["x, y", 'he said "hi"'], ["two\nlines", "z"]]


def test_a_quote_that_is_never_closed_costs_no_rows():
    table = read_table(b'a,b\n"x,1\ny,2\nz,3\n')
    assert [row[1] for row in as_lists(table)] == ["b", "1", "2", "3"]


QUOTED = ['"smiles","odor"', '"CCO","sweet, green"', '"CCC","sour"', '"CCN","fishy"']


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("broken", ['"CCCl,musky', '"CCCl","musky', 'CCCl,"musky'])
def test_a_quote_that_is_never_closed_costs_only_its_own_line_its_marks(at, broken):
    table = read_table("\n".join([*QUOTED[:at], broken, *QUOTED[at:], ""]).encode())
    rows = [["smiles", "odor"], ["CCO", "sweet, green"], ["CCC", "sour"], ["CCN", "fishy"]]
    assert as_lists(table) == [*rows[:at], ["CCCl", "musky"], *rows[at:]]
    assert table.lines == (1, 2, 3, 4, 5)
    assert table.unclosed == (at + 1,)


def test_a_quote_that_is_never_closed_spares_cells_of_several_lines():
    table = read_table(b'a,b\n"two\nlines",1\n"x,2\n"three\n\nlines",3\n5" nails,4\n')
    assert as_lists(table) == [
        ["a", "b"],
        ["two\nlines", "1"],
        ["x", "2"],
        ["three\n\nlines", "3"],
        ['5" nails', "4"],
    ]
    assert table.lines == (1, 3, 4, 7, 8)
    assert table.unclosed == (4,)


def test_a_file_full_of_open_quotes_is_refused_with_a_line(monkeypatch):
    monkeypatch.setattr(cells, "_MOST_READ_AGAIN", 10_000)  # or it takes a second
    with pytest.raises(DataError, match=r"Line \d+ has a quotation mark that is not closed"):
        read_table(b'a","\n' * 1_001)


def test_lists_inside_cells_do_not_pass_for_columns():
    text = "smiles,odor\nCCO,sweet;fruity;green\nCCC,sour\nCCN,fishy;sour\n"
    assert read_table(text.encode()).separator == ","
    text = "smiles;value\nCCO;0,5\nCCC;1,5\n"
    assert read_table(text.encode()).separator == ";"


def test_excels_separator_hint_is_followed():
    table = read_table(b"sep=;\nsmiles;odor, taste\nCCO;a\n")
    assert as_lists(table) == [["smiles", "odor, taste"], ["CCO", "a"]]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", list(SEPARATORS))
def test_excels_separator_hint_counts_as_a_line(separator, newline):
    table = read_table(newline.join([f"sep={separator}", f"a{separator}b", "", "1"]).encode())
    assert as_lists(table) == [["a", "b"], ["1", ""]]
    assert table.lines == (2, 4)


def test_title_lines_above_the_header_are_skipped():
    table = read_table(b"My odorants\n\nsmiles,odor,name\nCCO,sweet,x\nCCC,sour,y\n")
    assert as_lists(table)[0] == ["smiles", "odor", "name"]


@pytest.mark.parametrize("title", ["My table", "My table\n\nfrom the lab", "My table, 2021"])
@pytest.mark.parametrize("separator", list(SEPARATORS))
def test_a_title_above_the_header_does_not_hide_the_separator(title, separator):
    decimal = "." if "," in title + separator else ","
    rows = [["smiles", "sweet"], *([f"{'C' * k}O", f"0{decimal}5"] for k in range(1, 90))]
    table = read_table(f"{title}\n\n{written(separator, rows)}".encode())
    assert table.separator == separator


def test_row_numbers_without_a_title_do_not_shift_the_columns():
    table = read_table(b'"smiles","odor"\n"1","CCO","sweet"\n"2","CCC","sour"\n')
    assert as_lists(table)[0] == ["", "smiles", "odor"]


def test_rows_with_too_many_cells_are_marked_and_short_ones_filled():
    table = read_table(b"a,b\n1,2\n1,2,3\n1\n1,2,\n")
    assert as_lists(table) == [["a", "b"], ["1", "2"], ["1", "2"], ["1", ""], ["1", "2"]]
    assert table.surplus == {2: 3}


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "empty"),
        (b"\n \r\n\t\n", "empty"),
        (b",,,\n,,\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"PK\x03\x04rest of a workbook", "Excel or zip file, .*save it as CSV"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "picture"),
        (gzip.compress(b"smiles,y", mtime=0), "gzip"),
        (bytes(range(256)) * 20, "binary data"),
        (b"smiles,y\nC\x00C,1\n", "binary data"),
        (b"\xff\xfeodd", "not utf-16 text"),
        (b'a,b\n"' + b"x" * 200_000 + b'",1\n', "Line 2 cannot be read"),
        (b'a,b\n"' + b"x" * 200_000, "Line 2 cannot be read"),
    ],
)
def test_what_is_no_table_is_told(content, words):
    with pytest.raises(DataError, match=words):
        read_table(content)


def test_a_wrong_choice_of_encoding_or_separator_is_told():
    with pytest.raises(DataError, match="not utf-8 text"):
        read_table("ü,ä\n".encode("latin-1"), encoding="utf-8")
    with pytest.raises(DataError, match="encoding must be one of"):
        read_table(b"a,b", encoding="rot13")
    with pytest.raises(DataError, match="separator must be one of"):
        read_table(b"a,b", separator="x")


def test_limits_are_named(monkeypatch):
    with pytest.raises(LimitError, match="MAX_CSV_ROWS"):
        read_table(b"smiles,y\n" + b"CCO,1\n" * 100_000)
    with pytest.raises(LimitError, match="MAX_CSV_COLUMNS"):
        read_table(b"smiles" + b",y" * 600 + b"\n")
    monkeypatch.setattr(quota, "MAX_UPLOAD_BYTES", 10)
    with pytest.raises(LimitError, match="MAX_UPLOAD_BYTES"):
        read_table(b"smiles,y\nCCO,1\n")


@pytest.mark.parametrize(
    "content, limit",
    [
        (b"smiles,y\n" + b"ab," * 1_000_000, "Line 2 .*MAX_CSV_LINE"),
        (b"," * 2_000_000, "Line 1 .*MAX_CSV_LINE"),
        (b"," * 600 + b"\nsmiles,y\n", "Line 1 .*MAX_CSV_COLUMNS"),
        ((b"," * 400 + b"\n") * 8_000, "MAX_CSV_CELLS"),
        (b"smiles,y" + b"\n " * 300_000, "MAX_CSV_LINES"),
    ],
)
def test_tables_of_endless_lines_or_blank_cells_are_refused_before_they_are_cut_up(
    content, limit, monkeypatch
):
    longest = []

    def cut_up(lines, *arguments, reader=cells.csv.reader, **options):
        def seen():
            for line in lines:
                longest.append(len(line))
                yield line

        return reader(seen(), *arguments, **options)

    monkeypatch.setattr(cells.csv, "reader", cut_up)
    with pytest.raises(LimitError, match=limit):
        read_table(content, separator=",")
    assert max(longest, default=0) <= MAX_CSV_LINE
    assert len(longest) <= MAX_CSV_LINES


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda s: s.encode("utf-8", "replace")))
def test_any_bytes_give_a_table_or_a_sentence(content):
    try:
        table = read_table(content)
    except KCNetError as error:
        assert str(error)
    else:
        assert len({len(row) for row in table.rows}) == 1
        assert len(table.lines) == len(table.rows) >= 1


@settings(max_examples=100, deadline=None)
@given(
    written=st.lists(
        st.lists(st.text("abcé ;,\n\"'=<", max_size=5), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    ),
    separator=st.sampled_from(list(SEPARATORS)),
)
def test_what_a_spreadsheet_writes_comes_back(written, separator):
    import csv
    import io

    rows = [["smiles", "label", "name"]] + [[f"C{k}", *row[1:]] for k, row in enumerate(written)]
    rows = [[" ".join(cell.split()) for cell in row] for row in rows]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    assert as_lists(read_table(buffer.getvalue().encode(), separator=separator)) == rows
