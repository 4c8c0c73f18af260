// Tests the number of principals with one source at a time. `test/sign-in/per-caller.test.ts` tests what each of them
// gets.
import { expect, test } from "vitest";
import { Emitter } from "../../core/events.ts";
import { ok } from "../../core/calls/outcome.ts";
import type { Provider, ResolvedCall } from "../../core/sources/provider.ts";
import { EMPTY_LISTING, type Source } from "../../core/sources/records.ts";
import { PerCallerProvider } from "./per-caller.ts";

const SOURCE: Source = { id: "far", kind: "http", namespace: "far", order: 0 };
const BOUND = 256;

/** Records the principals with open providers. Calls end when the test releases them. */
class People {
  readonly open = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  readonly provider = new PerCallerProvider({ source: SOURCE, open: (id) => this.#providerOf(id ?? "nobody") });

  call(id: string): ReturnType<Provider["call"]> {
    return this.provider.call({ principal: { id } } as ResolvedCall);
  }

  list(id: string): void {
    void this.provider.listing({ link: { for: "principal", principal: id } });
  }

  letGo(): void {
    for (const one of this.#waiting.splice(0)) one();
  }

  #providerOf(id: string): Provider {
    return {
      source: SOURCE,
      events: { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() },
      open: () => void this.open.add(id),
      listing: () => EMPTY_LISTING,
      call: () => new Promise((resolve) => this.#waiting.push(() => resolve(ok({ content: [] })))),
      status: () => ({ state: "ready" }),
      close: async () => void this.open.delete(id),
    };
  }
}

test("at the limit of principals, a new one replaces the least recently used one", () => {
  const people = new People();
  for (let at = 0; at < BOUND; at += 1) people.list(`p${at}`);
  people.list("p0");
  people.list("late");
  expect(people.open.size).toBe(BOUND);
  expect([people.open.has("p0"), people.open.has("p1"), people.open.has("late")]).toEqual([true, false, true]);
});

test("rejects a further principal, and replaces none, if all principals have running calls", async () => {
  const people = new People();
  const calls = Array.from({ length: BOUND }, (_, at) => people.call(`p${at}`));
  expect(await people.call("late")).toMatchObject({ ok: false, kind: "limited", retryAfterMs: 1000 });
  expect(people.open.has("p0")).toBe(true);
  people.letGo();
  await Promise.all(calls);
  people.list("late");
  expect([people.open.has("p0"), people.open.has("late")]).toEqual([false, true]);
});
