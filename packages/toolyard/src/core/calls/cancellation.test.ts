import { expect, test } from "vitest";
import { abortSignalOf, Canceller, type Cancellation } from "./cancellation.ts";

test("notifies each listener once, after the reason is set", () => {
  const canceller = new Canceller();
  const heard: unknown[] = [];
  canceller.addEventListener("abort", () => heard.push(canceller.reason));
  canceller.abort("first");
  canceller.abort("second");
  expect(heard).toEqual(["first"]);
});

test("notifies each listener once, however often it was added", () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const [one, two] = [() => void heard.push("one"), () => void heard.push("two")];
  for (const listener of [one, two, one, two]) canceller.addEventListener("abort", listener);
  canceller.abort(undefined);
  expect(heard).toEqual(["one", "two"]);
});

test("does not notify a removed listener", () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const [one, two, three] = [
    () => void heard.push("one"),
    () => void heard.push("two"),
    () => void heard.push("three"),
  ];
  for (const listener of [one, two, three]) canceller.addEventListener("abort", listener);
  canceller.removeEventListener("abort", one);
  canceller.removeEventListener("abort", three);
  canceller.abort(undefined);
  expect(heard).toEqual(["two"]);
});

test("does not call a listener that an earlier one removed", () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const later = (): void => void heard.push("later");
  canceller.addEventListener("abort", () => canceller.removeEventListener("abort", later));
  canceller.addEventListener("abort", later);
  canceller.abort(undefined);
  expect(heard).toEqual([]);
});

test("calls a listener that was added again once, and not after its removal", () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const [one, two] = [() => void heard.push("one"), () => void heard.push("two")];
  for (const listener of [one, two]) canceller.addEventListener("abort", listener);
  canceller.removeEventListener("abort", one);
  canceller.addEventListener("abort", two);
  canceller.removeEventListener("abort", two);
  canceller.abort(undefined);
  expect(heard).toEqual([]);
});

test("reports an exception of one listener and still notifies the others", async () => {
  const canceller = new Canceller();
  const fault = new Error("on purpose");
  let heard = 0;
  canceller.addEventListener("abort", () => {
    throw fault;
  });
  canceller.addEventListener("abort", () => (heard += 1));
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
  canceller.abort(undefined);
  expect(await thrown).toBe(fault);
  for (const listener of listeners) process.on("uncaughtException", listener);
  expect(heard).toBe(1);
});

test("does not notify a listener that is added after the abort, like an AbortSignal", () => {
  const canceller = new Canceller();
  canceller.abort("over");
  let calls = 0;
  canceller.addEventListener("abort", () => (calls += 1));
  canceller.abort("again");
  expect({ calls, aborted: canceller.aborted, reason: canceller.reason }).toEqual({
    calls: 0,
    aborted: true,
    reason: "over",
  });
});

test("throwIfAborted throws the reason after the abort, and nothing before", () => {
  const canceller = new Canceller();
  expect(() => canceller.throwIfAborted()).not.toThrow();
  const reason = new Error("over");
  canceller.abort(reason);
  expect(() => canceller.throwIfAborted()).toThrow(reason);
});

test.each(["before", "after"])("the signal of a canceller is aborted if it was created %s the abort", (when) => {
  const canceller = new Canceller();
  const early = when === "before" ? canceller.signal : undefined;
  canceller.abort("over");
  const signal = early ?? canceller.signal;
  expect({ aborted: signal.aborted, reason: signal.reason }).toEqual({ aborted: true, reason: "over" });
});

test("returns an AbortSignal unchanged, and the signal of a canceller", () => {
  const { signal } = new AbortController();
  const canceller = new Canceller();
  expect(abortSignalOf(signal)).toBe(signal);
  expect(abortSignalOf(canceller)).toBe(canceller.signal);
});

test.each([true, false])("creates a signal that follows any other cancellation (already aborted: %s)", (isOver) => {
  const source = new Canceller();
  const foreign: Cancellation = {
    get aborted() {
      return source.aborted;
    },
    get reason() {
      return source.reason;
    },
    addEventListener: (_type, listener) => source.addEventListener("abort", listener),
    removeEventListener: (_type, listener) => source.removeEventListener("abort", listener),
    throwIfAborted: () => source.throwIfAborted(),
  };
  if (isOver) source.abort("over");
  const signal = abortSignalOf(foreign);
  if (!isOver) source.abort("over");
  expect({ aborted: signal.aborted, reason: signal.reason }).toEqual({ aborted: true, reason: "over" });
});
