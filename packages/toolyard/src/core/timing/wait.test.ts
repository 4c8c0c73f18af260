import { expect, test, vi } from "vitest";
import { Canceller } from "../calls/cancellation.ts";
import { timeoutFailure } from "../calls/deadline.ts";
import { orAborted, pause, within } from "./wait.ts";

const never = (): Promise<never> => new Promise(() => {});

test("who waits is given what the work comes to", async () => {
  expect(await orAborted(Promise.resolve(7), new Canceller())).toBe(7);
  await expect(orAborted(Promise.reject(new Error("broken")), new Canceller())).rejects.toThrow("broken");
});

test("who waits is let go with the failure that the cancellation was aborted with", async () => {
  const canceller = new Canceller();
  const waiting = orAborted(never(), canceller);
  const failure = timeoutFailure(50);
  canceller.abort(failure);
  await expect(waiting).rejects.toBe(failure);
});

test("any other reason is a failure of kind cancelled", async () => {
  const { signal } = new AbortController();
  const gone = AbortSignal.any([signal, AbortSignal.abort("gone")]);
  await expect(orAborted(never(), gone)).rejects.toMatchObject({ failure: { kind: "cancelled", cause: "gone" } });
});

test("no listener is left behind once the work is over", async () => {
  const canceller = new Canceller();
  const remove = vi.spyOn(canceller, "removeEventListener");
  const add = vi.spyOn(canceller, "addEventListener");
  await orAborted(Promise.resolve(), canceller);
  await pause(1, canceller);
  expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
});

test("work that is done in time is what a bounded wait gives", async () => {
  expect(await within(Promise.resolve("done"), 60_000)).toBe("done");
  expect(await within(Promise.resolve("done"), Infinity)).toBe("done");
  await expect(within(Promise.reject(new Error("broken")), 60_000)).rejects.toThrow("broken");
});

test("work that takes longer gives nothing", async () => {
  expect(await within(never(), 1)).toBeUndefined();
});

test("a bound above what a timer can hold is no bound of a millisecond", async () => {
  const work = new Promise((resolve) => setTimeout(resolve, 20, "done"));
  expect(await within(work, 2 ** 40)).toBe("done");
});

test("a pause ends with the cancellation", async () => {
  const canceller = new Canceller();
  const pausing = pause(60_000, canceller);
  canceller.abort("gone");
  await expect(pausing).rejects.toMatchObject({ failure: { kind: "cancelled" } });
});
