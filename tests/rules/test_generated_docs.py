"""Files that come from the code say what the code says."""

import pytest

from gossamer.cli.docs import PAGES, ROOT


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_file_is_as_the_code_would_write_it(name: str) -> None:
    written = (ROOT / name).read_text(encoding="utf-8")

    assert written == PAGES[name](), "run `python -m gossamer.cli.docs` and commit what it writes"
