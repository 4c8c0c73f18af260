import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Json } from "./fixture/handlers.ts";

/**
 * Runs the hub as a client: starts it on stdio with the suite's server as its only upstream and uses everything that
 * the server offers, so that the suite sees every kind of request. Usage: client-driver.ts <url>, with
 * MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT set.
 */
const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  toolCalls?: { name: string; arguments: Json }[];
};
/** Values that the suite passes for a scenario, such as ids and secrets. */
const handed = context as Record<string, unknown>;
const REPLY_MS = 20_000;
/** Time to connect. A scenario may refuse the connection; the suite then judges the hub's earlier messages. */
const CONNECT_MS = 15_000;
/** Tools of the hub itself. */
const OWN_TOOLS = new Set(["tool_search", "execute_tool", "execute_code"]);

/** Scenarios without a user who signs in. */
const MACHINE = new Set([
  "auth/client-credentials-jwt",
  "auth/client-credentials-basic",
  "auth/enterprise-managed-authorization",
  "auth/wif-jwt-bearer",
]);
/** Part of the hub's message that requests a sign-in. */
const SIGN_IN = "toolyard login suite";
/** Time for a hub to notice a sign-in and to list the tools. */
const NOTICED_MS = 8000;
/** Time until a connected server has listed its tools. Scenarios without tools last this long. */
const LISTED_MS = 10_000;
/** More sign-ins than any scenario needs; the hub itself must stop earlier. */
const MAX_SIGN_INS = 6;

interface Tool {
  readonly name: string;
  readonly inputSchema: Json;
}

const folder = mkdtempSync(join(tmpdir(), "toolyard-driver-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const config = join(folder, "toolyard.toml");
writeFileSync(
  config,
  `[[mcp.remote_servers]]\nalias = "suite"\nnamespace = ""\nurl = ${JSON.stringify(url)}\n${authOf(scenario)}`,
);
const main = fileURLToPath(new URL("../../packages/toolyard/dist/cli/main.js", import.meta.url));
const browser = fileURLToPath(new URL("headless-browser.mjs", import.meta.url));
const isSignIn = scenario.startsWith("auth/");
// If the sign-in must fail, there are no tools to call.
if (isSignIn && !MACHINE.has(scenario) && !(await signIn())) process.exit(1);
const hub = spawn(process.execPath, [main, "serve", "--stdio", "--config", config], {
  stdio: "pipe",
  env: { ...process.env, TOOLYARD_HOME: folder, TOOLYARD_LOGGING_FORMAT: "json", TOOLYARD_LOGGING_LEVEL: "info" },
});
/** A list contains the tools that are ready; on a busy machine those of the suite's server may not be. */
let wantsSignIn = false;
const connected = new Promise<void>((resolve) => {
  createInterface({ input: hub.stderr }).on("line", (line) => {
    process.stderr.write(`${line}\n`);
    wantsSignIn ||= line.includes(SIGN_IN);
    if (line.includes('"message":"Connected."')) resolve();
  });
});

let lastId = 0;
const waiting = new Map<unknown, (reply: Json) => void>();
createInterface({ input: hub.stdout }).on("line", (line) => receive(JSON.parse(line) as Json));

try {
  await use();
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
} finally {
  hub.stdin.end();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => hub.kill("SIGKILL"), 5000);
    if (hub.exitCode !== null) resolve();
    hub.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
process.exit();

async function use(): Promise<void> {
  await Promise.race([connected, new Promise((resolve) => void setTimeout(resolve, CONNECT_MS))]);
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
    clientInfo: { name: "conformance-driver", version: "1.0.0" },
  });
  send({ method: "notifications/initialized" });
  let shown = await listTools(isSignIn ? 0 : LISTED_MS);
  if (isSignIn && wantsSignIn && shown.length === 0 && (await signIn())) shown = await listTools(NOTICED_MS);
  await useLists();
  if (scenario === "json-schema-2020-12-preservation") return roundTrip(shown);
  if (context.toolCalls) return callAll(context.toolCalls);
  await callAll(shown.map(({ name, inputSchema }) => ({ name, arguments: sampleOf(inputSchema) })));
}

/** Returns the tools of the suite's server; waits up to `waitMs` for the first one. */
async function listTools(waitMs = 0): Promise<Tool[]> {
  for (const until = performance.now() + waitMs; ;) {
    const { tools = [] } = (await request("tools/list")) as { tools?: Tool[] };
    const shown = tools.filter(({ name }) => !OWN_TOOLS.has(name));
    if (shown.length > 0 || performance.now() >= until) return shown;
    await new Promise((resolve) => void setTimeout(resolve, 200));
  }
}

