"""What a unit measures on Linux, with files like those of the kernel."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock, SystemClock
from gossamer.fleet.unit.idle.probes import (
    CpuUse,
    LinuxProbe,
    MacProbe,
    NoProbe,
    Probe,
    WindowsProbe,
    cpu_ticks,
    probe_for,
    process_tree,
)


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def wait(clock: ManualClock, seconds: float) -> None:
    asyncio.run(clock.advance(seconds))


def test_a_server_without_devices_has_no_last_input(tmp_path: Path) -> None:
    assert LinuxProbe(ManualClock(), tmp_path).input_idle_s() is None


@pytest.mark.parametrize(
    "name", ["proc/interrupts", "sys/bus/usb/devices/1-2/urbnum"], ids=["PS/2", "USB"]
)
def test_input_is_seen_by_the_counters_of_the_kernel(tmp_path: Path, name: str) -> None:
    clock = ManualClock()
    put(tmp_path, "sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceClass", "03\n")
    put(tmp_path, name, "  1:  10  IR-IO-APIC  1-edge  i8042\n")
    probe = LinuxProbe(clock, tmp_path)
    assert probe.input_idle_s() == 0.0, "nobody knows since when"
    wait(clock, 100.0)
    assert probe.input_idle_s() == 100.0

    put(tmp_path, name, "  1:  11  IR-IO-APIC  1-edge  i8042\n")

    assert probe.input_idle_s() == 0.0
    wait(clock, 5.0)
    assert probe.input_idle_s() == 5.0


def test_a_usb_disk_is_no_input(tmp_path: Path) -> None:
    put(tmp_path, "sys/bus/usb/devices/1-3/1-3:1.0/bInterfaceClass", "08\n")
    put(tmp_path, "sys/bus/usb/devices/1-3/urbnum", "5\n")

    assert LinuxProbe(ManualClock(), tmp_path).input_idle_s() is None


@pytest.mark.parametrize(
    ("mains", "status", "is_on_battery"),
    [("1", "Discharging", False), ("0", "Discharging", True), ("0", "Full", False)],
)
def test_a_discharging_battery_without_mains_counts(
    tmp_path: Path, mains: str, status: str, is_on_battery: bool
) -> None:
    put(tmp_path, "sys/class/power_supply/AC/type", "Mains\n")
    put(tmp_path, "sys/class/power_supply/AC/online", mains)
    put(tmp_path, "sys/class/power_supply/BAT0/type", "Battery\n")
    put(tmp_path, "sys/class/power_supply/BAT0/status", status)

    assert LinuxProbe(ManualClock(), tmp_path).is_on_battery() is is_on_battery


def test_the_battery_of_a_mouse_does_not_count(tmp_path: Path) -> None:
    put(tmp_path, "sys/class/power_supply/mouse/type", "Battery\n")
    put(tmp_path, "sys/class/power_supply/mouse/scope", "Device\n")
    put(tmp_path, "sys/class/power_supply/mouse/status", "Discharging\n")

    assert not LinuxProbe(ManualClock(), tmp_path).is_on_battery()


def test_the_cpu_time_of_our_own_processes_is_not_that_of_others(tmp_path: Path) -> None:
    probe = LinuxProbe(ManualClock(), tmp_path)
    put(tmp_path, "proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0\n")
    put(tmp_path, "proc/7/stat", f"7 (a b) S 1 7 7 0 -1 {'0 ' * 5} 10 0 0 0 20 0 1 0\n")
    assert probe.other_cpu([7]) is None

    put(tmp_path, "proc/stat", "cpu  180 0 0 1020 0 0 0 0 0 0\n")
    put(tmp_path, "proc/7/stat", f"7 (a b) S 1 7 7 0 -1 {'0 ' * 5} 40 0 0 0 20 0 1 0\n")

    assert probe.other_cpu([7]) == pytest.approx(0.25)


def test_counters_that_stand_still_tell_nothing() -> None:
    use = CpuUse()

    assert use.other_share(10, 5, 1) is None
    assert use.other_share(10, 5, 1) is None
    assert use.other_share(20, 15, 100) == 0.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_machine_can_be_measured() -> None:
    probe = probe_for(SystemClock())

    probe.input_idle_s()
    probe.is_on_battery()
    probe.other_cpu([os.getpid()])
    assert cpu_ticks(os.getpid()) > 0
    assert cpu_ticks(2**30) == 0
    assert process_tree(os.getpid())[0] == os.getpid()


def test_a_platform_that_tells_nothing_is_idle() -> None:
    probes: list[Probe] = [NoProbe(), WindowsProbe(ManualClock())]
    if sys.platform != "darwin":
        probes.append(MacProbe(ManualClock()))

    assert [probe.input_idle_s() for probe in probes] == [None] * len(probes)
    assert not any(probe.is_on_battery() for probe in probes)
