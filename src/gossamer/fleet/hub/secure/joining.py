"""Units join with a code that can be used once, and are known by a token afterwards.

The hub stores SHA-256 of secrets, never the secrets: they have 128 bits and more, so that a plain
hash is enough. A token is told once. A revoked unit is refused from the next request on.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

from gossamer.base.clock import Clock
from gossamer.errors import NotKnown, UsageError
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.rows import CodeRow, PersonRow, PersonScope, UnitRow, UnitScope
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.join_code import SECRET_BYTES, JoinCode, pin_of, read_code
from gossamer.fleet.protocol import PROTOCOL, Join, MachineFacts
from gossamer.fleet.settings import HubSettings

_LONGEST = 100


def token_digest(token: str) -> str:
    """What the hub stores instead of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class Joining:
    """Codes, units and their tokens. The caller holds the lock of the hub."""

    def __init__(
        self, state: HubState, settings: HubSettings, clock: Clock, audit: AuditLog
    ) -> None:
        self._state = state
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self.authority_pem = ""  # of the hub's own authority; empty with a public certificate
        self._by_token = {unit.token_sha256: unit.id for unit in state.units if unit.token_sha256}
        self._people = {person.token_sha256: person.name for person in state.people}

    # -- codes

    def invite(
        self,
        who: str,
        *,
        note: str = "",
        scopes: Sequence[UnitScope] = ("work",),
        valid_s: float = 0,
    ) -> tuple[str, CodeRow]:
        """A new join code, and its row."""
        pin = pin_of(self.authority_pem) if self.authority_pem else b""
        code = JoinCode(secrets.token_bytes(SECRET_BYTES), pin)
        now_us = self._clock.wall_us()
        ends_us = now_us + round((valid_s or self._settings.code_s) * 1e6)
        row = CodeRow(
            digest=code.digest(), made_us=now_us, ends_us=ends_us, note=note[:_LONGEST],
            scopes=tuple(scopes),
        )  # fmt: skip
        self._state.codes.put(row)
        self._audit.note(who, "invite", code=row.digest[:8], note=row.note, scopes=list(scopes))
        return code.text(), row

    def revoke_code(self, who: str, start: str) -> CodeRow:
        """Make a code invalid, by the first characters of its digest. Raises NotKnown."""
        for row in self._state.codes:
            if row.digest.startswith(start) and len(start) >= 8 and not row.used_us:
                row.is_revoked = True
                self._state.codes.put(row)
                self._audit.note(who, "revoke_code", code=row.digest[:8])
                return row
        raise NotKnown(f"no open join code begins with {start!r}; see `gossamer hub invite --list`")

    def forget_old_codes(self) -> None:
        """Drop codes that nobody can use any more, a month after their end."""
        limit_us = self._clock.wall_us() - 30 * 86_400 * 1_000_000
        for row in [row for row in self._state.codes if row.ends_us < limit_us]:
            self._state.codes.delete(row.digest)

    # -- units

    def join(self, wanted: Join, address: str) -> tuple[UnitRow, str]:
        """A new unit and its token. Raises UnitRefusal."""
        if wanted.version != PROTOCOL:
            raise UnitRefusal(
                426, f"the hub speaks version {PROTOCOL} of the protocol; update the unit first"
            )
        row = self._open_code(wanted.code)
        if sum(not unit.is_revoked for unit in self._state.units) >= self._settings.max_units:
            raise UnitRefusal(503, "the hub has as many units as its settings allow", "full", 60)
        token = secrets.token_urlsafe(32)
        number = self._state.next_number("units")
        now_us = self._clock.wall_us()
        unit = UnitRow(
            id=f"u{number}", number=number, machine=plain_facts(wanted.machine),
            token_sha256=token_digest(token), scopes=row.scopes, joined_us=now_us, seen_us=now_us,
        )  # fmt: skip
        row.used_us, row.unit = now_us, unit.id
        self._state.codes.put(row)
        self._state.units.put(unit)
        self._by_token[unit.token_sha256] = unit.id
        self._audit.note(unit.id, "join", name=unit.machine.name, address=address)
        return unit, token

    def _open_code(self, text: str) -> CodeRow:
        try:
            row = self._state.codes.get(read_code(text).digest())
        except UsageError as fault:
            raise UnitRefusal(401, str(fault), "code") from None
        if row is None or row.is_revoked:
            raise UnitRefusal(401, "the join code is unknown; make a new one", "code")
        if row.used_us:
            raise UnitRefusal(401, "the join code has been used; make a new one", "code")
        if row.ends_us <= self._clock.wall_us():
            raise UnitRefusal(401, "the join code has expired; make a new one", "code")
        return row

    def unit_of(self, token: str) -> UnitRow:
        """The unit of a token. Raises UnitRefusal."""
        unit = self._state.units.get(self._by_token.get(token_digest(token), ""))
        if unit is None:
            raise UnitRefusal(401, "the token is unknown or revoked; join again", "token")
        return unit

    def revoke(self, who: str, unit: UnitRow) -> None:
        """From now on the unit is refused."""
        self._by_token.pop(unit.token_sha256, None)
        unit.token_sha256 = ""
        unit.is_revoked = True
        self._state.units.put(unit)
        self._audit.note(who, "revoke", unit=unit.id, name=unit.machine.name)

    # -- people and programs

    def add_person(self, who: str, name: str, scope: PersonScope) -> str:
        """The token of a person or program for the JSON API; told once. Raises UsageError."""
        if not name.strip() or name in self._state.people:
            raise UsageError(f"a token needs a new name, and {name!r} is empty or taken")
        token = secrets.token_urlsafe(32)
        row = PersonRow(
            name=name, token_sha256=token_digest(token), scope=scope, made_us=self._clock.wall_us()
        )
        self._state.people.put(row)
        self._people[row.token_sha256] = name
        self._audit.note(who, "add_person", name=name, scope=scope)
        return token

    def person_of(self, token: str) -> PersonRow | None:
        row = self._state.people.get(self._people.get(token_digest(token), ""))
        return None if row is None or row.is_revoked else row

    def revoke_person(self, who: str, name: str) -> None:
        """Raises NotKnown."""
        row = self._state.people.get(name)
        if row is None:
            raise NotKnown(f"there is no token with the name {name!r}")
        self._people.pop(row.token_sha256, None)
        self._state.people.delete(name)
        self._audit.note(who, "revoke_person", name=name)


def plain_facts(machine: MachineFacts) -> MachineFacts:
    """What a unit says about itself, with texts of limited length."""
    import msgspec

    texts = {
        name: "".join(letter for letter in getattr(machine, name) if letter.isprintable())[
            :_LONGEST
        ]
        for name in ("name", "platform", "python", "version")
    }
    place = msgspec.structs.replace(machine.place, label=machine.place.label[:_LONGEST])
    return msgspec.structs.replace(machine, **texts, place=place)
