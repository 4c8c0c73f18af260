import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { isRepeatable } from "./repeatable.ts";

const entries = [
  { name: "read", annotations: { readOnlyHint: true } },
  { name: "set", annotations: { idempotentHint: true } },
  { name: "send", annotations: { readOnlyHint: false } },
  { name: "plain" },
];
const hub = { list: () => Promise.resolve({ entries }) } as never;

test.each<[string, object, boolean]>([
  ["tools/call", { name: "read" }, true],
  ["tools/call", { name: "set" }, true],
  ["tools/call", { name: "read", task: { ttl: 1000 } }, false],
  ["tools/call", { name: "send" }, false],
  ["tools/call", { name: "plain" }, false],
  ["tools/call", { name: "unknown" }, false],
  ["tools/list", {}, true],
  ["ping", {}, true],
  ["tasks/cancel", { taskId: "a" }, false],
])("%s with %j can be executed again: %s", async (method, params, expected) => {
  expect(await isRepeatable({ method, params: params as never }, hub, LOCAL_PRINCIPAL)).toBe(expected);
});
