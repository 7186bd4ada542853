"""Run a unit: join its parts, and do what is left to do at its end."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from typing import Final

from gossamer.base.clock import SystemClock
from gossamer.errors import HubRefusal
from gossamer.fleet.unit.folder import UnitFolder, UnitIdentity
from gossamer.fleet.unit.idle.probes import probe_for
from gossamer.fleet.unit.local_page import LocalPage
from gossamer.fleet.unit.loop import Unit, UnitEnding
from gossamer.fleet.unit.poller import Poller
from gossamer.fleet.unit.sending import client_of
from gossamer.fleet.unit.unit_log import UnitLog
from gossamer.fleet.update.connection import HubConnection
from gossamer.fleet.update.watch import UpdateWatch

_POLL_ANSWER_S: Final = 40.0


def run_unit(folder: UnitFolder, *, is_quiet: bool = False) -> UnitEnding:
    """Run until the owner or the hub ends it. Raises UsageError, StoreError, and HubRefusal if the
    hub does not know the unit any more."""
    identity, settings, clock = folder.read_identity(), folder.read_settings(), SystemClock()
    folder.make()
    log = UnitLog(folder.log, clock, is_quiet=is_quiet)
    with folder.locked():
        folder.command.unlink(missing_ok=True)
        poller = Poller(client_of(folder, identity, answer_s=_POLL_ANSWER_S))
        updates = UpdateWatch(hub_connection(folder, identity), clock)
        unit = Unit(folder, identity, settings, poller, probe_for(clock), clock, log, updates)
        page = _open_page(unit, settings.page_port, log)
        try:
            _heed_signals(unit)
            ending = unit.run()
        finally:
            if page is not None:
                page.close()
            with suppress(OSError):
                folder.status.unlink()
        if ending == "deleted":
            folder.delete()
    if ending == "revoked":
        raise HubRefusal(
            "the hub does not know this unit any more: its token was revoked; join again with a "
            f"new code, or delete the unit with `gossamer unit delete -d {folder.path}`",
            status=401,
        )
    return ending


def hub_connection(folder: UnitFolder, identity: UnitIdentity) -> HubConnection:
    """How a process that fetches an update reaches the hub. Raises SettingsError."""
    return HubConnection(
        url=identity.hub_url,
        token=identity.token,
        directory=str(folder.update),
        root=identity.update_root,
        ca_file=str(folder.authority) if identity.authority else "",
        proxy=folder.read_settings().proxy or identity.proxy,
        certificate=str(folder.client_certificate) if identity.client_certificate else "",
    )


def _open_page(unit: Unit, port: int, log: UnitLog) -> LocalPage | None:
    if not port:
        return None
    try:
        page = LocalPage(port, unit.status, unit.command)
    except OSError:
        try:
            page = LocalPage(0, unit.status, unit.command)
        except OSError as fault:
            log.say(f"There is no local page: {fault.strerror}.")
            return None
    unit.page_url = page.url
    return page


def _heed_signals(unit: Unit) -> None:
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: unit.command("stop"))
