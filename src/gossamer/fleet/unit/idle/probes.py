"""Measure the machine: the last input, the CPU use of other programs, the battery.

Linux: /proc and /sys, and the X server if there is one. macOS and Windows: functions of the system
by ctypes; these two have not been tested. A machine without input devices, such as a server,
has no last input, which counts as idle.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol

from gossamer.base.clock import Clock

_INPUT_LINES: Final = re.compile(rb"i8042|touchpad|elan|syna|hid", re.IGNORECASE)
_HID: Final = "03"  # class of USB interfaces: keyboards and mice


class Probe(Protocol):
    """Measures one platform."""

    def input_idle_s(self) -> float | None:
        """Seconds since the last key or mouse event; None if the machine has no input, or does
        not tell."""
        ...

    def other_cpu(self, own: Iterable[int]) -> float | None:
        """Share of all cores that processes other than `own` have used since the last call; None
        at the first one, or if the system does not tell."""
        ...

    def is_on_battery(self) -> bool: ...


def probe_for(clock: Clock) -> Probe:
    """The probe of this platform."""
    kinds: dict[str, Callable[[Clock], Probe]] = {
        "linux": LinuxProbe,
        "darwin": MacProbe,
        "win32": WindowsProbe,
    }
    kind = kinds.get(sys.platform)
    return kind(clock) if kind is not None else NoProbe()


class NoProbe:
    """A platform that tells nothing: always idle."""

    def input_idle_s(self) -> float | None:
        return None

    def other_cpu(self, own: Iterable[int]) -> float | None:  # noqa: ARG002
        return None

    def is_on_battery(self) -> bool:
        return False


class LinuxProbe:
    """Input: terminals (as `w` does), USB and PS/2 keyboards and mice by the counters of the
    kernel, and the X server. `root` is for tests."""

    def __init__(self, clock: Clock, root: Path = Path("/")) -> None:
        self._clock = clock
        self._proc, self._sys, self._dev = root / "proc", root / "sys", root / "dev"
        self._screen = _XScreen() if root == Path("/") and os.environ.get("DISPLAY") else None
        self._events: bytes = b""  # counters of input devices, at the last look
        self._event_s: float | None = None  # when they last changed
        self._cpu = CpuUse()

    def input_idle_s(self) -> float | None:
        now_s = self._clock.now_s()
        events = self._counters()
        if self._events and events != self._events:
            self._event_s = now_s
        elif events and self._event_s is None:
            self._event_s = now_s  # unknown: as if it was just now
        self._events = events
        known = [self._terminals_idle_s()]
        if self._event_s is not None:
            known.append(now_s - self._event_s)
        if self._screen is not None:
            known.append(self._screen.idle_s())
        return min((one for one in known if one is not None), default=None)

    def _terminals_idle_s(self) -> float | None:
        """Since the last input at a terminal, a console or over SSH."""
        times: list[float] = []
        for device in (*self._dev.glob("pts/[0-9]*"), *self._dev.glob("tty[1-9]")):
            try:
                found = device.stat()
            except OSError:
                continue
            if found.st_uid:  # a console without a login belongs to root
                times.append(found.st_atime)
        if not times:
            return None
        return max(0.0, self._clock.wall_us() / 1e6 - max(times))

    def _counters(self) -> bytes:
        """Interrupts of keyboards and mice, and transfers of those at USB; empty without any."""
        lines: list[bytes] = []
        try:
            interrupts = (self._proc / "interrupts").read_bytes()
        except OSError:
            interrupts = b""
        lines += [line for line in interrupts.splitlines() if _INPUT_LINES.search(line)]
        for device in self._sys.glob("bus/usb/devices/*/urbnum"):
            kinds = device.parent.glob("*:*/bInterfaceClass")
            try:
                if any(kind.read_text(encoding="ascii").strip() == _HID for kind in kinds):
                    lines.append(device.read_bytes())
            except OSError:
                continue
        return b"\n".join(lines)

    def other_cpu(self, own: Iterable[int]) -> float | None:
        try:
            fields = (self._proc / "stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        except OSError:
            return None
        ticks = [int(field) for field in fields[:8]]
        idle = ticks[3] + ticks[4]
        ours = sum(self._ticks_of(pid) for pid in own)
        return self._cpu.other_share(sum(ticks), sum(ticks) - idle, ours)

    def _ticks_of(self, pid: int) -> int:
        return cpu_ticks(pid, self._proc)

    def is_on_battery(self) -> bool:
        has_mains = is_discharging = False
        for supply in self._sys.glob("class/power_supply/*"):
            kind = _text(supply / "type")
            if kind == "Mains" and _text(supply / "online") == "1":
                has_mains = True
            if kind == "Battery" and _text(supply / "scope") != "Device":
                is_discharging |= _text(supply / "status") == "Discharging"
        return is_discharging and not has_mains


class CpuUse:
    """Shares from counters that only grow."""

    def __init__(self) -> None:
        self._before: tuple[float, float, float] | None = None

    def other_share(self, total: float, busy: float, ours: float) -> float | None:
        """Of all cores, since the last call. A process of ours that has ended counts no more."""
        before, self._before = self._before, (total, busy, ours)
        if before is None or total <= before[0]:
            return None
        others = busy - before[1] - max(0.0, ours - before[2])
        return min(1.0, max(0.0, others / (total - before[0])))


def cpu_ticks(pid: int, proc: Path = Path("/proc")) -> int:
    """CPU time of a process, with that of its ended children, in ticks; 0 if it is gone."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    fields = text.rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def process_tree(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """A process and all below it; the process alone if the system does not tell."""
    found, todo = [pid], [pid]
    while todo:
        try:
            text = (proc / str(todo[0]) / "task" / str(todo[0]) / "children").read_text("ascii")
        except OSError:
            text = ""
        children = [int(word) for word in text.split()]
        todo = [*todo[1:], *children]
        found += children
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


class _XScreen:
    """The idle time of the X server, by its screen saver extension."""

    def __init__(self) -> None:
        self._display = None
        try:
            self._x = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
            self._saver = ctypes.CDLL(ctypes.util.find_library("Xss") or "libXss.so.1")
        except OSError:
            return
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XDefaultRootWindow.restype = ctypes.c_ulong
        self._saver.XScreenSaverAllocInfo.restype = ctypes.POINTER(_XScreenSaverInfo)
        self._display = self._x.XOpenDisplay(None)
        if self._display:
            self._info = self._saver.XScreenSaverAllocInfo()

    def idle_s(self) -> float | None:
        if not self._display:
            return None
        display = ctypes.c_void_p(self._display)
        root = ctypes.c_ulong(self._x.XDefaultRootWindow(display))
        if not self._saver.XScreenSaverQueryInfo(display, root, self._info):
            return None
        return float(self._info.contents.idle) / 1000


class _XScreenSaverInfo(ctypes.Structure):
    _fields_ = (
        ("window", ctypes.c_ulong),
        ("state", ctypes.c_int),
        ("kind", ctypes.c_int),
        ("til_or_since", ctypes.c_ulong),
        ("idle", ctypes.c_ulong),
        ("event_mask", ctypes.c_ulong),
    )


class MacProbe:
    """macOS. Not tested."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._services = _library("ApplicationServices")
        self._power = _library("IOKit")

    def input_idle_s(self) -> float | None:
        if self._services is None:
            return None
        seconds = self._services.CGEventSourceSecondsSinceLastEventType
        seconds.restype = ctypes.c_double
        return float(seconds(ctypes.c_int(1), ctypes.c_uint32(0xFFFFFFFF)))  # any input, hardware

    def other_cpu(self, own: Iterable[int]) -> float | None:  # noqa: ARG002
        """The load of the last minute. Our own processes are counted, too."""
        return min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

    def is_on_battery(self) -> bool:
        if self._power is None:
            return False
        left = self._power.IOPSGetTimeRemainingEstimate
        left.restype = ctypes.c_double
        return bool(left() != -2.0)  # -2 means unlimited: it is on mains


