// `npm run frameworks:next`: builds and serves the Next example of docs/guide/develop/frameworks.md with Next and the
// installed package. Downloads 300 MB into a temporary folder, so `npm test` does not run it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const READY_MS = 120_000;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-next-")));
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };

const FILES = {
  "next.config.mjs":
    'export default { serverExternalPackages: ["toolyard"], turbopack: { root: import.meta.dirname } };\n',
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      target: "es2022",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["dom", "esnext"],
      jsx: "react-jsx",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      esModuleInterop: true,
      isolatedModules: true,
      resolveJsonModule: true,
      allowImportingTsExtensions: true,
      plugins: [{ name: "next" }],
    },
    include: ["next-env.d.ts", "**/*.ts", "**/*.tsx"],
    exclude: ["node_modules"],
  }),
  "app/layout.tsx":
    'import type { ReactNode } from "react";\n' +
    'export default ({ children }: { children: ReactNode }) => <html lang="en"><body>{children}</body></html>;\n',
  "app/page.tsx": "export default () => <p>the program's own page</p>;\n",
};

/** Returns the blocks of the page that name their file. */
function blocksOf(page) {
  const blocks = page.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm);
  return Object.fromEntries(Array.from(blocks, ([, file, text]) => [file, text]));
}

function run(command, args, options = {}) {
  process.stderr.write(`${command} ${args.join(" ")}\n`);
  const done = spawnSync(command, args, { cwd: folder, env, encoding: "utf8", ...options });
  if (done.status === 0) return done.stdout;
  throw new Error(`${command} ${args.join(" ")} ended with ${done.status}:\n${done.stdout}${done.stderr}`);
}

function install() {
  for (const file of ["package.json", "package-lock.json"])
    cpSync(join(ROOT, "test/frameworks/next", file), join(folder, file));
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
      cwd: join(ROOT, "packages/toolyard"),
    }),
  );
  // `npm ci` is not used, because it requires the compilers of all platforms in the lock file, and a registry may lack
  // some of them.
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", join(folder, filename)]);
}

function writeProgram() {
  const page = blocksOf(readFileSync(join(ROOT, "docs/guide/develop/frameworks.md"), "utf8"));
  const files = { ...FILES, "tools.ts": page["tools.ts"], "app/mcp/route.ts": page["app/mcp/route.ts"] };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

/** Calls the tool of the page with the official client, and returns the result. */
async function greet(url) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const client = new Client({ name: "next", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  const { content } = await client.callTool({ name: "greet", arguments: { name: "Radia" } });
  await client.close();
  return content[0].text;
}

function assertSame(what, got, wanted) {
  if (got !== wanted) throw new Error(`${what}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}.`);
  process.stderr.write(`ok: ${what}\n`);
}

async function check(port) {
  const url = `http://127.0.0.1:${port}`;
  assertSame("a client calls a tool through the route", await greet(url), "Hello, Radia!");
  const page = await fetch(url);
  assertSame("the program's own page", (await page.text()).includes("the program&#x27;s own page"), true);
  const refused = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://evil.example" },
    body: "{}",
  });
  assertSame("another site's page is refused", refused.status, 403);
}

let server;
try {
  install();
  writeProgram();
  const next = join(folder, "node_modules/next/dist/bin/next");
  run(process.execPath, [next, "build"]);
  const port = await freePort();
  server = spawn(process.execPath, [next, "start", "-p", String(port), "-H", "127.0.0.1"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ready = new Promise((resolve, reject) => {
    server.stdout.on("data", (chunk) => String(chunk).includes("Ready") && resolve());
    server.once("exit", () => reject(new Error("Next ended.")));
    setTimeout(() => reject(new Error(`Next is not ready within ${READY_MS / 1000} s.`)), READY_MS).unref();
  });
  await ready;
  await check(port);
} finally {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
