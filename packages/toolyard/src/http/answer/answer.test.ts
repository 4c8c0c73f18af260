import { setImmediate as turnEnd } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { HttpAnswer } from "./answer.ts";
import type { AnswerWire, WireEvents } from "../wire.ts";

/** Wire that records everything that is sent. */
class RecordingWire implements AnswerWire {
  events: WireEvents | undefined;
  isGone = false;
  readonly waitingBytes = 0;
  readonly sentBytes = 0;
  sent: unknown;
  setHeader(): void {}
  begin(): void {}
  flush(): void {}
  write(): boolean {
    return true;
  }
  end(last: string | Uint8Array = ""): void {
    this.sent = last;
  }
  cut(): void {}
}

// Sends the pending answers of the turn before the next test.
afterEach(() => turnEnd());

function asked(): { readonly wire: RecordingWire; readonly answer: HttpAnswer } {
  const wire = new RecordingWire();
  return { wire, answer: new HttpAnswer(wire) };
}

test("sends an answer immediately if no other answer is expected", () => {
  const { wire, answer } = asked();
  answer.send(200, [], "alone");
  expect(wire.sent).toBe("alone");
  answer.closed();
});

test("sends an answer at the end of the event-loop turn while other exchanges are open", async () => {
  const [first, second] = [asked(), asked()];
  first.answer.send(200, [], "first");
  expect(first.wire.sent).toBeUndefined();
  await turnEnd();
  expect(first.wire.sent).toBe("first");
  second.answer.send(200, [], "second");
  expect(second.wire.sent).toBe("second");
});

test("an answer never overtakes an earlier answer of the same turn", async () => {
  const [first, second] = [asked(), asked()];
  first.answer.send(200, [], "first");
  second.answer.send(200, [], "second");
  expect([first.wire.sent, second.wire.sent]).toEqual([undefined, undefined]);
  await turnEnd();
  expect([first.wire.sent, second.wire.sent]).toEqual(["first", "second"]);
});

test("ignores clients that have disconnected, and answers that were already sent in part", () => {
  const gone = new RecordingWire();
  gone.isGone = true;
  expect(new HttpAnswer(gone).signal.aborted).toBe(true);
  const late = asked();
  late.answer.closed();
  late.answer.begin(200, []);
  const alone = asked();
  alone.answer.send(200, [], "alone");
  expect(alone.wire.sent).toBe("alone");
  const [one, other] = [asked(), asked()];
  one.answer.send(200, [], "one");
  expect(one.wire.sent).toBeUndefined();
  for (const { answer } of [alone, one, other]) answer.closed();
});

test("neither a disconnected client nor a stream delays an answer", () => {
  const [gone, stream, alone] = [asked(), asked(), asked()];
  gone.answer.closed();
  stream.answer.begin(200, []);
  alone.answer.send(200, [], "alone");
  expect(alone.wire.sent).toBe("alone");
  for (const { answer } of [stream, alone]) answer.closed();
  const [one, other] = [asked(), asked()];
  one.answer.send(200, [], "one");
  expect(one.wire.sent).toBeUndefined();
  other.answer.closed();
});
