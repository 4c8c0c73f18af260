import { expect, test } from "vitest";
import { makeCall } from "../../../../../test/fixtures/upstreams/harness.ts";
import type { Call } from "../../core/calls/call.ts";
import { placeQuestions, type Placement, type Scene } from "./server-request-placement.ts";

const call = (connection: string, principal = "local"): Call =>
  makeCall("t", {}, { principal, client: { connection } });
const [ada, bob, eve] = [call("ada"), call("bob"), call("eve", "other")];

function place(
  questions: readonly (readonly Call[])[],
  {
    yielded = [],
    open = [],
    spoken = [],
    isQuiet = true,
    isOverdue = false,
  }: { yielded?: string[]; open?: Call[]; spoken?: Call[]; isQuiet?: boolean; isOverdue?: boolean } = {},
): Placement[] {
  const scene: Scene = {
    hasYielded: (key) => yielded.includes(key),
    questionsOf: (key) => open.filter(({ client }) => client.connection === key).length,
    hasQuestion: (one) => open.includes(one),
    hasSpoken: (one) => spoken.includes(one),
    isQuiet,
  };
  return placeQuestions(
    questions.map((calls) => ({ calls: new Set(calls), isOverdue })),
    scene,
  );
}

test("sends a request to the latest call if all calls are of one client, and holds it otherwise", () => {
  const later = call("ada");
  expect(place([[ada, later]])).toEqual([{ type: "to", call: later }]);
  expect(place([[ada, bob]])).toEqual([{ type: "wait" }]);
});

test("excludes clients that only wait for users, unless all clients only wait for users", () => {
  expect(place([[ada, bob]], { yielded: ["bob"] })).toEqual([{ type: "to", call: ada }]);
  expect(place([[ada, bob]], { yielded: ["ada", "bob"] })).toEqual([{ type: "wait" }]);
});

test("sends requests to the calls in order, after a pause, if all callers only wait", () => {
  expect(
    place([
      [ada, bob],
      [ada, bob],
    ]),
  ).toEqual([
    { type: "to", call: ada },
    { type: "to", call: bob },
  ]);
  expect(
    place(
      [
        [ada, bob],
        [ada, bob],
      ],
      { isQuiet: false },
    ),
  ).toEqual([{ type: "wait" }, { type: "wait" }]);
});

test("chooses last a call that already has an open request", () => {
  expect(place([[ada, bob]], { open: [bob] })).toEqual([{ type: "to", call: ada }]);
  expect(place([[ada, bob]], { open: [ada] })).toEqual([{ type: "to", call: bob }]);
});

test("refuses a request after a pause if all callers only wait and belong to several principals", () => {
  expect(
    place([
      [ada, eve],
      [ada, eve],
    ]),
  ).toEqual([
    { type: "refused", why: "several-principals" },
    { type: "refused", why: "several-principals" },
  ]);
  expect(place([[ada, eve]])).toEqual([{ type: "wait" }]);
});

test("sends an overdue request to the latest call; refuses it without calls or for several principals", () => {
  expect(place([[ada, bob]], { isOverdue: true })).toEqual([{ type: "to", call: bob }]);
  expect(place([[ada, eve]], { isOverdue: true })).toEqual([{ type: "refused", why: "several-principals" }]);
  expect(place([[]])).toEqual([{ type: "refused", why: "nobody" }]);
});

test("skips calls of one client that report progress, and after a pause uses its other calls in order", () => {
  const [ask, sample, work] = [call("eva"), call("eva"), call("eva")];
  const calls = [ask, sample, work];
  expect(place([calls, calls], { spoken: [work] })).toEqual([
    { type: "to", call: ask },
    { type: "to", call: sample },
  ]);
  expect(place([calls], { spoken: [work] })).toEqual([{ type: "to", call: sample }]);
  expect(place([calls], { isQuiet: false })).toEqual([{ type: "wait" }]);
});