async function useLists(): Promise<void> {
  const { resources = [] } = (await request("resources/list")) as { resources?: { uri: string }[] };
  for (const { uri } of resources) await request("resources/read", { uri });
  const { prompts = [] } = (await request("prompts/list")) as { prompts?: { name: string }[] };
  for (const { name } of prompts) await request("prompts/get", { name });
}

/** Returns the configuration that a user would write for a scenario, with only the values that the suite passes. */
function authOf(name: string): string {
  if (!name.startsWith("auth/")) return "";
  const auth: Record<string, unknown> = { type: "oauth" };
  const { client_id: id, client_secret: secret, issuer } = handed;
  if (name === "auth/basic-cimd") auth["client_metadata_url"] = "https://conformance-test.local/client-metadata.json";
  if (name === "auth/dpop" || name === "auth/dpop-nonce") auth["dpop"] = true;
  if (id !== undefined) auth["client_id"] = id;
  if (secret !== undefined) auth["client_secret"] = secret;
  if (issuer !== undefined) auth["issuer"] = issuer;
  if (name.startsWith("auth/client-credentials")) auth["grant"] = "client_credentials";
  if (handed["private_key_pem"] !== undefined) {
    auth["private_key"] = handed["private_key_pem"];
    auth["client_auth"] = "private_key_jwt";
  }
  if (name === "auth/wif-jwt-bearer") Object.assign(auth, { grant: "jwt_bearer", assertion: handed["valid_jwt"] });
  if (name === "auth/enterprise-managed-authorization") {
    Object.assign(auth, { grant: "enterprise", assertion: handed["idp_id_token"] });
    Object.assign(auth, { idp_token_url: handed["idp_token_endpoint"], idp_client_id: handed["idp_client_id"] });
  }
  const members = Object.entries(auth).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return `auth = { ${members.join(", ")} }\n`;
}

/** Runs `toolyard login`, as a user would. Some scenarios expect it to fail. */
function signIn(): Promise<boolean> {
  const env = { ...process.env, TOOLYARD_HOME: folder, BROWSER: `${process.execPath} ${browser}` };
  const args = [main, "login", "suite", "--config", config, "--timeout", "10s"];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      process.stderr.write(`${stdout}${stderr}`);
      resolve(error === null);
    });
  });
}

async function call(params: Json): Promise<void> {
  for (let signIns = 0; ; signIns += 1) {
    const wantsMore = JSON.stringify(await request("tools/call", params)).includes(SIGN_IN);
    if (!wantsMore || signIns === MAX_SIGN_INS || !(await signIn())) return;
  }
}

async function callAll(calls: readonly { name: string; arguments: Json }[]): Promise<void> {
  for (const { name, arguments: args } of calls) await call({ name, arguments: withoutNulls(args) });
}

/** Omits null values: the hub checks arguments against the tool's schema, and `null` is not a boolean. */
function withoutNulls(args: Json): Json {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

async function roundTrip(tools: readonly Tool[]): Promise<void> {
  const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  await request("tools/call", { name: "json_schema_echo", arguments: { schema: focal?.inputSchema ?? {} } });
}

function sampleOf(schema: Json): Json {
  const properties = (schema["properties"] ?? {}) as Record<string, Json>;
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, sampleValue(property)]));
}

function sampleValue({ type }: Json): unknown {
  if (type === "number" || type === "integer") return 7;
  if (type === "boolean") return true;
  return type === "object" ? {} : type === "array" ? [] : "sample";
}

function request(method: string, params: Json = {}): Promise<Json> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No answer to ${method} within ${REPLY_MS} ms.`)), REPLY_MS);
    waiting.set(id, (reply) => {
      clearTimeout(timer);
      if (reply["error"]) process.stderr.write(`${method}: ${JSON.stringify(reply["error"])}\n`);
      resolve((reply["result"] ?? {}) as Json);
    });
    send({ id, method, params });
  });
}

function receive(message: Json): void {
  if (message["method"] === undefined) return void waiting.get(message["id"])?.(message);
  if (message["id"] === undefined) return;
  const result = answerTo(message);
  send(
    result === undefined
      ? { id: message["id"], error: { code: -32601, message: "Method not found" } }
      : { id: message["id"], result },
  );
}

function answerTo({ method, params }: Json): Json | undefined {
  if (method === "ping") return {};
  if (method === "roots/list") return { roots: [{ uri: "file:///workspace", name: "workspace" }] };
  if (method === "sampling/createMessage")
    return { role: "assistant", model: "driver", content: { type: "text", text: "Hello" } };
  if (method !== "elicitation/create") return undefined;
  const { properties = {} } = ((params as Json)["requestedSchema"] ?? {}) as { properties?: Record<string, Json> };
  // Simulates a user who accepts the form unchanged.
  return {
    action: "accept",
    content: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, property["default"] ?? sampleValue(property)]),
    ),
  };
}

function send(message: Json): void {
  hub.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
