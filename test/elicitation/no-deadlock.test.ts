// No order of server requests, answers, cancellations and process exits makes a call hang. A seed generates the cases,
// and a failure prints it. `ASKS_SEED=… npx vitest run test/elicitation/no-deadlock.test.ts` runs the same cases again;
// `ASKS_RUNS=500` runs more of them.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { play, strayAnswers, wordOf, type Bounds, type Play } from "./play.ts";
import { scenarios, type Scenario } from "./scenario.ts";

const SEED = Number(process.env["ASKS_SEED"] ?? 20_261_122);
const RUNS = Number(process.env["ASKS_RUNS"] ?? 8);
/** Maximum duration of a case, including all time limits of its calls. */
const CASE_MS = 30_000;
/** Tolerance after a call's time limit, for a busy machine. */
const LATE_MS = 3000;

const QUICK: Bounds = { hopelessMs: 1000, totalMs: 4000, endsHopeless: false };
/** Limits so long that no call reaches its own limit, unless it waits for a user who never answers. */
const AMPLE: Bounds = { hopelessMs: 10_000, totalMs: 20_000, endsHopeless: true };

const EVERY_ISOLATION = [undefined, "shared", "session"] as const;

/** Defines a test that plays generated cases in sequence; the tests run concurrently. */
function holds(
  title: string,
  cases: fc.Arbitrary<Scenario>,
  bounds: Bounds,
  judge: (played: Play, scenario: Scenario) => void,
): void {
  test.concurrent(
    `${title} (seed ${SEED})`,
    async ({ expect: expectHere }) => {
      let played = 0;
      const property = fc.asyncProperty(cases, async (scenario) => {
        const result = await play(scenario, bounds);
        judgeEnds(result);
        judge(result, scenario);
        played += 1;
      });
      // Cases are not shrunk: with another timing, a case would fail for another reason or not at all.
      await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
      expectHere(played).toBe(RUNS);
    },
    RUNS * CASE_MS,
  );
}

/** Asserts the rules that hold for each kind of server, each isolation and any number of users. */
function judgeEnds({ calls, leftOpen, next, restarts }: Play): void {
  for (const { outcome, tookMs, boundMs, wasGivenUp } of calls) {
    expect(["ok", "timeout", ...(wasGivenUp ? ["cancelled"] : [])], outcome.ok ? "" : outcome.message).toContain(
      wordOf(outcome),
    );
    expect(tookMs).toBeLessThan(boundMs + LATE_MS);
  }
  expect(leftOpen).toEqual([]);
  expect(wordOf(next)).toBe("ok");
  expect(restarts).toBe(0);
}

describe.concurrent("no order of requests, answers, cancellations and ends makes a deadlock", () => {
  holds(
    "on a server with concurrent calls no call waits for another's user, and answers come from the " +
      "principal whose call asked",
    scenarios({ kinds: ["side-by-side"], isolations: [undefined], maxPrincipals: 2, isKnown: true }),
    AMPLE,
    (played) => {
      expect(played.held).toEqual([]);
      expect(played.calls.map(({ outcome }) => wordOf(outcome))).not.toContain("timeout");
      expect(strayAnswers(played)).toEqual([]);
    },
  );

  holds(
    "the same holds with one principal and one server for all clients",
    scenarios({ kinds: ["side-by-side"], isolations: ["shared"], maxPrincipals: 1, isKnown: true }),
    AMPLE,
    (played) => {
      expect(played.held).toEqual([]);
      expect(played.calls.map(({ outcome }) => wordOf(outcome))).not.toContain("timeout");
    },
  );

  holds(
    "on such a server that has not sent a request before, every call ends, and answers come from " +
      "the principal whose call asked",
    scenarios({ kinds: ["side-by-side"], isolations: EVERY_ISOLATION, maxPrincipals: 3 }),
    QUICK,
    (played) => expect(strayAnswers(played)).toEqual([]),
  );

  holds(
    "on a server that runs one call after the other, every call ends",
    scenarios({ kinds: ["sequential"], isolations: EVERY_ISOLATION, maxPrincipals: 2 }),
    QUICK,
    () => {},
  );

  holds(
    "on a server that holds a lock during its requests, every call ends",
    scenarios({ kinds: ["locked"], isolations: EVERY_ISOLATION, maxPrincipals: 2 }),
    QUICK,
    () => {},
  );

  holds(
    "if every user answers, every call succeeds, on each kind of server",
    scenarios({
      kinds: ["side-by-side", "sequential", "locked"],
      isolations: EVERY_ISOLATION,
      maxPrincipals: 2,
      isKnown: true,
      isCalm: true,
    }),
    AMPLE,
    (played) => expect(played.calls.filter(({ outcome }) => !outcome.ok).map(({ outcome }) => outcome)).toEqual([]),
  );
});
