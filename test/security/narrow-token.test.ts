// A client with few permissions tries every endpoint with names that it has no right to.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import {
  initialize,
  isRefused,
  JSON_HEADERS,
  openTarget,
  openUpstream,
  rpc,
  tool,
  wordsOf,
  type Target,
  type Upstream,
} from "./attack.ts";

const READS = { annotations: { readOnlyHint: true } };
const TOKENS = {
  owner: { token: "owner-token-1" },
  guest: { token: "guest-token-2", allow: ["pub__*", "file:///public/*", "meta.get_module_info"] },
  barred: { token: "barred-token-3", deny: ["vault__*", "*:///vault/*"] },
  reader: { token: "reader-token-4", read_only: true },
};

let vault: Upstream;
let pub: Upstream;
let crown: Upstream;
let target: Target;

beforeEach(async () => {
  vault = await openUpstream({
    tools: [tool("open", { description: "Opens the crown jewels safe." }), tool("peek", READS)],
    resources: [
      { uri: "file:///vault/gold", name: "gold" },
      { uri: "file:///public/news", name: "news" },
    ],
    templates: [{ uriTemplate: "file:///{+path}", name: "files" }],
    prompts: [{ name: "heist", arguments: [{ name: "who" }] }],
  });
  crown = await openUpstream({ instructions: "Open the crown with crown__open.", tools: [tool("open", READS)] });
  pub = await openUpstream({
    instructions: "Say pub__hello first.",
    tools: [tool("hello"), tool("time", READS)],
    prompts: [{ name: "greet" }],
  });
  target = await openTarget({
    server: { tokens: TOKENS },
    mcp: {
      remote_servers: [
        { namespace: "vault", url: vault.url },
        { namespace: "pub", url: pub.url },
        { namespace: "crown", url: crown.url },
      ],
    },
  });
  await target.hub.list();
});

afterEach(async () => {
  await target[Symbol.asyncDispose]();
  for (const server of [vault, pub, crown]) await server.close();
});

function reached(method: string): JsonObject[] {
  return vault.received.filter((request) => request.method === method).map(({ params }) => params);
}

const eras = ["legacy", "modern"] as const;

describe.each(eras)("S15: a guest of the %s era", (era) => {
  test.each([
    "vault__open",
    "vault::open",
    "vault.open",
    "vault/open",
    "open",
    "mcp__vault__open",
    "mcp__hub__vault__open",
  ])("S15: refuses tool %s", async (name) => {
    const guest = await target.client(TOKENS.guest.token, { era });
    const reply = await guest.request("tools/call", { name, arguments: {} });
    expect(isRefused(reply)).toBe(true);
    expect(reached("tools/call")).toEqual([]);
  });

  test("S15: execute_tool calls only tools that the guest may use", async () => {
    const guest = await target.client(TOKENS.guest.token, { era });
    expect(
      wordsOf(await guest.request("tools/call", { name: "execute_tool", arguments: { name: "pub__hello" } })),
    ).toContain("hello");
    for (const name of ["vault__open", "open", "vault::peek", " vault__open "]) {
      for (const key of ["arguments", "parameters"]) {
        expect(
          isRefused(await guest.request("tools/call", { name: "execute_tool", arguments: { name, [key]: "{}" } })),
          name,
        ).toBe(true);
      }
    }
    const nested = { name: "execute_tool", arguments: { name: "execute_tool", arguments: { name: "vault__open" } } };
    expect(isRefused(await guest.request("tools/call", nested))).toBe(true);
    expect(reached("tools/call")).toEqual([]);
  });

  test("S15: lists, search, suggestions and capabilities omit names that the guest may not use", async () => {
    const guest = await target.client(TOKENS.guest.token, { era });
    const replies = [
      guest.opening,
      await guest.request("tools/list"),
      await guest.request("resources/list"),
      await guest.request("resources/templates/list"),
      await guest.request("prompts/list"),
      await guest.request("tools/call", {
        name: "tool_search",
        arguments: { query: "crown jewels safe", max_results: 100 },
      }),
      await guest.request("tools/call", { name: "tool_search", arguments: { query: "", max_results: 100 } }),
      await guest.request("tools/call", { name: "vault__opem", arguments: {} }),
      await guest.request("prompts/get", { name: "vault__heis" }),
    ];
    const told = JSON.stringify(replies).replaceAll("vault__opem", "").replaceAll("vault__heis", "");
    expect(told).toContain("Say pub__hello first.");
    expect(told).not.toMatch(/vault__|crown|gold|heist/);
  });

  test("S15: refuses prompts, resources and completion", async () => {
    const guest = await target.client(TOKENS.guest.token, { era });
    const argument = { name: "who", value: "" };
    expect(isRefused(await guest.request("prompts/get", { name: "vault__heist" }))).toBe(true);
    expect(isRefused(await guest.request("resources/read", { uri: "file:///vault/gold" }))).toBe(true);
    expect(
      isRefused(
        await guest.request("completion/complete", { ref: { type: "ref/prompt", name: "vault__heist" }, argument }),
      ),
    ).toBe(true);
    expect(
      isRefused(
        await guest.request("completion/complete", { ref: { type: "ref/resource", uri: "file:///{+path}" }, argument }),
      ),
    ).toBe(true);
    expect(vault.received.filter(({ method }) => /get|read|complete/.test(method))).toEqual([]);
  });

  test("S15: serves a resource that an allowed pattern matches", async () => {
    const guest = await target.client(TOKENS.guest.token, { era });
    expect(await guest.request("resources/read", { uri: "file:///public/news" })).toHaveProperty("result.contents");
  });
});

