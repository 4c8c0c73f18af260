import { expect, test, vi } from "vitest";
import { Canceller } from "../calls/cancellation.ts";
import { timeoutFailure } from "../calls/deadline.ts";
import { orAborted, pause, within } from "./wait.ts";

const never = (): Promise<never> => new Promise(() => {});

test("resolves with the result of the work", async () => {
  expect(await orAborted(Promise.resolve(7), new Canceller())).toBe(7);
  await expect(orAborted(Promise.reject(new Error("broken")), new Canceller())).rejects.toThrow("broken");
});

test("rejects with the failure that the cancellation has as its reason", async () => {
  const canceller = new Canceller();
  const waiting = orAborted(never(), canceller);
  const failure = timeoutFailure(50);
  canceller.abort(failure);
  await expect(waiting).rejects.toBe(failure);
});

test("rejects with kind cancelled if the reason is not a failure", async () => {
  const { signal } = new AbortController();
  const gone = AbortSignal.any([signal, AbortSignal.abort("gone")]);
  await expect(orAborted(never(), gone)).rejects.toMatchObject({ failure: { kind: "cancelled", cause: "gone" } });
});

test("leaves no listener after the work has ended", async () => {
  const canceller = new Canceller();
  const remove = vi.spyOn(canceller, "removeEventListener");
  const add = vi.spyOn(canceller, "addEventListener");
  await orAborted(Promise.resolve(), canceller);
  await pause(1, canceller);
  expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
});

test("a limited wait resolves with the result of work that ends in time", async () => {
  expect(await within(Promise.resolve("done"), 60_000)).toBe("done");
  expect(await within(Promise.resolve("done"), Infinity)).toBe("done");
  await expect(within(Promise.reject(new Error("broken")), 60_000)).rejects.toThrow("broken");
});

test("a limited wait resolves with undefined if the work takes longer", async () => {
  expect(await within(never(), 1)).toBeUndefined();
});

test("a limit above the longest timer is not shortened to a millisecond", async () => {
  const work = new Promise((resolve) => setTimeout(resolve, 20, "done"));
  expect(await within(work, 2 ** 40)).toBe("done");
});

test("a cancellation ends a pause", async () => {
  const canceller = new Canceller();
  const pausing = pause(60_000, canceller);
  canceller.abort("gone");
  await expect(pausing).rejects.toMatchObject({ failure: { kind: "cancelled" } });
});
