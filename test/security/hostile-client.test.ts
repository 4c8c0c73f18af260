// A permitted client that tries to access another caller's sessions, parked calls, streams and progress, or to exhaust
// the hub.
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../fixtures/cpu-time.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { standardHeaders } from "../../packages/toolyard/src/wire/modern/headers.ts";
import {
  initialize,
  isRefused,
  JSON_HEADERS,
  openTarget,
  openUpstream,
  rpc,
  tool,
  wordsOf,
  type RawAnswer,
  type Target,
} from "./attack.ts";

const TOKENS = { ada: { token: "ada-token-1" }, eve: { token: "eve-token-2" } };

function asPrincipal(name: keyof typeof TOKENS): Record<string, string> {
  return { ...JSON_HEADERS, authorization: `Bearer ${TOKENS[name].token}` };
}

async function openSession(target: Target, name: keyof typeof TOKENS): Promise<string> {
  const answer = await target.send({ headers: asPrincipal(name), body: initialize() });
  const id = String(answer.headers["mcp-session-id"]);
  await target.send({
    headers: { ...asPrincipal(name), "mcp-session-id": id },
    body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
  });
  return id;
}

describe("S17: sessions", () => {
  test("S17: ids are random, of 128 bits, and never chosen by the client", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS } });
    const ids = await Promise.all(Array.from({ length: 20 }, () => openSession(target, "ada")));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    const fixed = await target.send({
      headers: { ...asPrincipal("eve"), "mcp-session-id": "f".repeat(32) },
      body: initialize(),
    });
    // The id in the header of `initialize` is ignored, whether it is open, ended or invented.
    expect(fixed.status).toBe(200);
    expect(fixed.headers["mcp-session-id"]).toMatch(/^[0-9a-f]{32}$/);
    expect(fixed.headers["mcp-session-id"]).not.toBe("f".repeat(32));
    const asked = { ...asPrincipal("eve"), "mcp-session-id": "f".repeat(32) };
    expect((await target.send({ headers: asked, body: rpc("ping") })).status).toBe(404);
  });

  test("S17: answers 404 for every request to another caller's session", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS } });
    const id = await openSession(target, "ada");
    const headers = { ...asPrincipal("eve"), "mcp-session-id": id };
    const attempts: Promise<RawAnswer>[] = [
      target.send({ headers, body: rpc("tools/list") }),
      target.send({ headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }) }),
      target.send({
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }),
      }),
      target.send({ method: "GET", headers }),
      target.send({ method: "GET", headers: { ...headers, "last-event-id": "0-1" } }),
      target.send({ method: "DELETE", headers }),
    ];
    for (const answer of await Promise.all(attempts)) expect(answer.status).toBe(404);
    // `initialize` begins a separate session.
    const own = (await target.send({ headers, body: initialize() })).headers["mcp-session-id"];
    expect(own).toMatch(/^[0-9a-f]{32}$/);
    expect(own).not.toBe(id);
    expect((await target.send({ headers, body: rpc("ping") })).status).toBe(404);
    expect(
      (await target.send({ headers: { ...asPrincipal("ada"), "mcp-session-id": id }, body: rpc("ping") })).status,
    ).toBe(200);
  });

  test("S17: DELETE ends a session permanently", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS } });
    const headers = { ...asPrincipal("ada"), "mcp-session-id": await openSession(target, "ada") };
    expect((await target.send({ method: "DELETE", headers })).status).toBe(200);
    expect((await target.send({ headers, body: rpc("ping") })).status).toBe(404);
  });

  test("S17: a session of HTTP+SSE belongs to its principal", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS } });
    const stream = await fetch(new URL("/sse", target.url), {
      headers: { authorization: `Bearer ${TOKENS.ada.token}`, accept: "text/event-stream" },
    });
    const reader = stream.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    const path = /data: (\S+)/.exec(first)![1]!;
    expect((await target.send({ path, headers: asPrincipal("eve"), body: initialize() })).status).toBe(404);
    expect((await target.send({ path, headers: asPrincipal("ada"), body: initialize() })).status).toBe(202);
    await reader.cancel();
  });

  test("S17: one principal's sessions do not displace another's", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS, sessions: { max: 8 } } });
    const id = await openSession(target, "ada");
    for (let count = 0; count < 20; count += 1) await openSession(target, "eve");
    expect(
      (await target.send({ headers: { ...asPrincipal("ada"), "mcp-session-id": id }, body: rpc("ping") })).status,
    ).toBe(200);
  });
});

