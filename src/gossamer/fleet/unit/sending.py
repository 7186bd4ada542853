"""Pack what a job has fetched, and send it to the hub. Runs in the process of the job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from gossamer.errors import HubAway, HubRefusal
from gossamer.fleet.client import HubClient
from gossamer.fleet.packages.build import build_package
from gossamer.fleet.packages.send import send_package
from gossamer.fleet.protocol import MAX_DIGESTS, Assignment, HaveQuestion
from gossamer.fleet.unit.folder import UnitFolder, UnitIdentity
from gossamer.fleet.unit.job_folder import JobFolder
from gossamer.fleet.unit.waiting import Backoff

OnProgress = Callable[[int, int], None]
_T = TypeVar("_T")
_LATER: Final = (429, 503)


def client_of(folder: UnitFolder, identity: UnitIdentity, *, answer_s: float = 120.0) -> HubClient:
    """A client with the token of the unit. Raises SettingsError."""
    return HubClient(
        identity.hub_url,
        identity.token,
        folder.authority if identity.authority else None,
        folder.read_settings().proxy or identity.proxy,
        certificate=folder.client_certificate if identity.client_certificate else None,
        answer_s=answer_s,
    )


def pack_and_send(
    folder: UnitFolder, job: JobFolder, assignment: Assignment, on_progress: OnProgress
) -> None:
    """Send all that the job has fetched. A hub that is away is waited for; a kill at any time
    costs one piece at most. Raises HubRefusal, HubUntrusted, StoreError, UsageError."""
    folder.outbox.mkdir(exist_ok=True)
    out = folder.outbox / f"{job.path.name}-{assignment.fence}.wacz"
    client = client_of(folder, folder.read_identity())

    def missing_of(digests: Sequence[str]) -> Sequence[int]:
        missing: list[int] = []
        for start in range(0, len(digests), MAX_DIGESTS):
            question = HaveQuestion(
                job=assignment.job,
                fence=assignment.fence,
                kind="payload",
                digests=tuple(digests[start : start + MAX_DIGESTS]),
            )
            missing += [start + at for at in patiently(partial(client.have, question)).missing]
        return missing

    try:
        built = build_package(job.collection, assignment, missing_of, out, earlier=job.earlier)
        patiently(
            lambda: send_package(client, built, assignment.job, assignment.fence, on_progress)
        )
    finally:
        client.close()
    delete_package(out)


def delete_package(out: Path) -> None:
    """Delete a package and what was noted of it."""
    for path in out.parent.glob(f"{out.name}*"):
        path.unlink(missing_ok=True)


def patiently(call: Callable[[], _T]) -> _T:
    """Call until the hub answers. Raises what waiting does not change."""
    backoff = Backoff()
    while True:
        try:
            return call()
        except HubAway:
            backoff.wait()
        except HubRefusal as fault:
            if fault.status not in _LATER:
                raise
            backoff.wait(fault.retry_s)
