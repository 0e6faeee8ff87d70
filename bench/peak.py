"""The most memory that one process of a command had resident, in KiB, on stdout.

usage: python -I -S peak.py OUTPUT COMMAND...    OUTPUT takes what the command prints; ends as the command does

A program of its own, and small: the kernel counts to a command what the process that started it had.
"""

import os
import sys


def main() -> None:
    output, command = sys.argv[1], sys.argv[2:]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)  # of its children too: the largest
    print(usage.ru_maxrss)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
