import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StoreLease } from "../ports/shared-queues.ts";
import { takeLease } from "./store-lease.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PLACE = { key: "lease", lifeMs: 15_000 };

/** Key of a store with the three commands of a lease. */
class OneKey {
  value: string | undefined;
  #endsAt = 0;
  isLost = false;

  async command(_: string, _key: unknown, token: unknown, ...parts: (string | number)[]): Promise<unknown> {
    if (this.current !== undefined) return null;
    this.value = String(token);
    this.#endsAt = Date.now() + Number(parts.at(-1));
    return "OK";
  }

  async run({ text }: { readonly text: string }, _: string, token: unknown, lifeMs: unknown): Promise<unknown> {
    if (this.isLost) throw new Error("lost");
    if (this.current !== token) return 0;
    if (text.includes("'DEL'")) this.value = undefined;
    else this.#endsAt = Date.now() + Number(lifeMs);
    return 1;
  }

  get current(): string | undefined {
    return Date.now() < this.#endsAt ? this.value : undefined;
  }

  take(): Promise<StoreLease | undefined> {
    return takeLease(this as never, PLACE);
  }
}

test("gives a lease to one user at a time, and to the next one after its release", async () => {
  const key = new OneKey();
  const lease = await key.take();
  expect(await key.take()).toBeUndefined();
  await lease!.release();
  expect(await key.take()).toBeDefined();
});

test("renews a lease for as long as its user works", async () => {
  const key = new OneKey();
  const lease = await key.take();
  await vi.advanceTimersByTimeAsync(10 * PLACE.lifeMs);
  expect(await key.take()).toBeUndefined();
  await lease!.release();
  expect(vi.getTimerCount()).toBe(0);
});

test("does not renew or release the lease of another user after its own has expired", async () => {
  const key = new OneKey();
  const lease = await key.take();
  key.isLost = true;
  await vi.advanceTimersByTimeAsync(PLACE.lifeMs);
  key.isLost = false;
  const next = await key.take();
  const owner = key.current;
  await lease!.release();
  expect(key.current).toBe(owner);
  await next!.release();
  expect(key.current).toBeUndefined();
});

test("releases without an error while the store is lost, and does not renew afterwards", async () => {
  const key = new OneKey();
  const lease = await key.take();
  key.isLost = true;
  await lease!.release();
  await vi.advanceTimersByTimeAsync(PLACE.lifeMs);
  expect(key.current).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});
