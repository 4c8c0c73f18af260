import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HubStandIn } from "../../../../../../test/fixtures/hub-stand-in.ts";
import { createTestDeps } from "../../../../../../test/fixtures/mcp-endpoint.ts";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import type { Outlet } from "./outlet.ts";
import { connectionId } from "../../../core/calls/connection-id.ts";
import { LegacySession } from "./session.ts";

const METHODS = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "resources/read",
  "resources/subscribe",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
];

const params = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      name: fc.constantFrom("echo", "fail", "nope", "throws"),
      uri: fc.constantFrom("test://greeting", "x:"),
      arguments: fc.jsonValue(),
      cursor: fc.jsonValue(),
      _meta: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      protocolVersion: fc.oneof(fc.constant("2025-06-18"), fc.jsonValue()),
      capabilities: fc.jsonValue(),
      clientInfo: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

const message = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant("2.0") }, fc.jsonValue()),
      id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
      method: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...METHODS) }, fc.string(), fc.jsonValue()),
      params,
      result: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

const CODES = new Set([-32600, -32601, -32602, -32603, -32002]);

function isRequest(value: unknown): value is JsonObject {
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0" || typeof value["method"] !== "string") return false;
  return typeof value["id"] === "string" || typeof value["id"] === "number";
}

test("sends exactly one reply with the request's id and a known code for each request, for any input", async () => {
  const hub = new HubStandIn();
  const deps = createTestDeps(hub);
  const run = async (values: readonly unknown[]): Promise<void> => {
    const sent: JsonObject[] = [];
    const record = (line: string): void => void sent.push(JSON.parse(line) as JsonObject);
    const outlet: Outlet = { isShared: false, reachable: true, reply: record, note: record };
    const session = new LegacySession(deps, {
      connection: connectionId(),
      endpoint: "mcp-test",
      principal: LOCAL_PRINCIPAL,
      outlet,
    });
    for (const value of values) {
      const before = sent.length;
      await session.receive(value, { outlet });
      const replies = sent.slice(before).filter((reply) => !("method" in reply));
      if (isRequest(value)) {
        expect(replies).toHaveLength(1);
        expect(replies[0]!["id"]).toBe(value["id"]);
      }
      expect(replies.length).toBeLessThanOrEqual(1);
      for (const { error } of replies) if (isJsonObject(error)) expect(CODES).toContain(error["code"]);
    }
    session.close();
  };
  await fc.assert(fc.asyncProperty(fc.array(message, { maxLength: 6 }), run), { seed: 20_260_728, numRuns: 1000 });
  deps.board.close();
  expect(hub.events.listsChanged.size + hub.events.log.size + hub.events.resourceUpdated.size).toBe(0);
});