test.each([
  "file:///public/../vault/gold",
  "file:///public/%2e%2e/vault/gold",
  "file:///public/%252e%252e/vault/gold",
  "file:///public/x/..%2f..%2fvault/gold",
  "file:///public/..\\vault\\gold",
  "file:///public/./../vault/gold",
])("S15: %s does not bypass an allowed pattern", async (uri) => {
  const guest = await target.client(TOKENS.guest.token);
  expect(isRefused(await guest.request("resources/read", { uri }))).toBe(true);
  expect(reached("resources/read")).toEqual([]);
});

test.each([
  "FILE:///vault/gold",
  "file:///./vault/gold",
  "file:///public/../vault/gold",
  "file:///v%61ult/gold",
  "file:///x/%2e%2e/vault/gold",
  "file:///vault//gold",
  "file:////vault/gold",
  "vault+file:///vault/gold",
])("S15: %s does not bypass a denied pattern", async (uri) => {
  const barred = await target.client(TOKENS.barred.token);
  expect(isRefused(await barred.request("resources/read", { uri }))).toBe(true);
  expect(reached("resources/read")).toEqual([]);
});

test("S15: serves what a denied pattern does not match", async () => {
  const barred = await target.client(TOKENS.barred.token);
  expect(await barred.request("resources/read", { uri: "file:///public/news" })).toHaveProperty("result.contents");
  expect(wordsOf(await barred.request("tools/call", { name: "pub__hello", arguments: {} }))).toContain("hello");
});

test("S15: a read-only token calls only tools annotated as read-only", async () => {
  const reader = await target.client(TOKENS.reader.token);
  expect(isRefused(await reader.request("tools/call", { name: "vault__peek", arguments: {} }))).toBe(false);
  expect(isRefused(await reader.request("tools/call", { name: "vault__open", arguments: {} }))).toBe(true);
  expect(
    isRefused(await reader.request("tools/call", { name: "execute_tool", arguments: { name: "vault__open" } })),
  ).toBe(true);
  expect(reached("tools/call")).toHaveLength(1);
});

test.each([{ "x-mcp-show-all": "true" }, { "x-mcp-tool-mode": "show_all" }, { "x-mcp-tool-mode": "discovery" }])(
  "S15: %j shows a guest no more than its rights",
  async (headers) => {
    for (const path of ["/mcp", "/mcp?show_all=1", "/mcp?tool_mode=show_all"]) {
      const common = { ...JSON_HEADERS, ...headers, authorization: `Bearer ${TOKENS.guest.token}` };
      const opened = await target.send({ path, headers: common, body: initialize() });
      const session = String(opened.headers["mcp-session-id"]);
      const listed = await target.send({
        path,
        headers: { ...common, "mcp-session-id": session },
        body: rpc("tools/list", {}, 2),
      });
      expect(listed.status).toBe(200);
      expect(listed.body).not.toContain("vault__");
    }
  },
);

test("S15: shows a guest only the log lines of its calls, and shows the owner all lines", async () => {
  const tokens = { ...TOKENS, guest: { ...TOKENS.guest, allow: [...TOKENS.guest.allow, "meta.*"] } };
  await using own = await openTarget({
    server: { tokens },
    builtin: { server_logs: true },
    // The hub keeps the last log lines in memory if there is no log file.
    logging: { level: "debug" },
    mcp: {
      remote_servers: [
        { namespace: "vault", url: vault.url },
        { namespace: "pub", url: pub.url },
      ],
    },
  });
  const [owner, guest] = [await own.client(TOKENS.owner.token), await own.client(TOKENS.guest.token)];
  await owner.tool("vault__open");
  await guest.request("tools/call", { name: "pub__hello", arguments: {} });
  const linesOf = async (client: typeof guest): Promise<string> =>
    JSON.stringify(await client.request("tools/call", { name: "meta.get_server_logs", arguments: { lines: 50 } }));
  const seen = await linesOf(guest);
  expect(seen).toContain("pub__hello");
  expect(seen).toContain("principal=guest");
  expect(seen).not.toMatch(/vault|owner/);
  expect(await linesOf(owner)).toMatch(/vault__open/);
});