class WindowsProbe:
    """Windows. Not tested."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cpu = CpuUse()
        libraries = getattr(ctypes, "windll", None)
        self._user = getattr(libraries, "user32", None)
        self._kernel = getattr(libraries, "kernel32", None)

    def input_idle_s(self) -> float | None:
        if self._user is None or self._kernel is None:
            return None
        info = _LastInput(ctypes.sizeof(_LastInput), 0)
        if not self._user.GetLastInputInfo(ctypes.byref(info)):
            return None
        return float((self._kernel.GetTickCount() - info.at_ms) & 0xFFFFFFFF) / 1000

    def other_cpu(self, own: Iterable[int]) -> float | None:  # noqa: ARG002
        """Our own processes are counted, too: they have a low priority."""
        if self._kernel is None:
            return None
        times = [ctypes.c_uint64() for _ in range(3)]  # idle, kernel with idle, user
        if not self._kernel.GetSystemTimes(*map(ctypes.byref, times)):
            return None
        idle, kernel, user = (float(time.value) for time in times)
        return self._cpu.other_share(kernel + user, kernel + user - idle, 0.0)

    def is_on_battery(self) -> bool:
        if self._kernel is None:
            return False
        status = (ctypes.c_ubyte * 12)()
        return bool(self._kernel.GetSystemPowerStatus(ctypes.byref(status)) and status[0] == 0)


class _LastInput(ctypes.Structure):
    _fields_ = (("size", ctypes.c_uint), ("at_ms", ctypes.c_uint32))


def _library(name: str) -> ctypes.CDLL | None:
    found = ctypes.util.find_library(name)
    try:
        return ctypes.CDLL(found) if found else None
    except OSError:
        return None
