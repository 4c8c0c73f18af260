import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../core/json/json.ts";
import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { META } from "../../../wire/modern/envelope.ts";
import {
  envelope,
  ModernServer,
  type AskOptions,
  type OpenAnswer,
  type Settings,
} from "../../../../../../test/support/modern-server.ts";

let server: ModernServer;

beforeEach(async () => {
  server = await ModernServer.start();
});

afterEach(() => server[Symbol.asyncDispose]());

async function restart(settings: Settings): Promise<void> {
  await server[Symbol.asyncDispose]();
  server = await ModernServer.start(settings);
}

function listen(notifications: JsonObject, options: AskOptions = {}): Promise<OpenAnswer> {
  return server.open("subscriptions/listen", { notifications }, { id: "s1", ...options });
}

const stamped = { [META.subscriptionId]: "s1" };
const addTool = (name: string): void => {
  server.hub.lists.tools = [...server.hub.lists.tools, { name, inputSchema: { type: "object" } }];
  server.hub.announce("tools");
};

describe("subscriptions/listen", () => {
  test("starts with an acknowledgement of the filter, with the id of the request", async () => {
    const stream = await listen({
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: true,
      future: true,
    });
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect((await stream.count(1))[0]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true, resourcesListChanged: true }, _meta: stamped },
    });
  });

  test("C33: reports a changed list once, and only to listeners that named it", async () => {
    const tools = await listen({ toolsListChanged: true });
    const prompts = await listen({ promptsListChanged: true });
    await Promise.all([tools.count(1), prompts.count(1)]);
    addTool("new");
    expect((await tools.count(2))[1]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      params: { _meta: stamped },
    });
    server.hub.lists.prompts = [];
    server.hub.announce("prompts");
    await prompts.count(2);
    expect([tools.messages.length, prompts.messages.map(({ method }) => method)]).toEqual([
      2,
      ["notifications/subscriptions/acknowledged", "notifications/prompts/list_changed"],
    ]);
  });

  test("does not report a change outside the caller's own view", async () => {
    const stream = await listen(
      { toolsListChanged: true, promptsListChanged: true },
      { headers: { "x-mcp-tool-mode": "discovery" } },
    );
    await stream.count(1);
    // The discovery view of the stand-in contains only its first tool.
    addTool("unseen");
    server.hub.lists.prompts = [];
    server.hub.announce("prompts");
    expect((await stream.count(2))[1]).toMatchObject({ method: "notifications/prompts/list_changed" });
  });

  test("resources and templates share one notification", async () => {
    const stream = await listen({ resourcesListChanged: true });
    await stream.count(1);
    server.hub.lists.templates = [];
    server.hub.announce("resources", "templates");
    expect((await stream.count(2))[1]).toMatchObject({ method: "notifications/resources/list_changed" });
  });

  test("reports an updated resource to the listeners that named it, with the source's data", async () => {
    const stream = await listen({ resourceSubscriptions: ["test://a", "nowhere://b", "test://a"] });
    expect((await stream.count(1))[0]).toMatchObject({
      params: { notifications: { resourceSubscriptions: ["test://a"] } },
    });
    expect(server.hub.subscribed.get("test://a")).toBe(1);
    server.hub.events.resourceUpdated.emit({ uri: "test://other", params: { uri: "test://other" } });
    server.hub.events.resourceUpdated.emit({
      uri: "test://a",
      params: { uri: "test://a", extra: 1, _meta: { [META.subscriptionId]: "theirs", own: 2 } },
    });
    expect((await stream.count(2))[1]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "test://a", extra: 1, _meta: { own: 2, ...stamped } },
    });
  });

  test("unsubscribes when the caller disconnects", async () => {
    const stream = await listen({ resourceSubscriptions: ["test://a"] });
    await stream.count(1);
    stream.drop();
    await expect.poll(() => [server.hub.subscribed.get("test://a"), server.endpoint.load.listening]).toEqual([0, 0]);
  });

  test("acknowledges a filter that matches nothing, and ends", async () => {
    const { messages } = await (await listen({ resourceSubscriptions: ["nowhere://b"] })).whole();
    expect(messages).toMatchObject([
      { method: "notifications/subscriptions/acknowledged", params: { notifications: {} } },
      { id: "s1", result: { resultType: "complete", _meta: { ...stamped, [META.serverInfo]: { name: "stand-in" } } } },
    ]);
  });

  test("ends with a result when the server closes", async () => {
    const stream = await listen({ toolsListChanged: true });
    await stream.count(1);
    server.endpoint.close();
    expect((await stream.whole()).last).toMatchObject({ id: "s1", result: { resultType: "complete" } });
  });

  test("ends with a result immediately when the listener closes", async () => {
    await restart({ http: { shutdown_grace: 60_000 } });
    const stream = await listen({ toolsListChanged: true });
    await stream.count(1);
    const closed = server.listener.close();
    expect((await stream.whole()).last).toMatchObject({ id: "s1", result: { resultType: "complete" } });
    await closed;
  });

  test("ends with a result when its lasting connection is released, and parked calls are cancelled", async () => {
    const sent: JsonObject[] = [];
    const outlet = {
      reply: (text: string) => void sent.push(JSON.parse(text) as JsonObject),
      note: (text: string) => void sent.push(JSON.parse(text) as JsonObject),
    };
    const facts = {
      endpoint: "mcp-stdio",
      principal: LOCAL_PRINCIPAL,
      mode: "normal",
      connection: "pipe",
      signal: new AbortController().signal,
    } as const;
    const _meta = envelope({ capabilities: { elicitation: {} } });
    const listening = server.endpoint.handle(
      {
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { _meta, notifications: { toolsListChanged: true } },
      },
      outlet,
      facts,
    );
    await server.endpoint.handle(
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { _meta, name: "ask" } },
      outlet,
      facts,
    );
    expect(server.hub.calls.at(-1)?.client.connection).toBe("pipe");
    expect(server.endpoint.load).toEqual({ parked: 1, listening: 1 });
    server.endpoint.release("other");
    expect(server.endpoint.load).toEqual({ parked: 1, listening: 1 });
    server.endpoint.release("pipe");
    await listening;
    expect(server.endpoint.load).toEqual({ parked: 0, listening: 0 });
    expect(sent.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  test("S4: limits the number of listen requests, and of resources in each", async () => {
    await restart({ endpoint: { max_subscriptions: 1, max_subscribed_resources: 2 } });
    const refused = await (await listen({ resourceSubscriptions: ["test://1", "test://2", "test://3"] })).whole();
    expect(refused.last).toMatchObject({ id: "s1", error: { code: -32602 } });
    const stream = await listen({ toolsListChanged: true });
    await stream.count(1);
    expect((await (await listen({ toolsListChanged: true })).whole()).last).toMatchObject({
      error: { code: -32603, message: "Subscription limit reached" },
    });
    stream.drop();
    await expect.poll(() => server.endpoint.load.listening).toBe(0);
    expect(await (await listen({ toolsListChanged: true })).count(1)).toHaveLength(1);
  });

  test("refuses a caller that accepts no stream", async () => {
    const answer = await (
      await listen({ toolsListChanged: true }, { headers: { accept: "application/json" } })
    ).whole();
    expect([answer.status, answer.last]).toMatchObject([406, { error: { code: -32000 } }]);
  });

  test("reads the list once per change for a hundred listeners of one view", async () => {
    const streams = await Promise.all(Array.from({ length: 100 }, () => listen({ toolsListChanged: true })));
    await Promise.all(streams.map((stream) => stream.count(1)));
    const looked = server.hub.views.length;
    addTool("one");
    await Promise.all(streams.map((stream) => stream.count(2)));
    expect(server.hub.views.length - looked).toBe(1);
  });
});
