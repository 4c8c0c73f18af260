// The example yard with a token, and with some calls, for pictures of its console.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const TOKEN = "picture-token-of-the-yard";
/** Folder that the pictures show instead of the temporary one. */
export const SHOWN_FOLDER = "/home/ada/yard";

/** Serves a copy of the yard. Its sources may still be starting. */
export async function startYard() {
  const home = mkdtempSync(join(tmpdir(), "toolyard-pictures-"));
  const folder = join(home, "examples/yard");
  cpSync(join(ROOT, "examples"), join(home, "examples"), { recursive: true });
  for (const name of ["node_modules", "packages"]) symlinkSync(join(ROOT, name), join(home, name));
  const loader = join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js");
  const args = ["--import", loader, join(folder, "start.ts"), "--port", "0", "--json", "-y"];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, TOOLYARD_HOME: join(home, "home"), TOOLYARD_SERVER_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const root = JSON.parse(line).url.replace(/\/mcp$/, "");
  const stop = async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
    rmSync(home, { recursive: true, force: true, maxRetries: 20 });
  };
  return { root, folder, stop };
}

/** Waits until no source is starting, and makes calls that succeed and fail. */
export async function useYard({ root }) {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const ask = async (path) => (await fetch(`${root}/api/admin/${path}`, { headers })).json();
  const until = Date.now() + 60_000;
  while ((await ask("sources")).sources.some(({ state }) => state === "starting") && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 200));
  for (const [tool, args] of CALLS)
    await fetch(`${root}/api/tools/${tool}`, { method: "POST", headers, body: JSON.stringify(args) });
}

const CALLS = [
  ["calculator", { operation: "multiply", a: 6, b: 7 }],
  ["everything__echo", { message: "Hello" }],
  ["everything__get-sum", { a: 2, b: 40 }],
  ["everything__get-sum", { a: "two", b: 40 }],
  ["files__list_allowed_directories", {}],
  ["files__read_text_file", { path: "/no/such/file" }],
  ["memory__read_graph", {}],
  ["everything__get-structured-content", { location: "Chicago" }],
  ["meta.ping", {}],
];
