"""The settings of a hub (hub.toml) and of a unit (unit.toml), each a file of plain keys.

As everywhere, a name carries its unit, and a wrong file is refused with its line and the reason.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeVar

from gossamer.errors import SettingsError
from gossamer.settings import Section, nearest, setting

MB: Final = 2**20
GB: Final = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings(Section):
    """Settings of a hub."""

    is_flat: ClassVar[bool] = True

    # -- address and secrets
    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(8443, "Port to listen on; 0: any free port.", at_least=0, at_most=65_535)
    names: tuple[str, ...] = setting(
        (), "Names and addresses under which units reach the hub; the certificate is for these."
    )
    url: str = setting(
        "", "The hub's URL in the line that a new unit is joined with; by default of the first "
        "name.",
    )  # fmt: skip
    certificate: str = setting(
        "", "A file with the server's certificate chain (PEM); by default the hub makes its own "
        "authority and certificate.",
    )  # fmt: skip
    key: str = setting("", "The file of the certificate's private key (PEM).")
    is_public: bool = setting(
        False, "The given certificate is of a public authority: units check it with the "
        "authorities of their system.",
    )  # fmt: skip
    client_certificates: bool = setting(
        False, "Give every unit a certificate of its own when it joins, and require it in every "
        "connection (mTLS). A proxy that inspects TLS breaks this.",
    )  # fmt: skip
    dsn: str = setting(
        "", "A PostgreSQL connection string for the state of the hub; by default SQLite in its "
        "directory.",
    )  # fmt: skip
    collection: str = setting(
        "", "The central collection, into which packages are merged; by default `collection` in "
        "the hub's directory.",
    )  # fmt: skip

    # -- polling and leases
    poll_s: float = setting(
        5.0, "How often a working unit polls, in seconds.", at_least=0.05, at_most=3600
    )
    wait_s: float = setting(
        15.0, "How long a unit waits if there is no job, in seconds; up to a quarter is added or "
        "taken at random.",
        at_least=0.05, at_most=86_400,
    )  # fmt: skip
    lease_s: float = setting(
        120.0, "A job of a unit that is silent for so long is given out again, in seconds.",
        at_least=0.5, at_most=86_400,
    )  # fmt: skip
    own_unit_s: float = setting(
        300.0, "How long a job that a unit gave back waits for the same unit, which has its pages, "
        "before another gets it, in seconds.",
        at_least=0,
    )  # fmt: skip
    max_tries: int = setting(
        3, "How often a job may fail before its state is failed.", at_least=1, at_most=1000
    )
    host_delay_s: float = setting(
        1.0, "Minimum time between the last request of one unit to a host and the first of the "
        "next unit, in seconds.",
        at_least=0,
    )  # fmt: skip
    robots_s: float = setting(
        86_400.0, "How long a robots.txt that a unit fetched is passed on to others, in seconds.",
        at_least=0, at_most=86_400,
    )  # fmt: skip

    # -- trust
    good_jobs: int = setting(
        10, "How many good jobs in a row a new unit needs before its work is no longer compared; "
        "0: work is never compared.",
        at_least=0,
    )  # fmt: skip
    check_share: float = setting(
        0.5, "Share of the jobs of a new unit that another unit repeats in part.",
        at_least=0, at_most=1,
    )  # fmt: skip
    check_pages: int = setting(
        10, "How many pages of such a job are fetched again by another unit.", at_least=1,
        at_most=1000,
    )  # fmt: skip
    code_s: float = setting(
        86_400.0, "How long a join code is valid, in seconds.", at_least=1, at_most=31_536_000
    )

    # -- long jobs
    long_factor: float = setting(
        5.0, "A job is long if it takes so many times the median of others.", at_least=1
    )
    long_least_s: float = setting(
        600.0, "A job that takes less is never called long, in seconds.", at_least=0
    )

    # -- limits
    requests_per_s: float = setting(
        20.0, "Requests per second that one unit may send in the long run.", at_least=0.1
    )
    requests_burst: int = setting(
        200, "Requests that one unit may send at once.", at_least=1, at_most=100_000
    )
    units_per_address: int = setting(
        2_000, "Connections from one address; many units may be behind one firewall.", at_least=1
    )
    max_units: int = setting(10_000, "Units that may join.", at_least=1, at_most=1_000_000)
    max_jobs: int = setting(1_000_000, "Jobs that the hub keeps.", at_least=1)
    min_free_bytes: int = setting(
        256 * MB, "Packages are not accepted when less disk space is free, in bytes.", at_least=0
    )
    max_package_bytes: int = setting(
        8 * GB, "Maximum size of a package in bytes.", at_least=1024
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSettings(Section):
    """Settings of a unit."""

    is_flat: ClassVar[bool] = True

    name: str = setting("", "The unit's name for people; by default that of the machine.")
    proxy: str = setting("", "Proxy for requests to the hub, such as http://proxy:3128.")
    crawl_proxy: str = setting("", "Proxy for requests to sites.")
    contact: str = setting("", "Mail address or URL that is sent to other people's sites.")

    # -- place
    place: str = setting("", "Where the unit is, such as `de` or `eu-west`.")
    latitude: float = setting(
        0.0, "Latitude in degrees, if `place` is set.", at_least=-90, at_most=90
    )
    longitude: float = setting(
        0.0, "Longitude in degrees, if `place` is set.", at_least=-180, at_most=180
    )

    # -- what it may do
    jobs_at_once: int = setting(1, "Jobs that run at a time.", at_least=1, at_most=64)
    allow_private: tuple[str, ...] = setting(
        (), "Private networks (CIDR) whose sites jobs may request; by default none: a hub cannot "
        "make the unit request the network that it is in.",
    )  # fmt: skip
    min_delay_s: float = setting(
        1.0, "Minimum delay between a response and the next request to the same host, whatever the "
        "job says, in seconds.",
        at_least=0,
    )  # fmt: skip
    connections: int = setting(
        64, "Maximum number of parallel requests of a job.", at_least=1, at_most=4096
    )
    workers: int = setting(
        0, "Worker processes of a job; 0: everything in one process.", at_least=0, at_most=64
    )

    # -- what it may use
    nice: int = setting(
        10, "How much a job gives way to other programs (0 to 19).", at_least=0, at_most=19
    )
    max_disk_bytes: int = setting(
        2 * GB, "Maximum disk space of jobs and packages, in bytes.", at_least=16 * MB
    )
    min_free_bytes: int = setting(
        1 * GB, "Jobs stop when less disk space is free, in bytes.", at_least=0
    )
    max_memory_mb: int = setting(
        1024, "Maximum memory of a job in megabytes; 0: no limit.", at_least=0
    )
    max_cpu_share: float = setting(
        1.0, "Maximum share of one core, in the long run; 0: no limit.", at_least=0
    )
    max_bytes_month: int = setting(
        0, "Maximum bytes of network traffic in a calendar month; 0: no limit.", at_least=0
    )
    max_rate_bytes: int = setting(
        0, "Maximum bytes per second of requests to sites; 0: no limit.", at_least=0
    )

    # -- when it works
    when: Literal["idle", "always"] = setting(
        "idle", "When the unit works: `idle` (by the rules below) or `always`."
    )
    idle_s: float = setting(
        180.0, "Nobody has used keyboard or mouse for so long, in seconds; 0: no such rule.",
        at_least=0,
    )  # fmt: skip
    max_other_cpu: float = setting(
        0.25, "Other programs use less than this share of all cores; 1: no such rule.",
        at_least=0, at_most=1,
    )  # fmt: skip
    on_battery: bool = setting(False, "Work on battery, too.")
    hours: tuple[str, ...] = setting(
        (), "Hours of work per weekday, such as `mon-fri 18-8` and `sat,sun 0-24`; empty: always."
    )
    resume_s: float = setting(
        60.0, "Conditions must hold for so long before a suspended job resumes, in seconds.",
        at_least=0,
    )  # fmt: skip
    give_back_s: float = setting(
        3600.0, "A job that is suspended for longer is given back to the hub, in seconds.",
        at_least=0,
    )  # fmt: skip

    # -- local page
    page_port: int = setting(
        8801, "Port of the local page on this machine; 0: no page.", at_least=0, at_most=65_535
    )


_S = TypeVar("_S", bound=Section)


def read_settings(kind: type[_S], path: Path, **given: object) -> _S:
    """The settings of a file, if it exists, and those given, which win. Raises SettingsError with
    file and line."""
    values: dict[str, Any] = {}
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        pass
    except OSError as fault:
        raise SettingsError(str(path), f"cannot be read: {fault.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise SettingsError(str(path), f"is not valid TOML: {fault}") from None
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]  # every section is a dataclass
    for key in values:
        if key not in known:
            problem = f"is not a setting{nearest(key, known)}"
            raise SettingsError(key, problem, where=_line_of(path, text, key))
    found: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in values.items()
    }
    try:
        kind(**found)
    except SettingsError as fault:
        where = _line_of(path, text, fault.key)
        raise SettingsError(fault.key, fault.problem, where=where) from None
    return kind(**found | {key: value for key, value in given.items() if value is not None})


def _line_of(path: Path, text: str, key: str) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        if line.partition("=")[0].strip().strip("\"'") == key:
            return f"{path}, line {number}"
    return str(path)
