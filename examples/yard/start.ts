// Serves the yard: starts the everything server on Streamable HTTP on a free port, then the hub over it and the rest.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function startEverything(): Promise<{ child: ChildProcess; url: string }> {
  const port = await freePort();
  const script = path("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const child = spawn(process.execPath, [script, "streamableHttp"], { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
  return { child, url: `http://127.0.0.1:${port}/mcp` };
}

mkdirSync(path("data"), { recursive: true });
const everything = await startEverything();
const hub = spawn(process.execPath, [path("../../dist/cli/main.js"), "serve", "--config", path("toolyard.toml"), ...process.argv.slice(2)], {
  env: { ...process.env, YARD_REMOTE_URL: everything.url },
  stdio: "inherit",
});

// Ctrl+C reaches the hub by itself; a signal sent to this process alone is handed on, and twice is once. The hub ends its children.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void hub.kill(signal));
process.once("exit", () => everything.child.kill("SIGKILL"));

const [code] = (await once(hub, "exit")) as [number | null];
everything.child.kill();
if (everything.child.exitCode === null && everything.child.signalCode === null) await once(everything.child, "exit");
process.exit(code ?? 1);
