"""Make the notifier of a crawl from its settings."""

from __future__ import annotations

from gossamer.base.clock import Clock
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.node.notify.batch import origin_of_salt
from gossamer.node.notify.notifier import Notifier, Sender
from gossamer.node.notify.positions import Positions
from gossamer.node.notify.targets import targets_of
from gossamer.settings import Watch


def build_notifier(
    paths: CollectionPaths, store: Store, settings: Watch, clock: Clock
) -> Notifier | None:
    """The notifier; None if nobody is to be told. Raises SettingsError, DiskFault."""
    targets = targets_of(settings, paths.path)
    if not targets:
        return None
    salt = store.find(StateTable.META, SALT_KEY) or b""
    sender = Sender(origin_of_salt(salt), paths.path.resolve().name)
    positions = Positions(store, [target.name for target in targets])
    return Notifier(positions, targets, sender, clock, settings)
