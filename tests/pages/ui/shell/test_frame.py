"""What surrounds every page: nothing that cannot be seen takes room above the heading."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).resolve().parents[4] / "app.py")


def kinds(block) -> list[str]:
    """Types of all elements of a page, from top to bottom."""
    found = []
    for child in block.children.values():
        found += kinds(child) if hasattr(child, "children") else [child.type]
    return found


def test_the_first_visit_has_its_heading_at_the_top_and_the_owners_mark_at_the_end():
    drawn = kinds(AppTest.from_file(APP, default_timeout=120).run().main)
    assert drawn[0] == "title" and drawn[-1] == "html"


def test_a_phone_is_told_where_settings_and_pages_are():
    app = AppTest.from_file(APP, default_timeout=120).run()
    assert any("»" in words.value for words in app.markdown)