/** Opens a hub with a server that sends server requests, and with a server that ends its own streams. */
async function openAsking(): Promise<{ target: Target; close: () => Promise<void> }> {
  const upstream = await openUpstream({
    tools: [tool("ask")],
    answer: (method, _params, { response, id }) => {
      if (method !== "tools/call") return undefined;
      const asking = {
        jsonrpc: "2.0",
        id: 77,
        method: "elicitation/create",
        params: { message: "Password?", requestedSchema: { type: "object", properties: {} } },
      };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(asking)}\n\n`);
      finish = (answer) =>
        void response.end(event({ id, result: { content: [{ type: "text", text: JSON.stringify(answer) }] } }));
      return undefined;
    },
  });
  let finish: (answer: unknown) => void = () => {};
  const target = await openTarget({
    server: { tokens: TOKENS },
    mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
  });
  await target.hub.list();
  const close = async (): Promise<void> => {
    finish("over");
    await target[Symbol.asyncDispose]();
    await upstream.close();
  };
  return { target, close };
}

describe("S17: calls that wait for input", () => {
  test("S17: refuses a state of another principal, of another call, and a forged one", async () => {
    const { target, close } = await openAsking();
    try {
      const ada = await target.client(TOKENS.ada.token);
      const params = { name: "up__ask", arguments: { x: 1 } };
      const asked = (await ada.request("tools/call", params))["result"] as JsonObject;
      expect(asked).toMatchObject({ resultType: "input_required" });
      const state = String(asked["requestState"]);
      const [key] = Object.keys(asked["inputRequests"] as JsonObject);
      const inputResponses = { [key!]: { action: "accept", content: { stolen: true } } };
      const eve = await target.client(TOKENS.eve.token);
      const refused = [
        await eve.request("tools/call", { ...params, inputResponses, requestState: state }),
        await eve.request("tools/call", { ...params, requestState: state }),
        await ada.request("tools/call", { ...params, arguments: { x: 2 }, inputResponses, requestState: state }),
        await ada.request("tools/call", { ...params, name: "up::ask", inputResponses, requestState: state }),
        await ada.request("tools/call", { ...params, inputResponses, requestState: `${state}A` }),
        await ada.request("tools/call", {
          ...params,
          inputResponses,
          requestState: state.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
        }),
        await ada.request("resources/read", { uri: "up__ask", inputResponses, requestState: state }),
      ];
      for (const reply of refused) expect(reply).toHaveProperty("error");
    } finally {
      await close();
    }
  });

  test("S17: one principal's waiting calls leave room for another's", async () => {
    const upstream = await openUpstream({
      tools: [tool("ask")],
      answer: (method, _params, { response }) => {
        if (method !== "tools/call") return undefined;
        const asking = {
          jsonrpc: "2.0",
          id: 77,
          method: "elicitation/create",
          params: { message: "?", requestedSchema: { type: "object", properties: {} } },
        };
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`data: ${JSON.stringify(asking)}\n\n`);
        return undefined;
      },
    });
    await using target = await openTarget({
      server: { tokens: TOKENS, max_parked_calls: 4, max_subscriptions: 4 },
      mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
    });
    await target.hub.list();
    const eve = await target.client(TOKENS.eve.token);
    for (let count = 0; count < 4; count += 1)
      void eve
        .request("tools/call", { name: "up__ask", arguments: { count } }, { signal: AbortSignal.timeout(10_000) })
        .catch(() => {});
    const ada = await target.client(TOKENS.ada.token);
    await expect
      .poll(async () => (await ada.request("tools/call", { name: "up__ask", arguments: {} }))["result"])
      .toMatchObject({ resultType: "input_required" });
    for (let count = 0; count < 3; count += 1) await eve.listen().catch(() => {});
    await ada.listen();
    await upstream.close();
  });
});

describe("S17: calls of others", () => {
  test("S17: progress and cancellation stay with their caller, also with equal tokens and ids", async () => {
    let release: () => void = () => {};
    const reached = new Promise<void>((resolve) => {
      release = resolve;
    });
    const aborted: string[] = [];
    const upstream = await openUpstream({
      tools: [tool("slow")],
      answer: (method, params, { response, id }) => {
        if (method !== "tools/call") return undefined;
        const { progressToken } = params["_meta"] as JsonObject;
        response.writeHead(200, { "content-type": "text/event-stream" });
        const progress = { progressToken, progress: 1, message: "ada's own" };
        response.write(event({ method: "notifications/progress", params: progress }));
        response.once("close", () => void (response.writableEnded || aborted.push("closed")));
        finish = () =>
          void response.end(
            "data: " +
              `${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } })}\n\n`,
          );
        release();
        return undefined;
      },
    });
    let finish = (): void => {};
    await using target = await openTarget({
      server: { tokens: TOKENS },
      mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
    });
    await target.hub.list();
    const ada = await target.client(TOKENS.ada.token, { era: "legacy" });
    const eve = await target.client(TOKENS.eve.token, { era: "legacy" });
    const running = ada.request("tools/call", { name: "up__slow", arguments: {}, _meta: { progressToken: 1 } });
    await reached;
    for (let requestId = 0; requestId < 10; requestId += 1) await eve.notify("notifications/cancelled", { requestId });
    await eve.request("tools/list", { _meta: { progressToken: 1 } });
    finish();
    expect(wordsOf(await running)).toBe("done");
    expect(ada.heard("notifications/progress")).toHaveLength(1);
    expect(eve.heard("notifications/progress")).toEqual([]);
    expect(upstream.received.map(({ method }) => method)).not.toContain("notifications/cancelled");
    await upstream.close();
  });

  test("S17: a forged cursor, or one of a caller with more rights, reveals no further entries", async () => {
    const upstream = await openUpstream({ tools: Array.from({ length: 6 }, (_, at) => tool(`t${at}`)) });
    await using target = await openTarget({
      server: {
        page_size: 2,
        tokens: { ...TOKENS, guest: { token: "guest-token-3", allow: ["up__t0", "up__t1", "up__t2"] } },
      },
      mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
    });
    await target.hub.list();
    const ada = await target.client(TOKENS.ada.token);
    const guest = await target.client("guest-token-3");
    const wide = String((await ada.result("tools/list"))["nextCursor"]);
    const own = String((await guest.result("tools/list"))["nextCursor"]);
    const [version] = JSON.parse(Buffer.from(own, "base64url").toString("utf8")) as [string, number];
    const forged = [
      [version, 4],
      [version, -2],
      [version, 1e9],
      [version, 0.5],
      ["__proto__", 2],
      { length: 2 },
      null,
    ].map((value) => Buffer.from(JSON.stringify(value)).toString("base64url"));
    for (const cursor of [wide, ...forged, "", "x", "=".repeat(10_000)]) {
      const reply = await guest.request("tools/list", { cursor });
      expect(JSON.stringify(reply), cursor).not.toMatch(/up__t[3-5]/);
      expect(reply, cursor).toHaveProperty("error");
    }
    expect((await guest.list("tools/list", "tools")).map(({ name }) => name)).toEqual(["up__t0", "up__t1", "up__t2"]);
    await upstream.close();
  });
});

describe("S4: requests over the limits", () => {
  test("S4: refuses bodies, depth, batches and heads over their limits, and serves those within", async () => {
    await using target = await openTarget({ server: { max_body_bytes: "64KiB" } });
    const headers = JSON_HEADERS;
    expect((await target.send({ headers, body: rpc("ping", { x: "x".repeat(70_000) }) })).status).toBe(413);
    expect((await target.send({ headers, body: `${"[".repeat(5000)}${"]".repeat(5000)}` })).status).toBe(400);
    expect(
      (
        await target.send({
          headers,
          body: `[${Array.from({ length: 101 }, (_, id) => rpc("ping", {}, id)).join(",")}]`,
        })
      ).status,
    ).toBe(400);
    expect(
      (await target.send({ headers: { ...headers, "x-large": "x".repeat(40_000) }, body: initialize() })).status,
    ).toBe(431);
    expect(
      (await target.send({ headers: { ...headers, "content-encoding": "gzip" }, body: initialize() })).status,
    ).toBe(415);
    expect((await target.send({ headers, body: initialize() })).status).toBe(200);
  });

  test("S4: does not read a request twice that has two lengths or contains another request", async () => {
    await using target = await openTarget();
    const inner = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const smuggled = [
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\n" +
        `Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\n" +
        `Content-Length: 60\r\n\r\nabcd${inner}`,
      `POST /mcp HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n${inner}`,
    ];
    for (const text of smuggled) expect(await rawBytes(target.port, text)).not.toContain("uptimeSeconds");
  });

  test("S4: closes the connection of a request that arrives too slowly", async () => {
    await using target = await openTarget({ server: { request_timeout: "300ms" } });
    const answer = await rawBytes(
      target.port,
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    );
    expect(answer === "" || answer.startsWith("HTTP/1.1 408")).toBe(true);
  });
});

