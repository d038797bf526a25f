"""Ctrl-C at the places where a learner takes what training found: between any two steps."""

import dis
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import filbert
from filbert.learners import at_once

_PACKAGE = str(Path(filbert.__file__).parent)


@cache
def _stores(code: CodeType) -> frozenset[int]:
    """Return the places of a function that set an attribute."""
    steps = dis.get_instructions(code)
    return frozenset(step.offset for step in steps if step.opname == "STORE_ATTR")


class AtStep:
    """Raises KeyboardInterrupt before the nth attribute that a learner sets, or step of at_once."""

    def __init__(self, n: int, kind: type[Any]) -> None:
        self.left = n
        self._kind = kind

    def during(self, work: Callable[[], Any]) -> bool:
        """Run some work. Return whether it was interrupted."""
        before = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # Python 3.12 looks at it when tracing begins
        sys.settrace(self._called)
        try:
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        is_own = file.startswith(_PACKAGE) and isinstance(frame.f_locals.get("self"), self._kind)
        if not is_own and file != at_once.__file__:
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if event == "opcode":
            self.left -= code.co_filename == at_once.__file__ or frame.f_lasti in _stores(code)
            if self.left == 0:
                raise KeyboardInterrupt
        return self._step