test("S15: the server status counts and names only permitted entries, which for the owner are all", async () => {
  using folder = new ToolFolder();
  const registering = (name: string): string =>
    `export function registerTools(hub) {
      hub.registerTool("${name}.run", () => 1);
      hub.registerResource("${name}:///list", () => "x");
    }`;
  for (const name of ["gold", "news"]) folder.write(`${name}/mcp.mjs`, registering(name));
  const allow = ["news.*", "news:///*", "meta.get_server_status"];
  await using own = await openTarget({
    server: { tokens: { owner: { token: "owner-1" }, guest: { token: "guest-2", allow } } },
    modules: { paths: [folder.path] },
  });
  await own.hub.list();
  const statusFor = async (token: string): Promise<unknown> => {
    const params = { name: "meta.get_server_status", arguments: {} };
    return JSON.parse(wordsOf(await (await own.client(token)).request("tools/call", params)));
  };
  expect(await statusFor("guest-2")).toMatchObject({
    discovered_modules_count: 1,
    loaded_modules: [expect.stringContaining("news")],
    // The discovery tools are not in the registry.
    registered_tools_count: 2,
    registered_resources_count: 1,
  });
  const everything = await own.hub.port.list("tools", { mode: "all", principal: LOCAL_PRINCIPAL });
  expect(await statusFor("owner-1")).toMatchObject({
    discovered_modules_count: 2,
    registered_tools_count: everything.entries.length - 2,
    registered_resources_count: 2,
  });
});

/** Parts of errors that depend on the requested name: suggestions of tools that the caller may use. */
const HINTS = /"id":[^,}]+|Did you mean [^?]*\?|Use a listed name\.|"near":\[[^\]]*\]/g;

test("S15: answers are equal for hidden and missing entries", async () => {
  for (const name of ["guest", "barred", "reader"] as const) {
    const client = await target.client(TOKENS[name].token);
    const heard = async (method: string, params: JsonObject, hidden: string, absent: string): Promise<void> => {
      const [there, not] = await Promise.all(
        [hidden, absent].map(async (text) =>
          JSON.stringify(
            await client.request(method, {
              ...params,
              ...(method === "resources/read" ? { uri: text } : { name: text }),
            }),
          )
            .replaceAll(text, "…")
            .replaceAll(HINTS, ""),
        ),
      );
      expect(there, `${name}: ${hidden}`).toBe(not);
    };
    const openName = name === "reader" ? "vault__open" : "vault__peek";
    await heard("tools/call", { arguments: {} }, openName, "vault__nope");
    await heard("tools/call", { arguments: {} }, openName.replace("__", "::"), "vault::nope");
    if (name === "guest") await heard("tools/call", { arguments: {} }, "crown__open", "nowhere__nope");
    if (name !== "reader") await heard("prompts/get", {}, "vault__heist", "vault__nope");
    if (name !== "reader") await heard("resources/read", {}, "file:///vault/gold", "file:///vault/lead");
    for (const path of ["/api/tools/"]) {
      const ask = async (tool_: string, method: string): Promise<readonly unknown[]> => {
        const headers = { authorization: `Bearer ${TOKENS[name].token}`, "content-type": "application/json" };
        const { status, body } = await target.send({
          method,
          path: `${path}${tool_}`,
          headers,
          ...(method === "POST" && { body: "{}" }),
        });
        return [status, body.replaceAll(tool_, "…").replaceAll(HINTS, "")];
      };
      for (const method of ["GET", "POST"])
        expect(await ask(openName, method)).toEqual(await ask("vault__nope", method));
    }
  }
});

test("S15: a guest gets no status", async () => {
  const status = (token: string) =>
    target.send({ method: "GET", path: "/status", headers: { authorization: `Bearer ${token}` } });
  expect((await status(TOKENS.guest.token)).status).toBe(403);
  expect((await status(TOKENS.owner.token)).status).toBe(200);
});