describe("S5: one client's share", () => {
  test("S5: limits calls over the rate with a retry hint, and serves another client", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS }, limits: { rate_per_minute: 3 } });
    const eve = await target.client(TOKENS.eve.token);
    const replies: JsonObject[] = [];
    for (let count = 0; count < 5; count += 1)
      replies.push(await eve.request("tools/call", { name: "meta.ping", arguments: {} }));
    expect(replies.map(isRefused)).toEqual([false, false, false, true, true]);
    expect(replies[4]).toMatchObject({
      result: { _meta: { "toolyard/kind": "limited", "toolyard/retryAfterMs": expect.any(Number) } },
    });
    const ada = await target.client(TOKENS.ada.token);
    expect(wordsOf(await ada.request("tools/call", { name: "meta.ping", arguments: {} }))).toBe("pong");
  });

  test("S5: execute_tool counts as the call that it makes, so it does not avoid the rate limit", async () => {
    await using target = await openTarget({ limits: { rate_per_minute: 3 } });
    const client = await target.client();
    const replies: JsonObject[] = [];
    for (let count = 0; count < 5; count += 1)
      replies.push(await client.request("tools/call", { name: "execute_tool", arguments: { name: "meta.ping" } }));
    expect(replies.map(isRefused)).toEqual([false, false, false, true, true]);
  });

  test("S5: further sessions do not avoid the rate limit of a token", async () => {
    await using target = await openTarget({ server: { tokens: TOKENS }, limits: { rate_per_minute: 3 } });
    const replies: RawAnswer[] = [];
    for (let count = 0; count < 60; count += 1) {
      const id = await openSession(target, "eve");
      replies.push(
        await target.send({
          headers: { ...asPrincipal("eve"), "mcp-session-id": id },
          body: rpc("tools/call", { name: "meta.ping", arguments: {} }),
        }),
      );
    }
    expect(replies.filter(({ body }) => body.includes("pong")).length).toBeLessThan(57);
  });
});

