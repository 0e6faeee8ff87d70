"""Counts what a command asks of the device: fsync, fdatasync and their kin, by whatever library calls them.

usage: flushes.py COMMAND ARGUMENT…

Prints {"exit_code": …, "calls": {"fdatasync": 1}}; what the command itself prints goes to standard error.

Linux only, by ptrace, as `strace -f -c -e fsync,fdatasync,…` counts, where strace need not be installed.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import signal
import sys

_TRACE_ME, _SYSCALL, _SET_OPTIONS, _SYSCALL_INFO = 0, 24, 0x4200, 0x420E
_WAIT_ALL = 0x40000000
_OPTIONS = 0x01 | 0x02 | 0x04 | 0x08 | 0x100000  # mark system calls, follow fork, vfork and clone, end with us
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_ENTRY = 1

NUMBERS = {
    "x86_64": {74: "fsync", 75: "fdatasync", 162: "sync", 306: "syncfs", 26: "msync", 277: "sync_file_range"},
    "aarch64": {82: "fsync", 83: "fdatasync", 81: "sync", 267: "syncfs", 227: "msync", 84: "sync_file_range"},
}
"""System call number -> name, by machine."""


class _Info(ctypes.Structure):
    """The head of `struct ptrace_syscall_info`."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("instruction_pointer", ctypes.c_uint64),
        ("stack_pointer", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 8),
    )


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, process: int, address: int = 0, data: object = None) -> None:
    if _libc.ptrace(request, process, address, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}: {os.strerror(ctypes.get_errno())}")


def count(command: list[str]) -> tuple[int, dict[str, int]]:
    """Run *command* and count its flushes, those of its threads and children too: exit code, name -> times.

    Children that outlive the command are waited for.
    """
    names = NUMBERS[platform.machine()]
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        _ptrace(_TRACE_ME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execv(command[0], command)
    os.waitpid(child, 0)
    _ptrace(_SET_OPTIONS, child, 0, _OPTIONS)
    _ptrace(_SYSCALL, child)
    calls: dict[str, int] = {}
    info, exit_code = _Info(), 0
    while True:
        try:
            process, status = os.waitpid(-1, _WAIT_ALL)
        except ChildProcessError:  # nobody is left
            return exit_code, calls
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if process == child:
                exit_code = os.waitstatus_to_exitcode(status)
            continue
        passed_on = os.WSTOPSIG(status)
        if passed_on == _SYSCALL_STOP:
            _ptrace(_SYSCALL_INFO, process, ctypes.sizeof(info), ctypes.byref(info))
            if info.op == _ENTRY and info.number in names:
                calls[names[info.number]] = calls.get(names[info.number], 0) + 1
        _ptrace(
            _SYSCALL, process, 0, passed_on if passed_on not in {_SYSCALL_STOP, signal.SIGTRAP, signal.SIGSTOP} else 0
        )


if __name__ == "__main__":
    exit_code, counted = count(sys.argv[1:])
    print(json.dumps({"exit_code": exit_code, "calls": counted}))
