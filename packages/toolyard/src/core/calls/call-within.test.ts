import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Call, type CallNotification } from "./call.ts";
import { callWithin, innerCall } from "./call-within.ts";
import { Canceller } from "./cancellation.ts";

const canceller = (): Canceller => new Canceller();

/** Call with accessors on its class, like the pipeline's own call. */
class Parent implements Call {
  readonly id = "1";
  readonly endpoint = "test";
  readonly method = "tools/call";
  readonly target = "outer";
  readonly params = { extra: 1 };
  readonly arguments = { a: 1 };
  readonly meta = { m: 1 };
  readonly principal = LOCAL_PRINCIPAL;
  readonly mode = "all";
  readonly client = { capabilities: {} };
  readonly wants = { progress: true };
  readonly relaysInput = true;
  readonly told: CallNotification[] = [];
  readonly cancellation: Canceller;
  constructor(cancellation: Canceller) {
    this.cancellation = cancellation;
  }
  get signal(): AbortSignal {
    return this.cancellation.signal;
  }
  notify(notification: CallNotification): void {
    this.told.push(notification);
  }
  ask(): Promise<never> {
    return Promise.reject(new Error("nobody is here"));
  }
}

test("aborting the new signal also aborts `cancellation` of the call", () => {
  const own = new AbortController();
  const call = callWithin(new Parent(canceller()), own.signal);
  own.abort("part of the work is over");
  expect([call.signal.aborted, call.cancellation?.aborted, call.cancellation?.reason]).toEqual([
    true,
    true,
    "part of the work is over",
  ]);
});

test("the end of the parent aborts the call", () => {
  const outer = canceller();
  const call = callWithin(new Parent(outer), new AbortController().signal);
  outer.abort("gone");
  expect([call.signal.aborted, call.cancellation?.aborted]).toEqual([true, true]);
});

test("an inner call has the members of its parent that it does not set, including accessors", async () => {
  const parent = new Parent(canceller());
  const call = innerCall(parent, {
    id: "2",
    parent: "1",
    depth: 1,
    target: "inner",
    arguments: {},
    params: {},
    relaysInput: false,
  });
  call.notify({ method: "notifications/progress", params: { progress: 1 } });
  expect(call).toMatchObject({
    id: "2",
    parent: "1",
    depth: 1,
    endpoint: "test",
    target: "inner",
    arguments: {},
    params: {},
    relaysInput: false,
    meta: { m: 1 },
    principal: LOCAL_PRINCIPAL,
    mode: "all",
  });
  expect([call.signal, call.cancellation, parent.told.length]).toEqual([parent.signal, parent.cancellation, 1]);
  await expect(call.ask({ method: "roots/list", params: {} })).rejects.toThrow("nobody is here");
});
