// Serves the yard: starts the everything server on Streamable HTTP on a free port, then the hub with this and other
// sources.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
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

const START_WITHIN_MS = 10_000;

async function startEverything(): Promise<{ child: ChildProcess; url: string }> {
  const port = await freePort();
  const script = path("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const child = spawn(process.execPath, [script, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  const isListening = new Promise<void>(
    (done) => void child.stderr!.on("data", (text) => String(text).includes("listening") && done()),
  );
  // The hub reports a server that does not start; the yard does not wait for it.
  await Promise.race([isListening, once(child, "exit"), setTimeout(START_WITHIN_MS, undefined, { ref: false })]);
  return { child, url: `http://127.0.0.1:${port}/mcp` };
}

mkdirSync(path("data"), { recursive: true });
let hub: ChildProcess | undefined;
// Ctrl+C also reaches the hub; a signal to this process is forwarded, and a repeated signal counts once. The hub ends
// its children.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => void (hub ? hub.kill(signal) : process.exit(130)));

const everything = await startEverything();
hub = spawn(
  process.execPath,
  [
    path("../../packages/toolyard/dist/cli/main.js"),
    "serve",
    "--config",
    path("toolyard.toml"),
    ...process.argv.slice(2),
  ],
  {
    env: { ...process.env, YARD_REMOTE_URL: everything.url },
    stdio: "inherit",
  },
);
const [code] = (await once(hub, "exit")) as [number | null];
everything.child.kill();
if (everything.child.exitCode === null && everything.child.signalCode === null) await once(everything.child, "exit");
process.exit(code ?? 1);
