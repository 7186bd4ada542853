"""Generate the files that come from the code: `python -m gossamer.cli.docs` writes them.

A test fails if they differ from what this module would write.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import typer.main

from gossamer.cli.options_module import options_module
from gossamer.settings import KEYS, SECTIONS, describe, is_fixed, name_of_type

ROOT: Final = Path(__file__).parents[3]


def settings_page() -> str:
    """docs/settings.md: every setting with its default and meaning."""
    lines = [
        "# Settings",
        "",
        "Every setting with its default and meaning. Set it in `gossamer.toml` in the collection",
        "or the current directory (or under `[tool.gossamer]` in `pyproject.toml`), in the",
        "environment (`GOSSAMER_POLITENESS_HOST_DELAY_S=2`), or on the command line (`--set",
        "politeness.host_delay_s=2`, or the flag of the setting). From highest to lowest priority:",
        "command line, environment, `gossamer.toml`, your user configuration file, default. An",
        "unknown key is an error that names the file, the line and the nearest valid key.",
        "",
        "Names end in their unit: `_s` is seconds, `_bytes` bytes, `_mb` megabytes. Settings",
        "marked *fixed* decide what belongs to a crawl; a stored crawl accepts another value only",
        "with `--change`.",
    ]
    for section in SECTIONS:
        name = section.__name__.lower()
        meaning = (section.__doc__ or "").removeprefix(f"[{name}] ").strip()
        lines += ["", f"## [{name}]", "", meaning, "", "| setting | default | type | meaning |"]
        lines.append("|---|---|---|---|")
        for key in KEYS:
            if key.startswith(f"{name}."):
                lines.append(_setting_row(key))
    return "\n".join(lines) + "\n"


def _setting_row(key: str) -> str:
    kind, default, meaning = describe(key)
    mark = " *Fixed.*" if is_fixed(key) else ""
    shown = json.dumps(default, ensure_ascii=False)
    return f"| `{key.split('.')[1]}` | `{shown}` | {name_of_type(kind)} | {meaning}{mark} |"


def cli_page() -> str:
    """docs/cli.md: every verb with its flags."""
    from gossamer.cli.commands_table import app

    group: Any = typer.main.get_command(app)
    lines = [
        "# Command line",
        "",
        "Exit codes: 0 done; 1 failed while running; 2 wrong usage or settings; 3 nothing fetched;",
        "10 a --fail-on condition holds; 11 stopped and can be resumed; 13 stopped by force. Data",
        'goes to stdout, messages to stderr. With `--json` each object has `"schema": 1`, and an',
        'error is an object on stdout, too: `{"schema": 1, "error": "...", "exit_code": 2}`. The',
        "same message goes to stderr.",
    ]
    for name, command in _commands(group, "gossamer"):
        lines += ["", f"## {name}", "", " ".join((command.help or "").split())]
        rows = [_parameter_row(p) for p in command.params if p.name != "help"]
        if rows:
            lines += ["", "| argument or flag | meaning |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _commands(group: Any, prefix: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        path = f"{prefix} {name}"
        if hasattr(command, "commands"):
            found += _commands(command, path)
        else:
            found.append((path, command))
    return found


def _parameter_row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        shown = parameter.metavar or parameter.name.upper()
    else:
        metavar = parameter.metavar or ("" if parameter.is_flag else "VALUE")
        shown = f"{', '.join(parameter.opts)} {metavar}".strip()
    meaning = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    return f"| `{shown}` | {meaning} |".replace("MAIL|URL", "MAIL\\|URL")


PAGES: Final = {
    "docs/settings.md": settings_page,
    "docs/cli.md": cli_page,
    "src/gossamer/collection/options.py": options_module,
}


def main() -> None:
    for name, make in PAGES.items():
        (ROOT / name).write_text(make(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