describe("S18: inputs that are expensive to process", () => {
  test("S18: searches, names, URIs and completions of any form take little time", async () => {
    const upstream = await openUpstream({
      tools: Array.from({ length: 300 }, (_, at) => tool(`tool_${"ab".repeat(20)}_${at}`)),
      templates: [
        { uriTemplate: "doc://{a}{b}{c}{d}{e}{f}", name: "t" },
        { uriTemplate: `x://${"{+a}/".repeat(30)}end`, name: "u" },
        { uriTemplate: "{+a}{+b}{+c}", name: "v" },
      ],
      prompts: [{ name: "p" }],
    });
    await using target = await openTarget({
      server: {
        tokens: {
          guest: { token: "guest-token-3", allow: [`${"*a".repeat(100)}*`, "up__*"], deny: ["*b*b*b*b*b*b*b*z"] },
        },
      },
      limits: { rate_per_minute: 0 },
      mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
    });
    await target.hub.list();
    const client = await target.client("guest-token-3", { era: "legacy" });
    const words = [
      "a".repeat(300_000),
      "../".repeat(100_000),
      "%25".repeat(100_000),
      "a b ".repeat(75_000),
      "__".repeat(150_000),
      `doc://${"a".repeat(200_000)}`,
      `x://${"a/".repeat(100_000)}`,
      "mcp__".repeat(60_000),
    ];
    for (const word of words) {
      const startedAt = cpuMs();
      await client.request("tools/call", { name: "tool_search", arguments: { query: word } });
      await client.request("tools/call", { name: word, arguments: {} });
      await client.request("resources/read", { uri: word });
      await client.request("resources/read", { uri: `doc://${word}` });
      await client.request("prompts/get", { name: word });
      await client.request("completion/complete", {
        ref: { type: "ref/resource", uri: word },
        argument: { name: "a", value: word },
      });
      expect(cpuMs() - startedAt, word.slice(0, 20)).toBeLessThan(5000);
    }
    await upstream.close();
  });
});

test("S13: no error shows a stack, a path or the environment", async () => {
  await using target = await openTarget();
  const bodies = [
    "{",
    "null",
    "[]",
    "[[]]",
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":{},"method":"x"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
    "\u0000",
    "\ud800",
  ];
  const modern = standardHeaders("tools/call", { name: "x" });
  for (const body of bodies) {
    for (const headers of [JSON_HEADERS, { ...JSON_HEADERS, ...modern }]) {
      const answer = await target.send({ headers, body });
      expect(answer.status, body).toBeLessThan(500);
      expect(answer.body, body).not.toMatch(/at .*:\d+:\d+|node_modules|\/work\/|\/home\/|\.ts\b/);
    }
  }
});

/** Sends raw bytes and returns the received bytes, until the server closes or is silent for a moment. */
function rawBytes(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setTimeout(7000, () => socket.destroy());
    socket.on("data", (chunk) => (received += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    if (!text.includes("1000")) setTimeout(() => socket.destroy(), 300);
  });
}

/** One message as an event of a stream. */
function event(message: JsonObject): string {
  return `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
}
