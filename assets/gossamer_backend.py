"""The build backend: setuptools, and before it what the web page takes from npm.

A build that cannot reach npm gives a package without those files, and says so on stderr; the web
page then shows tables where it would show curves.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

import gossamer_assets

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_node()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return [*build_meta.get_requires_for_build_editable(config_settings), *_node()]


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return list(build_meta.get_requires_for_build_sdist(config_settings))


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    _fetch()
    return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    _fetch()
    return str(build_meta.build_editable(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    return str(build_meta.build_sdist(sdist_directory, config_settings))


def _node() -> list[str]:
    """Node and npm from the package index, where the files are missing and there is no npm.

    Who has no package index either (`PIP_NO_INDEX`) builds without.
    """
    is_needless = gossamer_assets.is_fetched() or shutil.which("npm") is not None
    if is_needless or os.environ.get(gossamer_assets.SWITCH) or os.environ.get("PIP_NO_INDEX"):
        return []
    return [gossamer_assets.NODE_PACKAGE]


def _fetch() -> None:
    if why := gossamer_assets.fetch():
        print(f"The web page will have no curves: {why}.", file=sys.stderr)
