"""An event loop without sockets, which waits for the clock and for the hub's answers."""

import asyncio
from asyncio import base_events, events

from . import tools


class _Selector:
    def select(self, timeout):
        if timeout is None and not tools.running():
            raise RuntimeError(
                "The code waits for something that can never happen: no tool call runs and no timer is set."
            )
        if timeout is None or timeout > 0:
            tools.wait(timeout)
        elif tools.running():
            tools.wait(0)
        return ()

    def close(self):
        pass


class Loop(base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def create_task(self, coro, **options):
        if isinstance(coro, tools.Asked):
            coro = _awaited(coro)
        return super().create_task(coro, **options)

    def run_in_executor(self, executor, function, *args):
        """Runs the function immediately, because there are no threads."""
        future = self.create_future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


class _Policy(events.BaseDefaultEventLoopPolicy):
    _loop_factory = Loop


async def _awaited(thing):
    return await thing


_run = asyncio.run


def run(main, *, debug=None, loop_factory=None):
    """Replaces `asyncio.run`. Also works inside code that awaits at its top level, and accepts any awaitable."""
    outer = events._get_running_loop()
    events._set_running_loop(None)
    try:
        return _run(main if asyncio.iscoroutine(main) else _awaited(main), debug=debug)
    finally:
        events._set_running_loop(outer)


asyncio.set_event_loop_policy(_Policy())
asyncio.run = asyncio.runners.run = run
