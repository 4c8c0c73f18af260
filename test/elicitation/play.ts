// Plays a scenario against a provider with a real server, and returns the results.
import { setTimeout as delay } from "node:timers/promises";
import { FailError } from "../../packages/toolyard/src/core/errors.ts";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { fail, type Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { run, textOf, type CallWish, type Running } from "../fixtures/upstreams/harness.ts";
import { ASKING_SERVER } from "./asking-yard.ts";
import type { CallReport } from "./person.ts";
import type { Manner, Scenario, ScriptedCall } from "./scenario.ts";

export interface Bounds {
  /** Time limit of a call whose user never answers. */
  readonly hopelessMs: number;
  /** Time limit of every other call. */
  readonly totalMs: number;
  /**
   * True if calls whose user never answers are cancelled after all others have ended. Otherwise they end at their time
   * limit.
   */
  readonly endsHopeless: boolean;
}

export interface PlayedCall {
  readonly call: ScriptedCall;
  readonly outcome: Outcome;
  readonly tookMs: number;
  readonly boundMs: number;
  /** True if the caller cancelled the call, or disconnected, before the call ended. */
  readonly wasGivenUp: boolean;
  /** The server's report at the end of the call. */
  readonly report: CallReport | undefined;
}

export interface Play {
  readonly calls: readonly PlayedCall[];
  /** Calls that were to be answered, and were still running when the first call without an answer ended. */
  readonly held: readonly ScriptedCall[];
  /** Server requests still shown to a user afterwards. */
  readonly leftOpen: readonly string[];
  /** Outcome of a further call after the scenario. */
  readonly next: Outcome;
  readonly restarts: number;
}

export const isHopeless = ({ manner, steps }: ScriptedCall): boolean =>
  manner.type === "never" && steps.some((step) => "ask" in step);

/** This time is longer than the limit of every call, so a call that still runs afterwards hangs. */
const HANGS_AFTER_MS = 5000;

export async function play(scenario: Scenario, bounds: Bounds): Promise<Play> {
  const { kind, isDeaf, isolation } = scenario;
  await using server = run(ASKING_SERVER, [kind, ...(isDeaf ? ["deaf"] : [])], {
    options: { ...(isolation && { isolation }) },
  });
  const stage = new Players(scenario, bounds, server);
  if (scenario.isKnown) await stage.askOnce();
  const running = scenario.calls.map((call, at) => stage.call(call, at));
  const held = await stage.waitForHopeful(running);
  const calls = await Promise.all(running);
  const next = await server.call(
    "quick",
    { tag: "next" },
    { client: { connection: "next" }, principal: "principal 0", totalMs: bounds.totalMs },
  );
  return { calls, held, leftOpen: Array.from(stage.open), next, restarts: server.provider.status().restarts ?? 0 };
}

class Players {
  /** Messages of server requests that wait for an answer. */
  readonly open = new Set<string>();
  readonly #scenario: Scenario;
  readonly #bounds: Bounds;
  readonly #server: Running;
  readonly #goodbyes: readonly AbortController[];
  readonly #resignation = new AbortController();
  readonly #ended = new Set<ScriptedCall>();

  constructor(scenario: Scenario, bounds: Bounds, server: Running) {
    this.#scenario = scenario;
    this.#bounds = bounds;
    this.#server = server;
    this.#goodbyes = scenario.clients.map(() => new AbortController());
  }

  /**
   * Makes the server send a request to the first client, so that the hub knows this and has a connection for its
   * principal.
   */
  async askOnce(): Promise<void> {
    const manner: Manner = { type: "answer", afterMs: 0 };
    const call: ScriptedCall = { client: 0, atMs: 0, steps: [], manner, givenUpAfterMs: undefined };
    const outcome = await this.#server.call(
      "ask",
      { tag: "first" },
      { ...this.#wishOf(call), onAsk: () => Promise.resolve({ action: "accept" }) },
    );
    textOf(outcome);
  }

  async call(call: ScriptedCall, at: number): Promise<PlayedCall> {
    this.#leaveInTime(call.client);
    await delay(call.atMs);
    const startedAt = performance.now();
    const boundMs = isHopeless(call) ? this.#bounds.hopelessMs : this.#bounds.totalMs;
    const giveUp = new AbortController();
    const timer = call.givenUpAfterMs === undefined ? undefined : setTimeout(() => giveUp.abort(), call.givenUpAfterMs);
    const signals = [
      giveUp.signal,
      this.#goodbyes[call.client]!.signal,
      ...(isHopeless(call) ? [this.#resignation.signal] : []),
    ];
    const signal = AbortSignal.any(signals);
    const made = this.#server.call(
      "run",
      { tag: this.#tagOf(at), steps: [...call.steps] },
      { ...this.#wishOf(call), signal, idleMs: boundMs, totalMs: boundMs },
    );
    const outcome = await Promise.race([made, delay(boundMs + HANGS_AFTER_MS, undefined, { ref: false })]);
    clearTimeout(timer);
    this.#ended.add(call);
    if (outcome === undefined) throw new Error(`The call ${this.#tagOf(at)} hangs: its time was ${boundMs} ms.`);
    const report = outcome.ok ? (JSON.parse(textOf(outcome)) as CallReport) : undefined;
    return { call, outcome, tookMs: performance.now() - startedAt, boundMs, wasGivenUp: signal.aborted, report };
  }

  /** Resolves with the calls that were still running when the first call without an answer ended. */
  async waitForHopeful(running: readonly Promise<PlayedCall>[]): Promise<ScriptedCall[]> {
    const { calls } = this.#scenario;
    const of = (isWanted: (call: ScriptedCall) => boolean): Promise<PlayedCall>[] =>
      running.filter((_, at) => isWanted(calls[at]!));
    const isForLater = (call: ScriptedCall): boolean =>
      isHopeless(call) &&
      call.givenUpAfterMs === undefined &&
      this.#scenario.clients[call.client]!.leavesAfterMs === undefined;
    const hopeful = Promise.all(of((call) => !isForLater(call)));
    hopeful.catch(() => {});
    const firstHopeless = Promise.race(of(isForLater)).catch(() => {});
    if (of(isForLater).length > 0) await Promise.race([hopeful, firstHopeless]);
    else await hopeful;
    const held = calls.filter((call) => !isForLater(call) && !this.#ended.has(call));
    if (this.#bounds.endsHopeless) this.#resignation.abort();
    return held;
  }

  /** Returns the tag of a call, which its server requests contain. */
  #tagOf(at: number): string {
    const { client } = this.#scenario.calls[at]!;
    return `${at} of ${this.#principalOf(client)}`;
  }

  #principalOf(client: number): string {
    return `principal ${this.#scenario.clients[client]!.principal}`;
  }

  #wishOf({ client }: ScriptedCall): CallWish {
    const { isLasting } = this.#scenario.clients[client]!;
    const principal = this.#principalOf(client);
    return {
      principal,
      client: isLasting ? { connection: `client ${client}` } : {},
      onAsk: ({ params }, signal) => this.#ask(String(params["message"]), principal, signal),
    };
  }

  async #ask(message: string, by: string, signal: AbortSignal | undefined): Promise<JsonObject> {
    this.open.add(message);
    try {
      const { manner } = this.#scenario.calls[Number.parseInt(message, 10)]!;
      if (manner.type === "never") await delay(2 ** 30, undefined, { signal, ref: false });
      else await delay(manner.afterMs, undefined, { signal });
      if (manner.type === "decline") return { action: "decline" };
      if (manner.type === "refuse") throw new FailError(fail("denied", "The person closed the window."));
      return { action: "accept", content: { by } };
    } catch (error) {
      throw signal?.aborted ? new FailError(fail("cancelled", "The question was withdrawn.")) : error;
    } finally {
      this.open.delete(message);
    }
  }

  #leaveInTime(client: number): void {
    const { isLasting, leavesAfterMs } = this.#scenario.clients[client]!;
    if (leavesAfterMs === undefined) return;
    setTimeout(() => {
      this.#goodbyes[client]!.abort();
      if (isLasting) this.#server.provider.release?.(`client ${client}`);
    }, leavesAfterMs).unref();
  }
}

/** Returns answers from another principal than the one whose call caused the request. */
export function strayAnswers({ calls }: Play): string[] {
  return calls
    .flatMap(({ report }) => report?.answers ?? [])
    .flatMap(({ question, answer }) => {
      const by = /^principal \d+$/.exec(answer)?.[0];
      const asked = / of (principal \d+)#/.exec(question)?.[1];
      return by === undefined || by === asked ? [] : [`${question} was answered by ${by}`];
    });
}

/** Returns `ok` or the outcome code of a call. */
export function wordOf(outcome: Outcome): string {
  return outcome.ok && isJsonObject(outcome.result) ? "ok" : outcome.ok ? "nothing" : outcome.kind;
}
