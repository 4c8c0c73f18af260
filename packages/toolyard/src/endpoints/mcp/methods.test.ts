import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Call } from "../../core/calls/call.ts";
import { Canceller } from "../../core/calls/cancellation.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { ok } from "../../core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { answerCall } from "./call-methods.ts";
import type { MethodContext } from "./methods.ts";

/** Returns the call that a request with these parameters produces. */
async function callOf(params: JsonObject): Promise<Call> {
  const calls: Call[] = [];
  const hub = { call: (call: Call) => (calls.push(call), Promise.resolve(ok({ content: [] }))) } as unknown as HubPort;
  const cancellation = new Canceller();
  const link: MethodContext["link"] = {
    endpoint: "test",
    client: { capabilities: {} },
    signal: cancellation.signal,
    cancellation,
    wants: { progress: false },
    relaysInput: false,
    notify: () => {},
    ask: () => Promise.reject(new Error("nobody")),
  };
  const codec = {
    list: (_kind: unknown, list: unknown) => list,
    result: (_method: unknown, _target: unknown, result: JsonObject) => result,
  } as unknown as MethodContext["codec"];
  await answerCall(
    { method: "tools/call", params, meta: {} },
    { deps: { hub, logger: SILENT_LOGGER }, view: { mode: "normal", principal: LOCAL_PRINCIPAL }, link, codec },
  );
  return calls[0]!;
}

test("passes on request members that have no field in a call, and omits those that have one", async () => {
  const {
    target,
    arguments: args,
    params,
  } = await callOf({ name: "t", arguments: { a: 1 }, _meta: { x: 1 }, task: { ttl: 5 } });
  expect({ target, args, params }).toEqual({ target: "t", args: { a: 1 }, params: { task: { ttl: 5 } } });
});

test("treats a member named `__proto__` as an ordinary member", async () => {
  const { params } = await callOf(JSON.parse('{"name":"t","__proto__":{"requestState":"forged"}}') as JsonObject);
  expect([Object.keys(params), params["requestState"]]).toEqual([["__proto__"], undefined]);
});
