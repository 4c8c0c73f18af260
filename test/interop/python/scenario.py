"""Operations of a client with a server, and their results. Every language prints the same JSON line of
observations.

The `client.py` of a library has a `connect` that yields a `Partner`. The texts of the answers are those of the
partner servers.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

STEP_S = 20.0
# Time limit for a user who answers last, after the other calls of the round.
PATIENCE_S = 8.0
NOTICE_S = 5.0
FOUR = ("ask", "sample", "work", "quick")


@dataclass
class Target:
    era: str
    scenario: str
    command: list[str] = field(default_factory=list)
    url: str | None = None


class Person:
    """Answers server requests: the user for `ask`, the model for `sample`."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked: list[str] = []

    async def answer(self, message: str) -> str:
        self.asked.append(message)
        try:
            await asyncio.wait_for(self.may_answer.wait(), PATIENCE_S)
        except TimeoutError:
            return "too late"
        return f"blue for {message}"

    def model(self, text: str) -> str:
        return f"said {text}"


class Partner(Protocol):
    """One open connection of one library."""

    changed: asyncio.Event

    def opened(self) -> dict[str, Any]: ...
    async def tools(self) -> list[str]: ...
    async def call(
        self, name: str, arguments: dict[str, Any], progress: Callable[[float], None] | None = None
    ) -> str: ...

    async def read(self, uri: str) -> str: ...
    async def prompt(self, name: str, arguments: dict[str, str]) -> str: ...
    async def hang(self, begun: asyncio.Event) -> str: ...


Connect = Callable[[Target, Person], AbstractAsyncContextManager[Partner]]


async def seen(work: Awaitable[Any], seconds: float = STEP_S) -> Any:
    """Returns the result of a step, or its error, which is an observation too."""
    try:
        return await asyncio.wait_for(work, seconds)
    except TimeoutError:
        return f"no answer within {seconds:.0f} s"
    except Exception as error:
        return f"error: {error}"


async def within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
        return True
    except TimeoutError:
        return False


def named(tools: Any, name: str, partner: Partner) -> str:
    """Returns a tool's name. A server of both eras has a tool for each way to send requests or notifications:
    `name` uses the legacy era, `name_modern` the newer one."""
    modern = f"{name}_modern"
    return modern if partner.opened()["version"] == "2026-07-28" and modern in tools else name


async def together(partner: Partner, person: Person, tools: Any, order: list[str]) -> dict[str, Any]:
    """Makes four concurrent calls. The user answers after the other three have ended."""
    ended: list[str] = []
    progress: list[float] = []
    person.may_answer.clear()
    person.asked.clear()

    async def one(name: str) -> Any:
        words = {"ask": {"question": "colour"}, "sample": {"text": "rain"}, "work": {}, "quick": {"text": "hi"}}[name]
        on_progress = progress.append if name == "work" else None
        result = await seen(partner.call(named(tools, name, partner), words, on_progress))
        ended.append(name)
        if {"sample", "work", "quick"} <= set(ended):
            person.may_answer.set()
        return result

    results = await asyncio.gather(*(one(name) for name in order))
    return {
        **dict(sorted(zip(order, results, strict=True))),
        "progress": progress,
        "asked": list(person.asked),
        "quickEndedBeforeWork": ended.index("quick") < ended.index("work"),
    }


async def cancel(partner: Partner) -> dict[str, Any]:
    """Makes a call and cancels it as soon as it has begun."""
    begun = asyncio.Event()
    ended = await seen(partner.hang(begun), NOTICE_S * 2)
    heard: Any = None
    for _ in range(20):
        heard = await seen(partner.call("heard", {}))
        if heard != "cancelled: 0":
            break
        await asyncio.sleep(0.25)
    return {"begun": begun.is_set(), "ended": ended, "heard": heard}


async def change(partner: Partner, tools: Any) -> dict[str, Any]:
    partner.changed.clear()
    result = await seen(partner.call(named(tools, "change", partner), {}))
    return {
        "result": result,
        "heard": await within(partner.changed, NOTICE_S),
        "listed": await seen(partner.tools()),
        "extra": await seen(partner.call("extra", {})),
    }


async def offered(partner: Partner) -> Any:
    """Waits until the server lists its tools, because a busy machine starts it slowly. The other scenario covers
    cold starts."""
    for _ in range(20):
        tools = await seen(partner.tools())
        if isinstance(tools, list) and tools:
            return tools
        await asyncio.sleep(0.5)
    return []


async def whole(partner: Partner, person: Person) -> dict[str, Any]:
    tools = await offered(partner)
    return {
        "opened": partner.opened(),
        "tools": tools,
        "quick": await seen(partner.call("quick", {"text": "one"})),
        "resource": await seen(partner.read("note://partner")),
        "prompt": await seen(partner.prompt("greet", {"name": "Ada"})),
        "askFirst": await together(partner, person, tools, list(FOUR)),
        "askLast": await together(partner, person, tools, list(reversed(FOUR))),
        "cancel": await cancel(partner),
        "change": await change(partner, tools),
    }


async def cold(partner: Partner, _person: Person) -> dict[str, Any]:
    """Makes all calls as soon as the connection is open, then repeats each until it is served."""
    steps = [
        partner.call("quick", {"text": "one"}),
        partner.read("note://partner"),
        partner.prompt("greet", {"name": "Ada"}),
        partner.tools(),
    ]
    quick, resource, prompt, tools = await asyncio.gather(*(seen(step) for step in steps))
    later: Any = None
    for _ in range(40):
        later = await seen(partner.call("quick", {"text": "two"}))
        if later == "quick: two":
            break
        await asyncio.sleep(0.5)
    return {
        "opened": partner.opened(),
        "quick": quick,
        "resource": resource,
        "prompt": prompt,
        "tools": tools,
        "later": later,
        "toolsLater": await seen(partner.tools()),
    }


SCENARIOS = {"whole": whole, "cold": cold}


async def observe(target: Target, connect: Connect) -> dict[str, Any]:
    person = Person()
    try:
        async with connect(target, person) as partner:
            observed = await SCENARIOS[target.scenario](partner, person)
            # Read before the connection closes, because messages of a library about its end are not observations.
            print(json.dumps(observed), flush=True)
            return observed
    except BaseException as error:
        return {"error": " / ".join(leaves(error))}


def leaves(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        return [text for inner in error.exceptions for text in leaves(inner)]
    return [f"{type(error).__name__}: {error}"]


def run(connect: Connect) -> None:
    target = Target(**json.loads(sys.argv[1]))
    observed = asyncio.run(observe(target, connect))
    if "error" in observed:
        print(json.dumps(observed), flush=True)


def capabilities(declared: dict[str, Any]) -> list[str]:
    """Returns the declared capabilities (`tools`, `tools.listChanged`, …), without false ones."""
    names = []
    for name, members in declared.items():
        if members is None:
            continue
        names.append(name)
        names += [f"{name}.{member}" for member, value in (members or {}).items() if value]
    return sorted(names)
