"""Budgets of hosts and sites, and what they grow with."""

from __future__ import annotations

from gossamer.policies.traps.earned import SiteYield, note_linking, site_key

BASE = 100


def wasting(site: SiteYield, count: int) -> None:
    for _ in range(count):
        site.learn(BASE, is_news=False, is_wasted=True, had_level=True)


def test_the_budget_of_a_site_grows_with_news_relevance_and_sites_that_link_to_it() -> None:
    site = SiteYield()
    budgets = [site.budget(BASE)]
    site.learn(BASE, is_news=True, is_wasted=False, had_level=False)
    budgets.append(site.budget(BASE))
    site.relevant += 1
    budgets.append(site.budget(BASE))
    note_linking(site.linking, site_key("b.example"))
    note_linking(site.linking, site_key("b.example"))
    budgets.append(site.budget(BASE))

    assert budgets == [100, 101, 106, 126]


def test_a_site_that_wasted_its_budget_recovers_when_it_brings_news() -> None:
    site = SiteYield()
    wasting(site, BASE)
    assert site.is_spent

    withdrawn = [site.learn(BASE, is_news=True, is_wasted=False, had_level=True) for _ in range(4)]
    assert withdrawn.count(True) == 1
    assert not site.is_spent


def test_sites_that_link_are_counted_up_to_a_bound() -> None:
    linking: set[bytes] = set()
    for number in range(1_000):
        note_linking(linking, site_key(f"s{number}.example"))

    assert len(linking) == 100
