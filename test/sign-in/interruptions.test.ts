// Interruptions: the process ends between receiving a token and storing it, or the hub ends during a sign-in.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { dataFolder } from "../../packages/toolyard/src/core/data-folder.ts";
import { vaultFolder } from "../../packages/toolyard/src/signin/vault-place.ts";
import { Vault } from "../../packages/toolyard/src/signin/vault.ts";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { openTarget } from "../security/attack.ts";
import { echo, Home, noting, says } from "./harness.ts";

const MAIN = fileURLToPath(new URL("../../packages/toolyard/dist/cli/main.js", import.meta.url));
const BROWSER = fileURLToPath(new URL("../conformance/headless-browser.mjs", import.meta.url));

test("after a process was killed before storing a token, one sign-in is enough, and the file is valid", async () => {
  await using auth = await startAuthServer({ lifetime: 0 });
  await using server = await startProtected(auth);
  await using home = new Home();
  const config = join(home.folder, "toolyard.toml");
  writeFileSync(config, `[[mcp.remote_servers]]\nalias = "far"\nurl = ${JSON.stringify(server.url)}\n`);
  const env = { ...process.env, TOOLYARD_HOME: home.folder, BROWSER: `${process.execPath} ${BROWSER}` };
  const toolyard = (...args: string[]) => spawn(process.execPath, [MAIN, ...args, "--config", config], { env });
  expect((await once(toolyard("login", "far"), "exit"))[0]).toBe(0);
  const child = toolyard("call", "far__echo", "text=in");
  const exited = once(child, "exit");
  // The old token is used up at the issuer, and the new one never arrives.
  auth.switches.before = async () => {
    auth.switches.before = () => Promise.resolve();
    child.kill("SIGKILL");
    await exited;
  };
  expect((await exited)[1]).toBe("SIGKILL");
  const folder = vaultFolder(dataFolder({ TOOLYARD_HOME: home.folder }));
  const aside: string[] = [];
  const vault = new Vault({ folder, variables: {} }, (path) => void aside.push(path));
  expect((await vault.all()).map(({ source }) => source)).toEqual(["far"]);
  expect(aside).toEqual([]);
  auth.switches.lifetime = 3600;
  const notifications: string[] = [];
  const provider = home.open({ url: server.url }, { logger: noting(notifications), folder });
  for (let round = 0; round < 3; round += 1)
    await expect(provider.refresh!(AbortSignal.timeout(30_000))).rejects.toThrow(/Sign in with `toolyard login/);
  expect(provider.status().state).toBe("needs_authorisation");
  expect(notifications.filter((line) => line.includes('"level":"warning"'))).toEqual([
    expect.stringContaining("The sign-in has ended. Sign in with `toolyard login far`."),
  ]);
  expect((await once(toolyard("login", "far"), "exit"))[0]).toBe(0);
  await expect.poll(() => echo(provider, "in"), { timeout: 30_000 }).toMatchObject(says("in"));
  expect(auth.authorized).toHaveLength(2);
  expect((await once(toolyard("call", "far__echo", "text=in"), "exit"))[0]).toBe(0);
});

test("a hub that ended during a sign-in keeps nothing of it, and the next sign-in succeeds", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  const settings = { mcp: { remote_servers: [{ alias: "far", url: server.url }] } };
  let back = "";
  let cookie = "";
  const begin = async (port: number): Promise<void> => {
    const body = new URLSearchParams({ source: "far" });
    const sent = await fetch(`http://127.0.0.1:${port}/sign-in`, { method: "POST", body, redirect: "manual" });
    cookie = sent.headers.get("set-cookie")!.split(";")[0]!;
    back = (await fetch(sent.headers.get("location")!, { redirect: "manual" })).headers.get("location")!;
  };
  {
    await using first = await openTarget(settings);
    await begin(first.port);
  }
  await using second = await openTarget(settings);
  const old = new URL(back);
  old.port = String(second.port);
  expect((await fetch(old, { headers: { cookie } })).status).toBe(400);
  expect(auth.asked).toEqual([]);
  await begin(second.port);
  expect((await fetch(back, { headers: { cookie } })).status).toBe(200);
});
