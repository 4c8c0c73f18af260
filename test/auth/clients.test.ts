import { UnauthorizedError, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  UnauthorizedError as UnauthorizedV2,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDocumentFetch } from "../../packages/toolyard/src/auth/builtin/client-documents.ts";
import { normaliseClient } from "../../packages/toolyard/src/auth/builtin/redirects.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { OutboundClient } from "../../packages/toolyard/src/outbound/outbound-client.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { authorizationOf, openYard, register, signIn, statusWith, tokenRequest, Visitor } from "./builtin-yard.ts";
import { SdkUser } from "./sdk-user.ts";

type Transport = Parameters<Client["connect"]>[0];

let toy: ToyHub;

const signInAsAnn = (url: string): Promise<URL> => signIn(toy, { url, verifier: "" }, new Visitor(toy));

beforeAll(async () => {
  toy = await openYard();
}, 60_000);

afterAll(() => toy[Symbol.asyncDispose]());

describe("clients of the official SDKs sign a user in and call a tool", () => {
  test("v1", async () => {
    const url = new URL(`${toy.served.address.url}/mcp`);
    const user = new SdkUser(signInAsAnn);
    const authProvider = user as unknown as OAuthClientProvider;
    const first = new StreamableHTTPClientTransport(url, { authProvider });
    const client = new Client({ name: "v1", version: "1" });
    await expect(client.connect(first as Transport)).rejects.toBeInstanceOf(UnauthorizedError);
    await first.finishAuth(user.code);
    const second = new Client({ name: "v1", version: "1" });
    await second.connect(new StreamableHTTPClientTransport(url, { authProvider }) as Transport);
    expect(JSON.stringify(await second.callTool({ name: "meta.ping" }))).toContain("pong");
    await second.close();
  }, 30_000);

  test("v2", async () => {
    const url = new URL(`${toy.served.address.url}/mcp`);
    const user = new SdkUser(signInAsAnn);
    const authProvider = user as never;
    const first = new HttpV2(url, { authProvider });
    const client = new ClientV2({ name: "v2", version: "1" });
    await expect(client.connect(first)).rejects.toBeInstanceOf(UnauthorizedV2);
    await first.finishAuth(user.answer);
    const second = new ClientV2({ name: "v2", version: "1" });
    await second.connect(new HttpV2(url, { authProvider }));
    expect(JSON.stringify(await second.callTool({ name: "meta.ping", arguments: {} }))).toContain("pong");
    await second.close();
  }, 30_000);
});

/** Registrations of hosted clients and editors, in the form that their vendors document. */
const REGISTRATIONS: readonly [string, JsonObject, string][] = [
  [
    "Claude",
    {
      client_name: "Claude",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "claudeai",
      redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
    },
    "https://claude.ai/api/mcp/auth_callback",
  ],
  [
    "ChatGPT",
    {
      client_name: "ChatGPT",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_post",
      redirect_uris: ["https://chatgpt.com/connector/oauth/abc123"],
    },
    "https://chatgpt.com/connector/oauth/abc123",
  ],
  [
    "VS Code",
    {
      client_name: "Visual Studio Code",
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
      redirect_uris: [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
      ],
    },
    "http://127.0.0.1:50123/",
  ],
  [
    "Cursor",
    {
      client_name: "Cursor",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "web",
      redirect_uris: [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
      ],
    },
    "cursor://anysphere.cursor-mcp/oauth/callback",
  ],
];

describe("a client that registers in the form of its vendor can sign in", () => {
  test.each(REGISTRATIONS)("%s", async (_, metadata, redirect) => {
    const answer = await register(toy, metadata);
    const client = (await answer.json()) as JsonObject;
    expect([answer.status, client]).toEqual([201, expect.objectContaining({ client_id: expect.any(String) })]);
    const request = authorizationOf(toy, String(client["client_id"]), { redirect_uri: redirect });
    const visitor = new Visitor(toy);
    const consent = await visitor.login(await visitor.open(request.url));
    expect(consent.text).toContain(String(metadata["client_name"]));
    const target = new URL(redirect);
    const source = /^https?:$/.test(target.protocol) ? target.origin : target.protocol;
    expect(consent.headers.get("content-security-policy")).toContain(`form-action 'self' ${source};`);
    const back = new URL((await visitor.submit(consent, { action: "allow" })).location!);
    expect(back.href.startsWith(redirect)).toBe(true);
    const tokens = await tokenRequest(toy, {
      grant_type: "authorization_code",
      client_id: String(client["client_id"]),
      ...(client["client_secret"] !== undefined && { client_secret: String(client["client_secret"]) }),
      code: back.searchParams.get("code")!,
      code_verifier: request.verifier,
      redirect_uri: redirect,
    });
    expect(tokens.refresh_token).toEqual(expect.any(String));
    expect(await statusWith(toy, tokens.access_token)).toBe(200);
  });

  test.each<[string, JsonObject]>([
    ["a redirect over http", { redirect_uris: ["http://app.example/cb"] }],
    ["a redirect with a fragment", { redirect_uris: ["https://app.example/cb#x"] }],
    ["a script as redirect", { redirect_uris: ["javascript:alert(1)"] }],
    ["data as redirect", { redirect_uris: ["data:text/html,x"] }],
    ["no redirect", { redirect_uris: [] }],
    ["redirects that are no list", { redirect_uris: "https://app.example/cb" }],
  ])("refuses a registration with %s", async (_, metadata) => {
    expect((await register(toy, metadata)).status).toBe(400);
  });
});

describe("client ID metadata documents", () => {
  test("are fetched from public addresses only", async () => {
    const client = new OutboundClient({ userAgent: "test", environment: {} });
    const read = createDocumentFetch(client);
    for (const url of [
      `${toy.served.address.url}/document`,
      "http://127.0.0.1:1/a",
      "http://[::1]/a",
      "http://169.254.169.254/a",
    ])
      await expect(read(url)).rejects.toThrow(/public/);
    await client.close();
  });

  test("are normalised like registrations: the client is native, and other grants are omitted", () => {
    expect(
      normaliseClient({
        client_id: "https://app.example/client.json",
        redirect_uris: ["http://localhost/callback"],
        grant_types: ["authorization_code", "urn:x:unknown"],
        scope: "unknown",
      }),
    ).toEqual({
      client_id: "https://app.example/client.json",
      redirect_uris: ["http://localhost/callback"],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      application_type: "native",
    });
  });
});
