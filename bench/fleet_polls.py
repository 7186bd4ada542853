"""500 units that poll a hub once per second each, over TLS: latency and CPU time of the hub.

    python bench/fleet_polls.py [--units 500] [--seconds 30] [--dsn DSN]

The hub is a process of its own (`gossamer hub serve`); every unit has a job.
Every unit has one TLS connection that stays open, as real units have, and reports progress with
addresses, hosts and recent URLs. The clients are asyncio streams in this process, spread over
a second. Latency is from sending a poll to the last byte of its answer; clients and hub share the
machine, so it includes the time that the clients themselves take. Aim: p99 <= 60 ms, <= 0.3 core.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.run.hub_access import ask
from gossamer.fleet.hub.folder import HubFolder
from gossamer.fleet.protocol import (
    PREFIX,
    JobProgress,
    Join,
    Joined,
    MachineFacts,
    Poll,
    PollAnswer,
    UsedHost,
)

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICKS


class Client:
    """One unit: a connection, a token, a job."""

    def __init__(self, port: int, trust: ssl.SSLContext) -> None:
        self._port = port
        self._trust = trust
        self.token = ""
        self.job: Any = None
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self._port, ssl=self._trust
        )

    async def post(self, path: str, message: object) -> bytes:
        body = msgspec.json.encode(message)
        head = (
            f"POST {PREFIX}{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self.token}"
            f"\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in answer.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        data = await self.reader.readexactly(length)
        assert b" 200 " in answer[:20], (answer[:60], data[:200])
        return data

    async def join(self, code: str, number: int) -> None:
        machine = MachineFacts(name=f"pc{number}", platform="linux", python="3.11", version="1")
        data = await self.post("/join", Join(code=code, machine=machine))
        self.token = msgspec.json.decode(data, type=Joined).token

    async def poll(self, fetched: int) -> None:
        told = []
        if self.job is not None:
            host = self.job.spec.seeds[0].split("/")[2]
            told = [
                JobProgress(
                    job=self.job.job, fence=self.job.fence, fetched=fetched, queued=500,
                    bytes=fetched * 20_000, addresses=("192.0.2.1",),
                    used=(UsedHost(host=host, delay_s=1.0),),
                    recent=tuple(f"https://{host}/page/{at}" for at in range(5)),
                )
            ]  # fmt: skip
        message = Poll(
            state="working" if told else "idle", progress=tuple(told), wants_job=not told
        )
        answer = msgspec.json.decode(await self.post("/poll", message), type=PollAnswer)
        self.job = answer.job or self.job


async def one_unit(client: Client, start_s: float, seconds: float, times: list[float]) -> None:
    """Poll once per second from a moment of its own on."""
    for turn in range(int(seconds)):
        await asyncio.sleep(max(0.0, start_s + turn - time.perf_counter()))
        began_s = time.perf_counter()
        await client.poll(turn)
        times.append(time.perf_counter() - began_s)


async def run(folder: HubFolder, units: int, seconds: float, pid: int) -> dict[str, Any]:
    access = json.loads(folder.access.read_text())
    trust = ssl.create_default_context(cafile=access["certificate"])
    trust.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    clients = [Client(access["port"], trust) for _ in range(units)]
    codes = [
        (await asyncio.to_thread(ask, folder, "invite", note="bench"))["code"] for _ in range(units)
    ]
    for number, (client, code) in enumerate(zip(clients, codes, strict=True)):
        await client.open()
        await client.join(code, number)
        await client.poll(0)
    times: list[float] = []
    spread = random.Random(1)
    start_s = time.perf_counter() + 1
    before_s, own_before_s = cpu_s(pid), time.process_time()
    tasks = [one_unit(client, start_s + spread.random(), seconds, times) for client in clients]
    await asyncio.gather(*tasks)
    wall_s = time.perf_counter() - start_s
    used_s = cpu_s(pid) - before_s
    times.sort()
    for client in clients:
        client.writer.close()
    return {
        "units": units,
        "polls": len(times),
        "wall_s": round(wall_s, 1),
        "p50_ms": round(1000 * times[len(times) // 2], 2),
        "p99_ms": round(1000 * times[int(0.99 * len(times))], 2),
        "max_ms": round(1000 * times[-1], 2),
        "hub_cores": round(used_s / wall_s, 3),
        "hub_ms_per_poll": round(1000 * used_s / len(times), 3),
        "client_cores": round((time.process_time() - own_before_s) / wall_s, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--units", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--dsn", default="")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = HubFolder(Path(home) / "hub")
        folder.make()
        folder.settings_file.write_text(
            'port = 0\nnames = ["127.0.0.1"]\npoll_s = 1\nwait_s = 1\nrequests_burst = 2000\n'
            + (f'dsn = "{chosen.dsn}"\n' if chosen.dsn else "")
        )
        jobs = "\n".join(f"https://site{at}.example/" for at in range(chosen.units))
        ask(folder, "add", text=jobs)
        words = [sys.executable, "-m", "gossamer", "hub", "serve", "-d", str(folder.path)]
        with (Path(home) / "log").open("wb") as log:
            hub = subprocess.Popen(words, stdout=log, stderr=log)
        try:
            while not folder.access.exists():
                assert hub.poll() is None, (Path(home) / "log").read_text()
                time.sleep(0.1)
            time.sleep(1)
            print(json.dumps(asyncio.run(run(folder, chosen.units, chosen.seconds, hub.pid))))
        finally:
            hub.send_signal(signal.SIGTERM)
            hub.wait()


if __name__ == "__main__":
    main()
