"""Join a hub: one line on a new machine.

The join code pins the hub's authority. Its certificate is fetched without a check and compared with
the code, and every later request is verified by it. The code is used up by the first join; from
then on the unit has a token of its own.
"""

from __future__ import annotations

from gossamer.errors import HubRefusal, HubUntrusted, UsageError
from gossamer.fleet.client import HubClient, checked_url
from gossamer.fleet.join_code import JoinCode, read_code
from gossamer.fleet.protocol import Join
from gossamer.fleet.unit.folder import UnitFolder, UnitIdentity, write_private
from gossamer.fleet.unit.machine import machine_facts


def join(folder: UnitFolder, url: str, code: str, proxy: str = "") -> UnitIdentity:
    """Make a unit in a folder and join it to a hub. Raises UsageError or HubError, and then no
    file is left that was not there."""
    if folder.has_joined:
        hub = folder.read_identity().hub_url
        raise UsageError(
            f"the unit in {folder.path} has joined {hub}; choose another directory with -d DIR, "
            "or delete it with `gossamer unit delete`"
        )
    url, parts = checked_url(url), read_code(code)
    settings = folder.read_settings()
    was_there = folder.path.exists()
    had_settings = folder.settings_file.exists()
    folder.make()
    try:
        identity = _join(folder, url, parts, proxy or settings.proxy)
        folder.save_identity(identity)
    except BaseException:
        _undo(folder, was_there=was_there, had_settings=had_settings)
        raise
    return identity


def _join(folder: UnitFolder, url: str, code: JoinCode, proxy: str) -> UnitIdentity:
    authority = _pinned_authority(url, code, proxy) if code.pin else ""
    if authority:
        write_private(folder.authority, authority.encode())
    client = HubClient(url, ca_file=folder.authority if authority else None, proxy=proxy)
    try:
        facts = machine_facts(folder.path, folder.read_settings())
        joined = client.join(Join(code=code.text(), machine=facts))
    except HubRefusal as fault:
        if fault.status in (401, 403) and not fault.reason:
            raise HubRefusal(
                f"the hub at {url} does not accept the code: it was used, or it is too old; make a "
                "new one with `gossamer hub invite`",
                status=fault.status,
            ) from None
        raise
    finally:
        client.close()
    return UnitIdentity(
        hub_url=url,
        unit=joined.unit,
        token=joined.token,
        hub=joined.hub,
        poll_s=joined.poll_s,
        authority=authority,
        client_certificate=joined.client_certificate,
        update_root=joined.update_root,
        proxy=proxy,
    )


def _pinned_authority(url: str, code: JoinCode, proxy: str) -> str:
    client = HubClient(url, proxy=proxy)
    try:
        authority = client.authority()
    finally:
        client.close()
    if not code.fits(authority):
        raise HubUntrusted(
            f"the certificate of {url} is not the one of the join code: it is another server, or a "
            "proxy that reads the connection; nothing was sent"
        )
    return authority


def _undo(folder: UnitFolder, *, was_there: bool, had_settings: bool) -> None:
    """Remove what a join that failed has made."""
    settings = folder.settings_file.read_bytes() if had_settings else None
    folder.delete()
    if settings is not None:
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.settings_file.write_bytes(settings)
    elif was_there:
        folder.path.mkdir(parents=True, exist_ok=True)
