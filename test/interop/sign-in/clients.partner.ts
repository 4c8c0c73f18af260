// Third-party clients sign a user in to a hub with its own authorization server. The user is headless Chromium, which
// types and clicks. `npm run partners -- sign-in` sets `PYTHON` to an interpreter with the Python SDK, if there is one.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { auth, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  auth as authV2,
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ensureTools } from "../../../scripts/tools.mjs";
import { openYard } from "../../auth/builtin-yard.ts";
import { SdkUser } from "../../auth/sdk-user.ts";
import { NO_CHROMIUM } from "../../console/browser.ts";
import type { ToyHub } from "../../places-to-touch/toy-hub.ts";
import { ChromiumUser } from "./chromium-user.ts";

const PYTHON = process.env["PYTHON"] ?? "";
const MCP_REMOTE = fileURLToPath(new URL("node_modules/mcp-remote/dist/proxy.js", import.meta.url));
const CLIENT_MS = 120_000;

let toy: ToyHub;
let user: ChromiumUser;
let home: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  [toy, user] = await Promise.all([openYard(), ChromiumUser.start()]);
}, 120_000);

afterAll(async () => {
  await user?.[Symbol.asyncDispose]();
  await toy?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-client-"));
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await rm(home, { recursive: true, force: true, maxRetries: 20 });
});

const urlOf = (): string => `${toy.served.address.url}/mcp`;

/** Environment of a client: no browser, and a home folder for its tokens. */
const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: home,
  BROWSER: "/bin/true",
  MCP_REMOTE_CONFIG_DIR: home,
  MCP_STORAGE_DIR: home,
  MCP_INSPECTOR_SECRET_STORE: "file",
  // Without a terminal, the Inspector signs in only if it may open a browser.
  MCP_AUTO_OPEN_ENABLED: "true",
});

/** Returns a promise for the first address of the hub's sign-in in the output of a program. */
function authorizationIn(
  stream: Pick<NodeJS.EventEmitter, "on">,
  pattern = /https?:\/\/\S+\/authorize\?\S+/,
): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    stream.on("data", (part: Buffer) => {
      text += part.toString();
      const found = pattern.exec(text)?.[0];
      if (found !== undefined && /\s/.test(text.slice(text.indexOf(found) + found.length))) resolve(found);
    });
  });
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a client. The user signs in when the client prints an address. */
async function runClient(command: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(command, args, { env: environment(), cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => void (output += part.toString()));
    void authorizationIn(stream).then((address) => user.signIn(address, urlOf()));
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** Calls `use` with a client provider. Chromium returns its user to a server of this process. */
async function withSdkUser<T>(use: (sdkUser: SdkUser) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) => response.end("Signed in."));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const signIn = (address: string): Promise<URL> => user.signIn(address, urlOf());
    return await use(new SdkUser(signIn, `http://127.0.0.1:${port}/callback`));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

beforeEach(({ skip }) => skip(NO_CHROMIUM !== undefined, NO_CHROMIUM));

test("TypeScript SDK v1 signs a user in and calls a tool", { timeout: CLIENT_MS }, async () => {
  await withSdkUser(async (sdkUser) => {
    const authProvider = sdkUser as unknown as OAuthClientProvider;
    expect(await auth(authProvider, { serverUrl: urlOf() })).toBe("REDIRECT");
    const authorizationCode = sdkUser.code;
    expect(await auth(authProvider, { serverUrl: urlOf(), authorizationCode })).toBe("AUTHORIZED");
    const client = new Client({ name: "v1", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(urlOf()), { authProvider });
    await client.connect(transport as Parameters<Client["connect"]>[0]);
    expect(JSON.stringify(await client.callTool({ name: "meta.ping" }))).toContain("pong");
    await client.close();
  });
});

test("TypeScript SDK v2 signs a user in and calls a tool", { timeout: CLIENT_MS }, async () => {
  await withSdkUser(async (sdkUser) => {
    const authProvider = sdkUser as never;
    expect(await authV2(authProvider, { serverUrl: urlOf() })).toBe("REDIRECT");
    const transport = new HttpV2(new URL(urlOf()), { authProvider });
    await transport.finishAuth(sdkUser.answer);
    const client = new ClientV2({ name: "v2", version: "1" });
    await client.connect(new HttpV2(new URL(urlOf()), { authProvider }));
    expect(JSON.stringify(await client.callTool({ name: "meta.ping", arguments: {} }))).toContain("pong");
    await client.close();
  });
});

test("Inspector CLI signs a user in and calls a tool", { timeout: CLIENT_MS }, async () => {
  const { node, bin } = ensureTools();
  const call = ["--method", "tools/call", "--tool-name", "meta.ping", "--format", "json"];
  // The Inspector calls only tools that the hub lists, and the hub lists them all in this mode.
  const mode = ["--header", "X-MCP-Tool-Mode: all"];
  const callback = ["--callback-url", "http://127.0.0.1:0/oauth/callback"];
  const args = [join(bin, "mcp-inspector"), "--cli", urlOf(), "--transport", "http", ...mode, ...callback, ...call];
  const { code, output } = await runClient(node, args);
  expect([code, output]).toEqual([0, expect.stringContaining("pong")]);
});

test("mcp-remote signs a user in and calls a tool", { timeout: CLIENT_MS }, async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_REMOTE, urlOf(), "--transport", "http-only"],
    env: environment(),
    stderr: "pipe",
  });
  const signedIn = authorizationIn(transport.stderr!).then((address) => user.signIn(address, urlOf()));
  const client = new Client({ name: "behind-mcp-remote", version: "1" });
  await Promise.all([client.connect(transport as Parameters<Client["connect"]>[0], { timeout: CLIENT_MS }), signedIn]);
  expect(JSON.stringify(await client.callTool({ name: "meta.ping" }))).toContain("pong");
  await client.close();
});

test("mcp-remote signs a user in with the code of a device, and calls a tool", { timeout: CLIENT_MS }, async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_REMOTE, urlOf(), "--transport", "http-only", "--device-code"],
    env: environment(),
    stderr: "pipe",
  });
  const shown = authorizationIn(transport.stderr!, /\b[A-Z]{4}-[A-Z]{4}\b/).then((code) =>
    user.signInDevice(`${toy.served.address.url}/device`, code),
  );
  const client = new Client({ name: "behind-mcp-remote", version: "1" });
  await Promise.all([client.connect(transport as Parameters<Client["connect"]>[0], { timeout: CLIENT_MS }), shown]);
  expect(JSON.stringify(await client.callTool({ name: "meta.ping" }))).toContain("pong");
  await client.close();
});

test("Python SDK signs a user in and calls a tool", { timeout: CLIENT_MS }, async ({ skip }) => {
  skip(PYTHON === "", "the Python SDK is not installed");
  const script = fileURLToPath(new URL("client.py", import.meta.url));
  const { code, output } = await runClient(PYTHON, [script, urlOf()]);
  expect([code, output]).toEqual([0, expect.stringContaining("pong")]);
});
