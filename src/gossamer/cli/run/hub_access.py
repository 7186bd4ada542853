"""Do an operation of a hub: through the running one, or in its directory if none runs.

A running hub writes its port, the owner's token and its certificate to run/access.json, which only
the owner can read. The connection goes to this machine and must show exactly that certificate.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from gossamer.base.clock import SystemClock
from gossamer.errors import GossamerError, NotKnown, StoreError, UsageError
from gossamer.fleet.hub.folder import HubFolder, HubInUse, open_hub
from gossamer.fleet.hub.shown.operations import OPERATIONS, call

_WAIT_S: Final = 120.0
_NEEDS_SERVER: Final = frozenset({"invite"})  # a code pins the certificate


def ask(folder: HubFolder, name: str, /, **values: Any) -> dict[str, Any]:
    """Do an operation and return its result. Raises GossamerError."""
    access = _access(folder)
    if access is not None:
        return _ask_server(access, name, values)
    if not folder.exists and name != "add":
        raise UsageError(
            f"there is no hub in {folder.path}; name its directory with -d DIR, or start one with "
            f"`gossamer hub serve -d {folder.path}`"
        )
    if name in _NEEDS_SERVER:
        raise UsageError(
            f"the hub is not running; start it with `gossamer hub serve -d {folder.path}`"
        )
    try:
        with open_hub(folder, folder.settings(), SystemClock()) as hub:
            return call(hub, name, "operator", values)
    except HubInUse:
        raise StoreError(
            f"the hub in {folder.path} is starting or stopping; try again in a moment"
        ) from None


def _access(folder: HubFolder) -> dict[str, Any] | None:
    """How the running hub is reached; None if none is running."""
    try:
        found = json.loads(folder.access.read_text(encoding="utf-8"))
        with socket.create_connection((found["host"], found["port"]), timeout=5):
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ask_server(access: Mapping[str, Any], name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    operation = OPERATIONS[name]
    path = "/api/fleet" + operation.path.replace(
        "{job}", quote(str(values.get("job", "")), safe="")
    )
    headers = {"authorization": f"Bearer {access['token']}", "host": _host(access)}
    body = b""
    if operation.changes:
        headers["content-type"] = "application/json"
        body = json.dumps(_flat(values)).encode()
    elif "{job}" not in operation.path and values:
        path += "?" + urlencode(dict(values))
    try:
        status, found = _request(access, operation.method, path, body, headers)
    except (OSError, ValueError, http.client.HTTPException) as fault:
        raise StoreError(f"the hub does not answer: {fault}") from fault
    if status == 200:
        return found
    error = str(found.get("error", f"the hub answered with status {status}"))
    if status == 404:
        raise NotKnown(error)
    raise UsageError(error) if status in (400, 413) else _HubFault(error)


class _HubFault(GossamerError):
    """The running hub could not do it."""


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """HTTP takes the fields of jobs as one text."""
    if "fields" not in values:
        return dict(values)
    return {**values, "fields": json.dumps(values["fields"])}


def _host(access: Mapping[str, Any]) -> str:
    host = str(access["host"])
    return f"[{host}]:{access['port']}" if ":" in host else f"{host}:{access['port']}"


def _request(
    access: Mapping[str, Any], method: str, path: str, body: bytes, headers: Mapping[str, str]
) -> tuple[int, dict[str, Any]]:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.check_hostname = False  # the certificate itself is pinned
    trust.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    trust.load_verify_locations(access["certificate"])
    connection = http.client.HTTPSConnection(
        access["host"], access["port"], timeout=_WAIT_S, context=trust
    )
    try:
        connection.request(method, path, body or None, dict(headers))
        response = connection.getresponse()
        data = response.read()
        try:
            return response.status, dict(json.loads(data))
        except ValueError:
            return response.status, {"error": data.decode("utf-8", "replace").strip()[:300]}
    finally:
        connection.close()
