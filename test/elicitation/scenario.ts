// Generated sequences of events between some clients and one server that sends requests.
import * as fc from "fast-check";
import type { AskingKind } from "./asking-yard.ts";

/** Reaction of a user to every server request of one call. */
export type Manner =
  | { readonly type: "answer" | "decline" | "refuse"; readonly afterMs: number }
  | { readonly type: "never" };

export type Step = { readonly work: number } | { readonly ask: number; readonly together: boolean };

export interface ScriptedCall {
  /** Index of the client that makes the call. */
  readonly client: number;
  readonly atMs: number;
  readonly steps: readonly Step[];
  readonly manner: Manner;
  /** Time after which the caller cancels the call, in milliseconds. */
  readonly givenUpAfterMs: number | undefined;
}

export interface ScriptedClient {
  readonly principal: number;
  /** True for a lasting connection; without one each call has its own client. */
  readonly isLasting: boolean;
  /** Time after which the client disconnects with all its calls, in milliseconds. */
  readonly leavesAfterMs: number | undefined;
}

export interface Scenario {
  readonly kind: AskingKind;
  readonly isolation: "shared" | "session" | undefined;
  /** True if the server continues cancelled calls. */
  readonly isDeaf: boolean;
  /** True if the server has already sent a request to the first client. */
  readonly isKnown: boolean;
  readonly clients: readonly ScriptedClient[];
  readonly calls: readonly ScriptedCall[];
}

export interface ScenarioWish {
  readonly kinds: readonly AskingKind[];
  readonly isolations: readonly Scenario["isolation"][];
  readonly maxPrincipals: number;
  readonly isKnown?: boolean;
  /** True if every user answers, every call waits for the answer, and each call asks at most once. */
  readonly isCalm?: boolean;
}

const MAX_CLIENTS = 4;
const MAX_CALLS = 8;

export function scenarios({
  kinds,
  isolations,
  maxPrincipals,
  isKnown,
  isCalm = false,
}: ScenarioWish): fc.Arbitrary<Scenario> {
  const never = fc.constant(undefined);
  const seldomMs = isCalm ? never : fc.oneof({ weight: 7, arbitrary: never }, { weight: 1, arbitrary: fc.nat(300) });
  const client = fc.record({ principal: fc.nat(maxPrincipals - 1), isLasting: fc.boolean(), leavesAfterMs: seldomMs });
  return fc.array(client, { minLength: 2, maxLength: MAX_CLIENTS, size: "max" }).chain((clients) => {
    const call = fc.record({
      client: fc.nat(clients.length - 1),
      atMs: fc.nat(80),
      steps: isCalm ? calmSteps() : fc.array(fc.oneof(work(), asking(3)), { maxLength: 4, size: "max" }),
      manner: isCalm
        ? answering()
        : fc.oneof(
            { weight: 3, arbitrary: answering() },
            { weight: 1, arbitrary: fc.constant({ type: "never" as const }) },
          ),
      givenUpAfterMs: seldomMs,
    });
    return fc.record({
      kind: fc.constantFrom(...kinds),
      isolation: fc.constantFrom(...isolations),
      isDeaf: isCalm ? fc.constant(false) : fc.boolean(),
      isKnown: isKnown === undefined ? fc.boolean() : fc.constant(isKnown),
      clients: fc.constant(clients),
      calls: fc.array(call, { minLength: 3, maxLength: MAX_CALLS, size: "max" }),
    });
  });
}

function work(): fc.Arbitrary<Step> {
  return fc.record({ work: fc.nat(25) });
}

function asking(max: number): fc.Arbitrary<Step> {
  return fc.record({ ask: fc.integer({ min: 1, max }), together: fc.boolean() });
}

function calmSteps(): fc.Arbitrary<Step[]> {
  return fc
    .tuple(work(), fc.option(asking(1), { nil: undefined }), work())
    .map((steps) => steps.filter((step) => step !== undefined));
}

function answering(): fc.Arbitrary<Manner> {
  const type = fc.constantFrom(
    "answer" as const,
    "answer" as const,
    "answer" as const,
    "decline" as const,
    "refuse" as const,
  );
  return fc.record({ type, afterMs: fc.nat(120) });
}
