"""`--rate` limits the requests of all hosts together."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.collection.option_names import settings_of
from gossamer.errors import SettingsError
from support.a_crawl import crawl
from support.a_site import page, site_in_thread


@pytest.mark.slow
def test_a_rate_limits_the_requests_of_all_hosts_together(tmp_path: Path) -> None:
    links = "".join(f"<a href=/{n}>{n}</a>" for n in range(30))
    pages = {"/": page(links), **{f"/{n}": page("") for n in range(30)}}
    with site_in_thread(pages) as site:
        summary = crawl(tmp_path / "c", [site.url()], fetch__requests_per_s=10)

    began = [seen.began_s for seen in site.log]
    assert summary.fetched == 31
    assert began[-1] - began[0] >= (len(began) - 8) / 10


def test_a_rate_is_written_with_its_unit() -> None:
    assert settings_of({"rate": "30/m"}) == {"fetch.requests_per_s": 0.5}
    with pytest.raises(SettingsError, match=r"requests_per_s is 'fast', .* such as 5, or 5/s"):
        settings_of({"rate": "fast"})