test.each(eras)("S15: %s: a guest does not receive log messages of sources that it may not use", async (era) => {
  await using chatty = await openUpstream({
    tools: [tool("x")],
    answer: (method, _params, { response, id }) => {
      if (method !== "tools/call") return undefined;
      const message = {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "error", data: "combination is 12-34-56" },
      };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })}\n\n`);
      return undefined;
    },
  });
  await using noisy = await openTarget({
    server: { tokens: TOKENS },
    mcp: { remote_servers: [{ namespace: "vault", url: chatty.url }] },
  });
  const guest = await noisy.client(TOKENS.guest.token, { era, logLevel: "debug" });
  if (era === "legacy") await guest.request("logging/setLevel", { level: "debug" });
  const owner = await noisy.client(TOKENS.owner.token, { era, logLevel: "debug" });
  await owner.tool("vault__x");
  await guest.request("tools/list");
  expect(owner.heard("notifications/message")).toHaveLength(1);
  expect(guest.heard("notifications/message")).toEqual([]);
  // A message of no call may concern any caller, so only callers with all rights receive it.
  noisy.hub.port.events.log.emit({ params: { level: "error", data: "combination is 12-34-56" } });
  await guest.request("tools/list");
  expect(guest.heard("notifications/message")).toEqual([]);
});

test("S15: a guest cannot subscribe to a resource that it may not read", async () => {
  const guest = await target.client(TOKENS.guest.token, { era: "legacy" });
  for (const uri of ["file:///vault/gold", "file:///public/../vault/gold"]) {
    expect(isRefused(await guest.request("resources/subscribe", { uri })), uri).toBe(true);
  }
  const modern = await target.client(TOKENS.guest.token);
  const heard = modern.next("notifications/subscriptions/acknowledged");
  await modern.listen(["file:///vault/gold"]);
  expect(objectMember((await heard)["params"] as JsonObject, "notifications")).not.toHaveProperty(
    "resourceSubscriptions",
  );
  expect(reached("resources/subscribe")).toEqual([]);
});

describe.each(["/", "/jsonrpc"])("S15: a guest at %s", (path) => {
  const send = (name: keyof typeof TOKENS, body: string) =>
    target.send({
      path,
      headers: { "content-type": "application/json", authorization: `Bearer ${TOKENS[name].token}` },
      body,
    });

  test("S15: methods of the dialect give no more access than MCP's", async () => {
    const attempts = [
      rpc("vault__open"),
      rpc("open"),
      rpc("mcp.tool.execute", { name: "vault__open", params: {} }),
      rpc("resource/get", { uri: "file:///vault/gold" }),
      rpc("resource/get", { uri: "file:///public/../vault/gold" }),
      rpc("mcp.resource.get", { uri: "file:///vault/gold" }),
      rpc("tools/call", { name: "vault__open", arguments: {} }),
      rpc("execute_tool", { name: "vault__open" }),
    ];
    for (const body of attempts) expect(JSON.parse((await send("guest", body)).body), body).toSatisfy(isRefused);
    const batch = JSON.parse((await send("guest", `[${attempts.join(",")}]`)).body) as JsonObject[];
    expect(batch.every(isRefused)).toBe(true);
    expect(vault.received.filter(({ method }) => /call|read/.test(method))).toEqual([]);
    for (const method of ["mcp/discover", "get_mcp_server_capabilities", "mcp.capabilities", "tools/list"]) {
      expect((await send("guest", rpc(method))).body, method).not.toMatch(/vault__|crown|gold/);
    }
    expect((await send("owner", rpc("vault__open"))).status).toBe(200);
  });

  test("S2, S3: answers no request without a token or from a page of another origin", async () => {
    expect(
      (await target.send({ path, headers: { "content-type": "application/json" }, body: rpc("mcp/discover") })).status,
    ).toBe(401);
    expect((await target.send({ method: "GET", path: `${path}?uri=file:///public/news`, headers: {} })).status).toBe(
      401,
    );
    const page = {
      origin: "https://evil.example",
      "content-type": "text/plain",
      authorization: `Bearer ${TOKENS.owner.token}`,
    };
    expect((await target.send({ path, headers: page, body: rpc("vault__open") })).status).toBe(403);
    expect(
      (
        await target.send({
          path,
          headers: { ...page, origin: "http://localhost", host: "evil.example" },
          body: rpc("vault__open"),
        })
      ).status,
    ).toBe(403);
  });
});

test("S15: refuses two tokens with the same principal name", async () => {
  await expect(
    openTarget({ server: { token: "the-one-token", tokens: { token: { token: "another-token", allow: [] } } } }),
  ).rejects.toThrow(/`token`/);
});
