"""Refresh policies of other packages: found by name, checked, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.base.packing import pack
from gossamer.collection.stored_settings import changed_settings, stored_settings
from gossamer.errors import PluginError, SettingsError
from gossamer.frontier.meta_keys import SETTINGS_KEY
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.plugins import REFRESH
from gossamer.policies.refresh.named import refresh_named
from gossamer.settings import Settings, values_of, with_values
from support.plugins import installed

CODE = """
from gossamer.policies.refresh.indexed import IndexPolicy

class Newest(IndexPolicy):
    def index(self, slots, now_s):
        return self.pages.last_s[slots]

class Broken(IndexPolicy):
    def index(self, slots, now_s):
        raise RuntimeError("no index")

class Half:
    def add(self, slot, now_s): ...
"""
POINTS = {REFRESH: {name.lower(): f"some_policies:{name}" for name in ("Newest", "Broken", "Half")}}


def test_a_policy_of_another_package_is_used_by_its_name(tmp_path: Path) -> None:
    with installed(tmp_path, "some-policies", POINTS, CODE):
        policy = refresh_named("newest")
        for slot, last_s in enumerate([1.0, 3.0, 2.0]):
            policy.add(slot, last_s)

        assert policy.choose(9.0, 2).tolist() == [1, 2]
        chosen = with_values(Settings(), {"refresh.policy": "newest"})
        assert values_of(chosen)["refresh.policy"] == "newest"
        with pytest.raises(KeyError):
            policy.known(7)


def test_a_policy_that_fails_or_is_incomplete_is_one_sentence(tmp_path: Path) -> None:
    with installed(tmp_path, "some-policies", POINTS, CODE):
        policy = refresh_named("broken")
        policy.add(0, 1.0)

        with pytest.raises(PluginError, match=r"failed in choose \(RuntimeError: no index\)"):
            policy.choose(9.0, 1)
        with pytest.raises(PluginError, match="it has no restore, remove"):
            refresh_named("half")


def test_a_name_that_nobody_offers_is_one_sentence() -> None:
    with pytest.raises(PluginError, match="no refresh policy is called 'newest'"):
        refresh_named("newest")
    with pytest.raises(SettingsError):
        with_values(Settings(), {"refresh.policy": "newest"})


def test_a_collection_can_be_opened_without_the_policy_of_its_crawl() -> None:
    store = MemoryStore()
    store.write({StateTable.META: {SETTINGS_KEY: pack({"refresh.policy": "newest"})}})
    found = stored_settings(store)

    assert found is not None
    assert found.refresh.policy == "optimal"
    changed = changed_settings(store, Settings(), may_change=False)
    assert changed["refresh.policy"] == ("newest", "optimal")
