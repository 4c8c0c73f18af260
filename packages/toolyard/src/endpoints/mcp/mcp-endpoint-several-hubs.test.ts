// Tests of several hubs with shared state: sessions of the legacy era, and parked calls of the modern era.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { text } from "../../../../../test/fixtures/hub-stand-in.ts";
import { startTestEndpoint, type TestEndpoint } from "../../../../../test/fixtures/mcp-endpoint.ts";
import { ModernServer, type Answer } from "../../../../../test/support/modern-server.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { ok } from "../../core/calls/outcome.ts";
import { MemoryStore } from "../../state/memory/memory-store.ts";
import type { HubState } from "../../state/ports/store.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Returns a state whose reads resolve in a later turn of the event loop. */
function late(state: HubState): HubState {
  const { sessions, parked } = state;
  return Object.assign(Object.create(state) as HubState, {
    openEventLog: state.openEventLog.bind(state),
    sessions: {
      put: sessions.put.bind(sessions),
      claim: sessions.claim.bind(sessions),
      release: sessions.release.bind(sessions),
      remove: sessions.remove.bind(sessions),
      onTaken: sessions.onTaken.bind(sessions),
      find: async (id: string) => sessions.find(id),
    },
    parked: {
      put: parked.put.bind(parked),
      remove: parked.remove.bind(parked),
      find: async (id: string) => parked.find(id),
    },
  });
}

describe.each([
  ["answers at once", (state: HubState) => state],
  ["answers later", late],
])("sessions in a store that %s", (_how, seen) => {
  const TOKENS = [
    { name: "ada", token: "token-of-ada-1" },
    { name: "bob", token: "token-of-bob-2" },
  ];
  let store: MemoryStore;
  let holder: HubState;
  let here: TestEndpoint;
  let there: TestEndpoint;

  const open = async (state: HubState): Promise<TestEndpoint> => {
    const endpoint = await startTestEndpoint({
      state: seen(state),
      http: { tokens: Object.fromEntries(TOKENS.map(({ name, token }) => [name, { token }])) },
    });
    closers.push(() => endpoint.close());
    return endpoint;
  };

  const send = (
    endpoint: TestEndpoint,
    method: string,
    message: JsonObject | undefined,
    headers = {},
  ): Promise<Response> =>
    fetch(`${endpoint.url}/mcp`, {
      method,
      headers: {
        authorization: `Bearer ${TOKENS[0]!.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      ...(message ? { body: JSON.stringify({ jsonrpc: "2.0", ...message }) } : {}),
    });

  const openSession = async (endpoint: TestEndpoint): Promise<Record<string, string>> => {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const answer = await send(endpoint, "POST", { id: 1, method: "initialize", params });
    return { "mcp-session-id": answer.headers.get("mcp-session-id")! };
  };

  beforeEach(async () => {
    store = new MemoryStore();
    holder = store.join("here");
    [here, there] = [await open(holder), await open(store.join("there"))];
  });

  test("each hub reads the session with its current state, as plain data", async () => {
    const session = await openSession(here);
    await send(here, "POST", { id: 2, method: "logging/setLevel", params: { level: "error" } }, session);
    await send(here, "POST", { id: 3, method: "resources/subscribe", params: { uri: "test://a" } }, session);
    const held = await store.join("third").sessions.find(session["mcp-session-id"]!);
    expect(JSON.parse(JSON.stringify(held))).toMatchObject({
      hub: "here",
      record: {
        principal: { id: "ada" },
        client: { name: "c", version: "1", era: "legacy" },
        revision: "2025-06-18",
        mode: "normal",
        logLevel: "error",
        subscriptions: ["test://a"],
      },
    });
  });

  test("another hub answers 421 for the session with the reason in the text", async () => {
    const session = await openSession(here);
    for (const method of ["POST", "GET"]) {
      const message = method === "POST" ? { id: 2, method: "ping" } : undefined;
      const answer = await send(there, method, message, session);
      expect([answer.status, await answer.text()]).toEqual([421, expect.stringContaining("another hub")]);
    }
    expect((await send(here, "POST", { id: 3, method: "ping" }, session)).status).toBe(200);
  });

  test("the session does not exist for other principals", async () => {
    const session = { ...(await openSession(here)), authorization: `Bearer ${TOKENS[1]!.token}` };
    for (const method of ["POST", "GET", "DELETE"]) {
      const message = method === "POST" ? { id: 2, method: "ping" } : undefined;
      expect((await send(there, method, message, session)).status).toBe(404);
    }
    expect(here.legacy.size).toBe(1);
  });

  test("any hub can end the session", async () => {
    const session = await openSession(here);
    expect((await send(there, "DELETE", undefined, session)).status).toBe(200);
    await vi.waitFor(() => expect(here.legacy.size).toBe(0));
    for (const endpoint of [here, there])
      expect((await send(endpoint, "POST", { id: 2, method: "ping" }, session)).status).toBe(404);
  });

  test("the session ends when the hub that holds it closes", async () => {
    const session = await openSession(here);
    await holder.leave();
    expect((await send(there, "POST", { id: 2, method: "ping" }, session)).status).toBe(404);
  });
});

describe.each([
  ["answers at once", (state: HubState) => state],
  ["answers later", late],
])("parked calls in a store that %s", (_how, seen) => {
  const ASKING = { capabilities: { elicitation: {} } };

  const open = async (state: HubState): Promise<ModernServer> => {
    const server = await ModernServer.start({ state: seen(state) });
    closers.push(() => server[Symbol.asyncDispose]());
    server.hub.handlers["greet"] = async (call) => {
      await call.ask({
        method: "elicitation/create",
        params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
      });
      return ok(text("Hello"));
    };
    return server;
  };

  const begin = async (server: ModernServer): Promise<JsonObject> => {
    const result = (await server.ask("tools/call", { name: "greet", arguments: {} }, ASKING)).last["result"];
    const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
    const [key] = Object.keys(inputRequests);
    return {
      name: "greet",
      arguments: {},
      requestState,
      inputResponses: { [key!]: { action: "accept", content: {} } },
    };
  };

  const reasonOf = ({ last }: Answer): unknown => (last["error"] as { data?: { reason?: unknown } }).data?.reason;

  test("a hub that does not hold the call reports that, and the call continues at its own hub", async () => {
    const store = new MemoryStore();
    const [here, there] = [await open(store.join("here")), await open(store.join("there"))];
    const retry = await begin(here);
    expect(reasonOf(await there.ask("tools/call", retry, ASKING))).toBe("held_elsewhere");
    expect((await here.ask("tools/call", retry, ASKING)).last).toMatchObject({ result: text("Hello") });
    expect(reasonOf(await there.ask("tools/call", retry, ASKING))).toBe("invalid_request_state");
  });

  test("the state of the call is invalid for hubs of another store, and with other arguments", async () => {
    const store = new MemoryStore();
    const [here, there] = [await open(store.join("here")), await open(store.join("there"))];
    const stranger = await open(new MemoryStore().join("here"));
    const retry = await begin(here);
    expect(reasonOf(await stranger.ask("tools/call", retry, ASKING))).toBe("invalid_request_state");
    const other = { ...retry, arguments: { other: 1 } };
    expect(reasonOf(await there.ask("tools/call", other, ASKING))).toBe("invalid_request_state");
  });
});
