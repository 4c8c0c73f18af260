import { expect, test } from "vitest";
import { createTestState } from "../../../../../../test/fixtures/mcp-endpoint.ts";
import type { EventLog, LoggedEvent } from "../../../state/ports/event-log.ts";
import { parseEventId, SessionEvents } from "./session-events.ts";

const LIMITS = { maxBytes: 1600, maxEvents: 10, keepMs: 1000 };

function openLog(): EventLog {
  return createTestState().openEventLog(LIMITS);
}

async function textsAfter(events: SessionEvents, stream: number, sequence = 0): Promise<string[] | undefined> {
  let taken: readonly LoggedEvent[] | undefined;
  await events.after(stream, sequence, (missed) => (taken = missed));
  return taken?.map(({ text }) => text);
}

test("event ids are unique within a session, across its streams, and select the events that follow", async () => {
  const events = new SessionEvents(openLog(), "s");
  const ids = [events.add(1, "a"), events.add(0, "a"), events.add(1, "b")];
  expect(new Set(ids).size).toBe(3);
  const seen = parseEventId(ids[0]!)!;
  expect(await textsAfter(events, seen.stream, seen.sequence)).toEqual(["b"]);
});

test("replaces a text that is larger than the session's share by a shorter one", async () => {
  const events = new SessionEvents(openLog(), "s");
  events.add(1, "x".repeat(101), () => "too large");
  events.add(2, "x".repeat(101));
  events.add(3, "small", () => "never made");
  expect(await Promise.all([1, 2, 3].map((stream) => textsAfter(events, stream)))).toEqual([
    ["too large"],
    undefined,
    ["small"],
  ]);
});

test("delivers events that arrive while the log is read together with the log, once and in order", async () => {
  const kept = openLog();
  let answer: () => void = () => {};
  const slow: EventLog = {
    isTooLarge: (text) => kept.isTooLarge(text),
    append: (...event) => kept.append(...event),
    forget: (session) => kept.forget(session),
    sweep: (now) => kept.sweep(now),
    after: (...from) => new Promise((resolve) => (answer = () => resolve(kept.after(...from)))),
  };
  const events = new SessionEvents(slow, "s");
  events.add(1, "before");
  const reading = textsAfter(events, 1);
  events.add(1, "during");
  answer();
  events.add(1, "late");
  events.add(2, "of another stream");
  expect(await reading).toEqual(["before", "during", "late"]);
});

test.each(["", "1", "1-", "-1", "1-2-3", "a-1", "1-1e3", "99999999999-1"])("%j is not an event id", (id) => {
  expect(parseEventId(id)).toBeUndefined();
});
