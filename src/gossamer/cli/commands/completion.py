"""`gossamer completion`: a script that completes commands, flags and values in a shell.

The script is generated from the command line and contains all words, so that a shell completes at
once instead of starting Python for every key press. A new release needs a new script. Values are
known if the help lists them (`graph, index or all.`), if a flag takes a file, and for `--set`,
which takes any setting.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer
import typer.main

from gossamer.errors import UsageError

# Words at the end of a help: `graph, index or all.`, `How far to go: page, host, any.`
_LISTED: Final = re.compile(r"(?:^|: )([a-z]+(?:(?:, or |, | or )(?:[a-z]+|MIME))+)\.$")
_MORE: Final = {
    ("gossamer top", "--by"): ("backlinks", "hosts", "sites", "pagerank", "hubs", "authorities"),
    ("gossamer search", "--sort"): ("relevance", "date"),
    ("gossamer backlinks", "--by"): ("page", "host", "site"),
}
_FILES: Final = ("FILE", "DIR")


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag, or an argument if it has no names."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    words: tuple[str, ...] = ()
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    """A command by its full path, `gossamer config show`, and what may follow it."""

    path: str
    help: str
    flags: tuple[Flag, ...]
    argument: Flag | None
    verbs: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.rpartition(" ")[2]


def completion(
    shell: Annotated[
        str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)
    ],
) -> None:
    """Print a shell completion script.

    Use it like this: eval "$(gossamer completion bash)"
    """
    if shell not in _SCRIPTS:
        raise UsageError(f"no completion for {shell!r}; choose {', '.join(_SCRIPTS)}")
    print(script_for(shell))


def script_for(shell: str) -> str:
    """Return the script for one of the shells."""
    from gossamer.cli.commands_table import app

    return _SCRIPTS[shell](tuple(_verbs(typer.main.get_command(app), "gossamer")))


def _verbs(command: Any, path: str) -> Iterator[Verb]:
    below: dict[str, Any] = getattr(command, "commands", {})
    parameters = [_flag(path, parameter) for parameter in command.params]
    yield Verb(
        path=path,
        help=_first_sentence(command.help or ""),
        flags=(*(f for f in parameters if f.names), Flag(("-h", "--help"), "Show help.", False)),
        argument=next((f for f in parameters if not f.names), None),
        verbs=tuple(below),
    )
    for name, each in below.items():
        yield from _verbs(each, f"{path} {name}")


def _flag(path: str, parameter: Any) -> Flag:
    is_argument = parameter.param_type_name == "argument"
    names = () if is_argument else (*parameter.opts, *parameter.secondary_opts)
    said = getattr(parameter, "help", None) or ""
    listed = _LISTED.search(said)
    words = tuple(re.findall(r"\b(?!or\b)[a-z]+\b", listed[1])) if listed else ()
    more = next((_MORE[path, name] for name in names if (path, name) in _MORE), ())
    if "--set" in names:
        more = _keys()
    return Flag(
        names=names,
        help=_first_sentence(said),
        takes_value=is_argument or not parameter.is_flag,
        words=words or more,
        is_file=any(word in (parameter.metavar or "") for word in _FILES),
    )


def _keys() -> tuple[str, ...]:
    from gossamer.settings import KEYS

    return tuple(f"{key}=" for key in KEYS)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


# -- bash, and zsh by way of its bashcompinit


def _bash(verbs: Sequence[Verb]) -> str:
    paths = "|".join(f'"{verb.path}"' for verb in verbs[1:])
    cases = "\n".join(_bash_case(verb) for verb in verbs)
    return f"""\
_gossamer() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    local path=gossamer words="" flags="" files="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
            {paths}) path="$path ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path" in
{cases}
    esac
    if [[ "$cur" == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$cur"))
        return
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    if [[ -n "$files" ]]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY+=($(compgen -f -- "$cur"))
    fi
    if [[ "${{COMPREPLY[0]-}}" == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}}
complete -F _gossamer gossamer"""


def _bash_case(verb: Verb) -> str:
    flags = " ".join(name for flag in verb.flags for name in flag.names)
    argument = verb.argument or Flag((), "", True)
    words = " ".join((*verb.verbs, *argument.words))
    files = "1" if argument.is_file else ""
    lines = [
        f'        "{verb.path}")',
        f'            flags="{flags}" words="{words}" files="{files}"',
    ]
    valued = [flag for flag in verb.flags if flag.takes_value]
    if valued:
        lines.append('            case "$prev" in')
        for flag in valued:
            files = "1" if flag.is_file else ""
            set_words = f'words="{" ".join(flag.words)}" files="{files}"'
            lines.append(f"                {'|'.join(flag.names)}) {set_words} ;;")
        lines.append("            esac")
    return "\n".join([*lines, "            ;;"])


def _zsh(verbs: Sequence[Verb]) -> str:
    return f"""\
#compdef gossamer
(( $+functions[compdef] )) || {{ autoload -U compinit && compinit -u; }}
autoload -U +X bashcompinit && bashcompinit
{_bash(verbs)}"""


# -- fish


def _fish(verbs: Sequence[Verb]) -> str:
    lines = ["complete -c gossamer -f"]
    for verb in verbs:
        lines += _fish_lines(verb, {each.path: each for each in verbs})
    return "\n".join(lines)


def _fish_lines(verb: Verb, by_path: dict[str, Verb]) -> Iterator[str]:
    asked = verb.path.split()[1:]
    not_yet = f"; and not __fish_seen_subcommand_from {' '.join(verb.verbs)}" if verb.verbs else ""
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in asked) or "true"
    begin = f"complete -c gossamer -n {shlex.quote(seen + not_yet)}"
    for name in verb.verbs:
        below = by_path[f"{verb.path} {name}"]
        yield f"{begin} -a {name} -d {_fish_text(below.help)}"
    if verb.argument is not None and (verb.argument.words or verb.argument.is_file):
        files = " -F" if verb.argument.is_file else ""
        yield f"{begin}{files} -a {_fish_text(' '.join(verb.argument.words))}"
    for flag in verb.flags:
        names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names)
        value = f" -x -a {_fish_text(' '.join(flag.words))}" if flag.takes_value else ""
        yield f"{begin} {names}{' -r -F' if flag.is_file else value} -d {_fish_text(flag.help)}"


def _fish_text(text: str) -> str:
    """Quote for fish, where a backslash is special in single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}
