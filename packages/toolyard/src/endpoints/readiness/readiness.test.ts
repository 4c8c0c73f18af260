import { describe, expect, test } from "vitest";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import type { ProviderState } from "../../core/sources/provider.ts";
import { OptionError } from "../../core/errors.ts";
import { resolveReadiness } from "./options.ts";
import { Readiness } from "./readiness.ts";

type States = Readonly<Record<string, ProviderState>>;

function reports(states: States): readonly SourceReport[] {
  return Object.entries(states).map(([id, state]) => ({ source: { id }, status: { state } }) as never);
}

class Bench {
  states: States;
  nowMs = 1000;
  reads = 0;
  readonly lines: string[] = [];
  readonly #readiness: Readiness;

  constructor(states: States, requiredSources: readonly string[] = []) {
    this.states = states;
    const log = (message: string, facts?: object): void => void this.lines.push(message + JSON.stringify(facts ?? {}));
    this.#readiness = new Readiness({
      withinMs: 30_000,
      requiredSources,
      startedAt: new Date(0),
      now: () => this.nowMs,
      logger: { info: log, warning: log },
      hub: {
        sources: () => {
          this.reads += 1;
          return reports(this.states);
        },
      },
    });
  }

  get state(): string {
    return this.#readiness.state();
  }
}

describe("during the start", () => {
  test.each<[States, string]>([
    [{}, "ready"],
    [{ a: "ready" }, "ready"],
    [{ a: "ready", b: "starting" }, "starting"],
    [{ a: "ready", b: "down" }, "ready"],
    [{ a: "needs_authorisation", b: "disabled", c: "degraded" }, "ready"],
    [{ a: "starting", b: "starting" }, "starting"],
  ])("the hub with sources %j is %s", (states, state) => {
    expect(new Bench(states).state).toBe(state);
  });

  test("is ready after `ready_within` although a source is still starting", () => {
    const bench = new Bench({ a: "starting" });
    bench.nowMs = 29_999;
    expect(bench.state).toBe("starting");
    bench.nowMs = 30_000;
    expect(bench.state).toBe("ready");
  });
});

describe("after the start", () => {
  test.each<ProviderState>(["starting", "down", "needs_authorisation"])(
    "stays ready when a source that is not required becomes %s, without reading any source",
    (state) => {
      const bench = new Bench({ a: "ready" });
      expect(bench.state).toBe("ready");
      bench.states = { a: state };
      expect([bench.state, bench.reads]).toEqual(["ready", 1]);
    },
  );

  test("is unavailable while a required source does not work, and logs each change once with the source", () => {
    const bench = new Bench({ a: "ready", b: "ready" }, ["a"]);
    expect(bench.state).toBe("ready");
    bench.states = { a: "down", b: "ready" };
    expect([bench.state, bench.state]).toEqual(["unavailable", "unavailable"]);
    bench.states = { a: "degraded", b: "down" };
    expect(bench.state).toBe("ready");
    expect(bench.lines).toEqual([
      'The hub is not ready: required sources do not work.{"sources":["a"]}',
      "The hub is ready: all required sources work.{}",
    ]);
  });

  test("is unavailable if a required source does not exist", () => {
    expect(new Bench({ a: "ready" }, ["b"]).state).toBe("unavailable");
  });

  test("is unavailable after `ready_within` while a required source is still starting", () => {
    const bench = new Bench({ a: "starting" }, ["a"]);
    expect(bench.state).toBe("starting");
    bench.nowMs = 30_000;
    expect(bench.state).toBe("unavailable");
  });
});

describe("a store that cannot be reached", () => {
  const readinessWith = (state: { isLost: boolean; refusesOnLoss: boolean }): Readiness =>
    new Readiness({
      withinMs: 0,
      requiredSources: [],
      startedAt: new Date(0),
      logger: { info: () => {}, warning: () => {} },
      hub: { sources: () => [] },
      state,
    });

  test.each([
    [{ isLost: false, refusesOnLoss: true }, "ready", false],
    [{ isLost: true, refusesOnLoss: false }, "ready", true],
    [{ isLost: true, refusesOnLoss: true }, "unavailable", true],
  ])("with %j the hub is %s", (store, state, isStoreLost) => {
    const readiness = readinessWith(store);
    expect([readiness.state(), readiness.isStoreLost]).toEqual([state, isStoreLost]);
  });
});

describe("options", () => {
  test("have defaults", () => {
    expect(resolveReadiness()).toEqual({ withinMs: 30_000, requiredSources: [] });
  });

  test.each([{ ready_within: "2h" }, { ready_within: "61m" }, { ready_within: -1 }])(
    "refuse %j and name the option",
    (config) => {
      expect(() => resolveReadiness(config as never)).toThrow(OptionError);
      expect(() => resolveReadiness(config as never)).toThrow(/server\.ready_/);
    },
  );
});
