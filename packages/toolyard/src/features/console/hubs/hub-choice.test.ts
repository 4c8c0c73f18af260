import { expect, test } from "vitest";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { ForwardResult } from "../../../http/relay/forwarding.ts";
import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { StoreLostError } from "../../../state/ports/store.ts";
import { chosenHub, passOn } from "./hub-choice.ts";

function exchangeWith(hub?: string, relayedFrom?: string): HttpExchange {
  const exchange = {
    header: () => hub,
    readBody: () => Buffer.from(""),
    withPrincipal: () => exchange,
    answer: { isOpen: true },
    ...(relayedFrom !== undefined && { relayedFrom }),
  };
  return exchange as unknown as HttpExchange;
}

const pass = (forward: () => Promise<ForwardResult>): Promise<void> =>
  passOn(exchangeWith(), { hub: "hub-b-1", principal: LOCAL_PRINCIPAL, relay: { forward, serve: () => {} } });

test.each<[ForwardResult, number]>([
  ["lost", 503],
  ["unsent", 410],
  ["gone", 410],
  ["absent", 410],
])("refuses a request that was %s with %i", async (result, status) => {
  await expect(pass(async () => result)).rejects.toMatchObject({ status });
});

test("leaves an answered request alone, refuses with 503 without the store, and passes other errors on", async () => {
  await pass(async () => "answered");
  await expect(pass(() => Promise.reject(new StoreLostError()))).rejects.toMatchObject({ status: 503 });
  await expect(pass(() => Promise.reject(new TypeError("x")))).rejects.toThrow(TypeError);
});

test.each([
  ["no hub", undefined, undefined],
  ["an empty id", "", undefined],
  ["its own id", "hub-a-1", undefined],
  ["another hub in a request that a hub has passed on", "hub-b-1", "hub-c-1"],
])("serves a request that names %s", (_name, hub, relayedFrom) => {
  expect(chosenHub(exchangeWith(hub, relayedFrom), "hub-a-1")).toBeUndefined();
});

test("passes on a request that names another hub", () => {
  expect(chosenHub(exchangeWith("hub-b-1"), "hub-a-1")).toBe("hub-b-1");
});
