"""The update repository of a hub, by The Update Framework.

    repository/metadata/N.root.json        valid keys; signed by the root key, which is not here
    repository/metadata/N.targets.json     files on offer: length, SHA-256, version
    repository/metadata/N.snapshot.json    the version of targets
    repository/metadata/timestamp.json     the version of snapshot; valid for a day
    repository/targets/PLATFORM/SHA256.gossamer-unit.pyz
    keys/                                  of targets, snapshot and timestamp

A publication writes these in the order file, targets, snapshot, timestamp. Units begin with the
timestamp, so an interrupted one changes nothing for them, and the next one writes over its remains.
The running hub calls `renew` now and then, so that nothing expires while it runs.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from securesystemslib.signer import CryptoSigner
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import (
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization import DeserializationError
from tuf.api.serialization.json import JSONSerializer

from gossamer.base.clock import Clock
from gossamer.base.files import replace_file
from gossamer.base.locks import try_lock
from gossamer.errors import CorruptFile, StoreError, UsageError
from gossamer.fleet.update.bundle import read_facts
from gossamer.fleet.update.keys import ONLINE, new_key, new_online_keys, read_key, read_online_keys
from gossamer.fleet.update.targets import MAX_FILE_BYTES, is_newer, target_name, version_key

LIFETIMES: Final = {
    "root": timedelta(days=365),
    "targets": timedelta(days=90),
    "snapshot": timedelta(days=7),
    "timestamp": timedelta(days=1),
}
_LOCK_S: Final = 30.0
_LOCK_EVERY_S: Final = 0.05
_FILE: Final = re.compile(
    r"metadata/(?:timestamp|\d{1,9}\.(?:root|targets|snapshot))\.json"
    r"|targets/[\w.-]{1,80}/[0-9a-f]{64}\.[\w.-]{1,80}"
)


@dataclass(frozen=True, slots=True)
class Offer:
    """A file on offer."""

    target: str
    version: str
    platform: str
    python: str
    size: int
    sha256: str


class UpdateRepository:
    """The repository in the folder `update` of a hub."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    @property
    def exists(self) -> bool:
        return (self._metadata / "timestamp.json").exists()

    @property
    def _metadata(self) -> Path:
        return self._folder / "repository" / "metadata"

    @property
    def _targets(self) -> Path:
        return self._folder / "repository" / "targets"

    # -- keys

    def create(self, root_key: Path) -> None:
        """Make all keys; the root key goes to `root_key`. Raises UsageError."""
        if self.exists:
            raise UsageError("the hub has keys; replace them with `gossamer hub keys rotate`")
        if root_key.absolute().is_relative_to(self._folder.parent.absolute()):
            raise UsageError(
                f"{root_key} is in the directory of the hub; whoever breaks into the hub would get "
                "it: name a file elsewhere, such as on a USB stick"
            )
        self._metadata.mkdir(parents=True, exist_ok=True)
        self._targets.mkdir(exist_ok=True)
        with self._locked():
            online = new_online_keys(self._folder / "keys")
            signer = new_key(root_key)
            root = Root(expires=self._expiry("root"), consistent_snapshot=True)
            root.add_key(signer.public_key, "root")
            for role in ONLINE:
                root.add_key(online[role].public_key, role)
            self._write("1.root", Metadata(root), signer)
            self._publish(Targets(), online)

    def rotate(self, root_key: Path, new_root_key: Path | None, *, are_online_new: bool) -> int:
        """Write a new root: valid for another year, with a new root key or new keys of the hub if
        wanted. Return its version. Raises UsageError.
        """
        self._check_exists()
        signer = read_key(root_key)
        with self._locked():
            root = self._root().signed
            if signer.public_key.keyid not in root.roles["root"].keyids:
                raise UsageError(f"{root_key} is not the root key of this hub")
            signers = [signer]
            if new_root_key is not None:
                signers.append(new_key(new_root_key))
                for keyid in list(root.roles["root"].keyids):
                    root.revoke_key(keyid, "root")
                root.add_key(signers[1].public_key, "root")
            if are_online_new:
                targets = self._current()[2]
                online = new_online_keys(self._folder / "keys")
                for role in ONLINE:
                    for keyid in list(root.roles[role].keyids):
                        root.revoke_key(keyid, role)
                    root.add_key(online[role].public_key, role)
            root.version += 1
            root.expires = self._expiry("root")
            self._write(f"{root.version}.root", Metadata(root), *signers)
            if are_online_new:
                self._publish(targets, online)
        return root.version

    # -- offers

    def offer(self, file: Path, version: str | None = None) -> Offer:
        """Publish a file for its platform. Raises UsageError."""
        self._check_exists()
        facts = read_facts(file)
        found = facts["version"]
        if version is not None and version != found:
            raise UsageError(
                f"{file} was built as version {found}; build it with "
                f"`gossamer hub bundle --version {version}`"
            )
        version_key(found)
        name = target_name(facts["platform"], facts["python"])
        with self._locked():
            targets = self._current()[2]
            before = targets.targets.get(name)
            if before is not None and not is_newer(found, _custom(before)["version"]):
                raise UsageError(
                    f"version {_custom(before)['version']} is on offer, and units do not go back; "
                    "offer a higher version"
                )
            content = file.read_bytes()
            if len(content) > MAX_FILE_BYTES:
                raise UsageError(f"{file} has more than {MAX_FILE_BYTES:,} bytes")
            info = TargetFile.from_data(name, content, ["sha256"])
            info.unrecognized_fields["custom"] = facts
            path = self._targets / Path(name).parent / f"{info.hashes['sha256']}.{Path(name).name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
            targets.targets[name] = info
            self._publish(targets, read_online_keys(self._folder / "keys"))
            self._delete_unlisted(targets)
        return _offer_of(name, info)

    def offers(self) -> list[Offer]:
        if not self.exists:
            return []
        targets = self._current()[2].targets
        return [_offer_of(name, info) for name, info in sorted(targets.items())]

    @property
    def version(self) -> str:
        """The highest version on offer; empty if there is none. Units poll for it."""
        newest = ""
        for offer in self.offers():
            newest = offer.version if is_newer(offer.version, newest) else newest
        return newest

    def renew(self) -> bool:
        """Sign again if a part has passed half of its lifetime; whether that was so."""
        if not self.exists or not self._is_old():
            return False
        with self._locked():
            if self._is_old():
                self._publish(self._current()[2], read_online_keys(self._folder / "keys"))
        return True

    def _is_old(self) -> bool:
        now = self._now()
        parts = zip(("timestamp", "snapshot", "targets"), self._current(), strict=True)
        return any(part.expires - now < LIFETIMES[role] / 2 for role, part in parts)

    # -- for HTTP and joining

    def root_text(self) -> str:
        """The newest root, which a unit pins when it joins; empty if there are no keys."""
        if not self.exists:
            return ""
        return (self._metadata / f"{self._root().signed.version}.root.json").read_text("utf-8")

    def path_of(self, name: str) -> Path | None:
        """The file that a unit requests; None if there is no such file."""
        path = self._folder / "repository" / name
        return path if _FILE.fullmatch(name) and path.is_file() else None

    # -- inside

    def _check_exists(self) -> None:
        if not self.exists:
            raise UsageError(
                "the hub has no keys yet; make them with `gossamer hub keys init FILE`"
            )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time: the running hub renews while a command publishes."""
        with (self._folder / "lock").open("a") as file:
            until_s = self._clock.now_s() + _LOCK_S
            while not try_lock(file.fileno()):
                if self._clock.now_s() >= until_s:
                    raise StoreError("another process changes the updates of this hub; try again")
                threading.Event().wait(_LOCK_EVERY_S)
            yield

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.wall_us() // 1_000_000, UTC)

    def _expiry(self, role: str) -> datetime:
        return self._now() + LIFETIMES[role]

    def _root(self) -> Metadata[Root]:
        versions = [int(path.name.partition(".")[0]) for path in self._metadata.glob("*.root.json")]
        return self._read(f"{max(versions)}.root", Root)

    def _current(self) -> tuple[Timestamp, Snapshot, Targets]:
        timestamp = self._read("timestamp", Timestamp).signed
        snapshot = self._read(f"{timestamp.snapshot_meta.version}.snapshot", Snapshot).signed
        version = snapshot.meta["targets.json"].version
        return timestamp, snapshot, self._read(f"{version}.targets", Targets).signed

    def _publish(self, targets: Targets, online: dict[str, CryptoSigner]) -> None:
        """Write targets, snapshot and timestamp in a further version each."""
        if self.exists:
            timestamp, snapshot, before = self._current()
            targets.version = before.version + 1
            snapshot.version += 1
            timestamp.version += 1
        else:
            timestamp, snapshot = Timestamp(), Snapshot()
        for role, part in (("targets", targets), ("snapshot", snapshot), ("timestamp", timestamp)):
            part.expires = self._expiry(role)
        snapshot.meta["targets.json"] = MetaFile(targets.version)
        timestamp.snapshot_meta = MetaFile(snapshot.version)
        self._write(f"{targets.version}.targets", Metadata(targets), online["targets"])
        self._write(f"{snapshot.version}.snapshot", Metadata(snapshot), online["snapshot"])
        self._write("timestamp", Metadata(timestamp), online["timestamp"])
        for role, part in (("targets", targets), ("snapshot", snapshot)):
            (self._metadata / f"{part.version - 2}.{role}.json").unlink(missing_ok=True)

    def _write(self, name: str, metadata: Metadata[Any], *signers: CryptoSigner) -> None:
        for signer in signers:
            metadata.sign(signer, append=True)
        content = metadata.to_bytes(JSONSerializer(compact=False))
        replace_file(self._metadata / f"{name}.json", content)

    def _read(self, name: str, kind: type[Any]) -> Metadata[Any]:
        path = self._metadata / f"{name}.json"
        try:
            found: Metadata[Any] = Metadata.from_bytes(path.read_bytes())
        except (OSError, DeserializationError, RepositoryError) as fault:
            raise CorruptFile(path, 0, "it is not metadata of an update repository") from fault
        if not isinstance(found.signed, kind):
            raise CorruptFile(path, 0, f"it is not the metadata of {name}")
        return found

    def _delete_unlisted(self, targets: Targets) -> None:
        """Delete files that are no longer on offer. A unit that downloads one begins anew."""
        listed = {info.hashes["sha256"] for info in targets.targets.values()}
        for path in self._targets.glob("*/*"):
            if path.name.partition(".")[0] not in listed:
                path.unlink()
        for folder in self._targets.iterdir():
            if not any(folder.iterdir()):
                shutil.rmtree(folder)


def _custom(info: TargetFile) -> dict[str, str]:
    found: dict[str, str] = info.custom or {}
    return found


def _offer_of(name: str, info: TargetFile) -> Offer:
    facts = _custom(info)
    return Offer(
        name, facts["version"], facts["platform"], facts["python"], info.length,
        info.hashes["sha256"],
    )  # fmt: skip
