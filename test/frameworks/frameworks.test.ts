// Runs each example of docs/guide/develop/frameworks.md in the real framework and calls it with an independent client.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { execFile } from "node:child_process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ensureInstalled } from "../../scripts/tools.mjs";
import { readPage, readSnippets, ROOT } from "../docs/snippets.ts";
import { seen } from "../cli/harness.ts";

const BLOCKS = readSnippets(readPage("docs/guide/develop/frameworks.md")).filter(({ file }) => file !== undefined);
const REGISTER = join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js");

let folder: string;
let port: number;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  const frameworks = ensureInstalled("test/frameworks");
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-frameworks-")));
  await linkAll(frameworks, join(folder, "node_modules"));
  await symlink(join(ROOT, "packages/toolyard"), join(folder, "node_modules/toolyard"));
  port = await freePort();
  await writeFile(join(folder, "package.json"), '{"type": "module"}');
  for (const { file, text } of BLOCKS) {
    await mkdir(dirname(join(folder, file!)), { recursive: true });
    await writeFile(join(folder, file!), text.replaceAll("3001", String(port)));
  }
});

afterEach(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Links all packages of a folder into another folder, so that a further package can be added there. */
async function linkAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    if (name === "@types") {
      await linkAll(join(from, name), join(to, name));
      await symlink(join(ROOT, "node_modules/@types/node"), join(to, name, "node")).catch(() => {});
    } else if (!name.startsWith(".")) await symlink(join(from, name), join(to, name));
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  return free;
}

async function start(file: string): Promise<void> {
  const child = spawn(process.execPath, ["--import", pathToFileURL(REGISTER).href, file], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  await seen(child.stdout, /listening/);
}

/** Calls the handler at `/mcp` with the official client, and returns the tool's result. */
async function greet(name: string): Promise<unknown> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`));
  await client.connect(transport as Transport);
  try {
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("greet");
    const result = await client.callTool({ name: "greet", arguments: { name } });
    await transport.terminateSession();
    return result.content;
  } finally {
    await client.close();
  }
}

describe("frameworks", () => {
  test.each(["express.ts", "fastify.ts", "hono.ts"])(
    "%s in the guide serves tools next to the program's own pages",
    async (file) => {
      await start(file);
      expect(await greet("Grace")).toEqual([{ type: "text", text: "Hello, Grace!" }]);
      const page = await fetch(`http://127.0.0.1:${port}/`);
      expect([page.status, await page.text()]).toEqual([200, "the program's own page"]);
      const refused = await fetch(`http://127.0.0.1:${port}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: "https://evil.example" },
        body: "{}",
      });
      expect(refused.status).toBe(403);
    },
  );

  // Next itself needs a native compiler to start. A route gets a subclass of the standard Request, and Next calls the
  // exported function with the name of the HTTP method.
  test("app/mcp/route.ts in the guide serves tools to a request as Next passes it", async () => {
    await writeFile(
      join(folder, "next.ts"),
      `import { serve } from "@hono/node-server";
import * as route from "./app/mcp/route.ts";

class NextRequest extends Request {}
serve({
  fetch: async (request) => {
    const { method, url, headers } = request;
    const body = method === "POST" ? await request.text() : null;
    return route[method as "GET"](new NextRequest(url, { method, headers, body }));
  },
  port: ${port},
  hostname: "127.0.0.1",
}, () => console.log("listening"));
`,
    );
    await start("next.ts");
    expect(await greet("Radia")).toEqual([{ type: "text", text: "Hello, Radia!" }]);
  });

  test("the code blocks compile with the frameworks' own types", async () => {
    const options = {
      target: "es2022",
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ["node"],
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: BLOCKS.map(({ file }) => file) }),
    );
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    expect(existsSync(tsc)).toBe(true);
    const said = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    expect(said.stdout).toBe("");
  });
});
