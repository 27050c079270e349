"""Run a command, given its arguments, its documents, and its policies that are written in Python."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Optional

from . import _core

if TYPE_CHECKING:
    from ._policy import Policy


class SynthError(Exception):
    """The command has failed. The message contains the reason and, if possible, the place in the document."""


class InputError(SynthError, ValueError):
    """An option, a document or a log is not valid."""


class Infeasible(SynthError):
    """The answer is negative: no policy can stabilize the workload, or a policy file is rejected."""


def words(options: Mapping[str, Any]) -> list[str]:
    """Return the options in the form of the command line: ``loads=[.5, .9]`` is ``--loads=0.5,0.9``."""
    typed = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            typed.append(option)
        elif isinstance(value, (list, tuple)) and name == "slo":
            typed += [f"{option}={one}" for one in value]
        elif isinstance(value, (list, tuple)):
            typed.append(option + "=" + ",".join(map(str, value)))
        else:
            typed.append(f"{option}={value}")
    return typed


def named(name: str) -> str:
    """Return the name of a document in a form that cannot be confused with an option."""
    return f"./{name}" if name[:1] in ("-", "") else name


def encoded(text: str, what: str) -> bytes:
    """Return a text as UTF-8, or raise an error if it is not valid, such as half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as why:
        raise InputError(f"{what} is not valid text: {ascii(text[why.start])} at {why.start}") from None


def call(
    typed: Iterable[str],
    documents: Mapping[str, bytes] = {},
    policies: Iterable[tuple[str, Policy, int]] = (),
) -> _core.Answer:
    """Run a command. If standard error is a terminal, the progress is shown.

    Raises:
        InputError: If an argument is not valid.
        Infeasible: If the answer is negative.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    typed = list(typed)
    encoded(" ".join(typed), "the command")
    flag = _core.Flag()
    with interrupting(flag), progress() as show:
        answer = _core.answer(typed, list(documents.items()), list(policies), flag, show)
    if answer.code in (129, 130, 143):
        raise KeyboardInterrupt
    if answer.error is not None:
        raise (Infeasible if answer.code == 1 else InputError)(answer.error)
    return answer


@contextmanager
def interrupting(flag: _core.Flag) -> Iterator[None]:
    """Set the flag if Ctrl-C is pressed. Python would only run its own handler after the call has returned."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def listen() -> None:
        # The writer is closed when the call has returned.
        while number := os.read(reader, 1):
            if number[0] == signal.SIGINT:
                flag.set()
            if before >= 0:
                os.write(before, number)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        listener.join()
        os.close(reader)


@contextmanager
def progress() -> Iterator[Optional[Callable[[str], None]]]:
    """Show the progress on a terminal. It is a single line that is removed at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = 0

    def show(text: str) -> None:
        nonlocal shown
        sys.stderr.write("\r" + text.ljust(shown)[:120])
        sys.stderr.flush()
        shown = len(text)

    try:
        yield show
    finally:
        sys.stderr.write("\r" + " " * min(shown, 120) + "\r")
        sys.stderr.flush()


def help(verb: str = "", /) -> None:
    """Print the options of a verb, such as ``"compare"``. If there is no verb, print the options of a synthesis."""
    printed = call([verb, "--help"] if verb else ["--help"]).printed
    print(printed if sys.stdout.isatty() else re.sub(r"\x1b\[\d*m", "", printed))
