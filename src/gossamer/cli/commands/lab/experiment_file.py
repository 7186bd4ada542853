"""Read the TOML file of an experiment, and turn it into the words of its command.

    name = "Orders on our crawl"          # for people
    experiment = "order"                  # a command of `gossamer lab`
    data = ["links.tsv.gz"]               # its arguments

    [settings]                            # its flags
    sites = "sites.tsv.gz"
    repeats = 5
    orders = ["best", "breadth"]
    output = "orders.html"

Paths are relative to the file.
"""

from __future__ import annotations

import difflib
import inspect
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from gossamer.errors import UsageError

_KEYS: Final = ("name", "experiment", "data", "settings")


@dataclass(frozen=True, slots=True)
class DescribedExperiment:
    """What a file says."""

    name: str
    experiment: str
    data: Sequence[str]
    settings: Mapping[str, Any]


def read_experiment(path: Path) -> DescribedExperiment:
    """Read a file. Raises UsageError, which names the file and what is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    for key in content:
        if key not in _KEYS:
            raise UsageError(f"{path}: {key} is not known; known are {', '.join(_KEYS)}")
    experiment, data = content.get("experiment"), content.get("data", [])
    if not isinstance(experiment, str):
        raise UsageError(f'{path}: experiment is missing; write experiment = "order"')
    data = [data] if isinstance(data, str) else data
    settings = content.get("settings", {})
    is_right = isinstance(data, list) and all(isinstance(one, str) for one in data)
    if not is_right or not isinstance(settings, dict):
        raise UsageError(f"{path}: data is a list of texts, and settings is a table")
    return DescribedExperiment(str(content.get("name", "")), experiment, data, settings)


def words_for(
    described: DescribedExperiment, file: Path, commands: Mapping[str, Any]
) -> list[str]:  # fmt: skip
    """The words of the command. Raises UsageError for an experiment or a setting that is not
    known."""
    command = commands.get(described.experiment)
    if command is None:
        known = ", ".join(sorted(commands))
        raise UsageError(f"{file}: experiment {described.experiment!r} is none of {known}")
    flags = {
        flag.lstrip("-"): one for one in command.params for flag in one.opts if flag[:1] == "-"
    }
    arguments = [one for one in command.params if getattr(one, "param_type_name", "") == "argument"]
    hints = get_type_hints(inspect.unwrap(command.callback))
    paths = {name for name, hint in hints.items() if Path in (hint, *get_args(hint))}
    words: list[str] = []
    for key, value in described.settings.items():
        flag = flags.get(key.replace("_", "-"))
        if flag is None:
            near = difflib.get_close_matches(key.replace("_", "-"), flags, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{file}: {key} is not a setting of {described.experiment}{hint}")
        words += _flag_words(flag, value, flag.name in paths, file)
    is_path = bool(arguments) and arguments[0].name in paths
    return words + [_text(one, is_path, file) for one in described.data]


def _flag_words(flag: Any, value: Any, is_path: bool, file: Path) -> list[str]:
    name = max(flag.opts, key=len)
    if isinstance(value, bool):
        return [name] if value else []
    if not isinstance(value, list):
        return [name, _text(value, is_path, file)]
    texts = [_text(one, is_path, file) for one in value]
    if flag.multiple:
        return [word for text in texts for word in (name, text)]
    return [name, ",".join(texts)]


def _text(value: Any, is_path: bool, file: Path) -> str:
    return str(file.parent / str(value)) if is_path else str(value)
