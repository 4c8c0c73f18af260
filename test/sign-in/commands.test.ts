// Commands of a user at a terminal: sign in and out, and list the stored values.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type AuthServer, startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { Home } from "./harness.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const MAIN = pathOf("../../packages/toolyard/dist/cli/main.js");
const BROWSER = `${process.execPath} ${pathOf("../conformance/headless-browser.mjs")}`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns a function that runs commands in a home with these servers in its hub. */
function terminal(home: Home, servers: Readonly<Record<string, string>>): (...args: string[]) => Promise<Ran> {
  const config = join(home.folder, "toolyard.toml");
  const tables = Object.entries(servers).map(
    ([alias, url]) => `[[mcp.remote_servers]]\nalias = "${alias}"\nurl = ${JSON.stringify(url)}\n`,
  );
  writeFileSync(config, tables.join("\n"));
  const env = { ...process.env, TOOLYARD_HOME: home.folder, BROWSER, NO_COLOR: "1" };
  return (...args) =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [MAIN, ...args, "--config", config], { env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    });
}

const showsNone = (auth: AuthServer, { stdout, stderr }: Ran): void => {
  for (const secret of auth.secrets) expect(`${stdout}${stderr}`).not.toContain(secret);
};

test("`login` without a name asks for the server, and `--all` signs in to each server that requires it", async () => {
  await using auth = await startAuthServer();
  await using first = await startProtected(auth);
  await using second = await startProtected(auth);
  await using open = await startProtected(auth, { guards: () => false });
  await using home = new Home();
  const toolyard = terminal(home, { first: first.url, second: second.url, open: open.url });
  const unsure = await toolyard("login");
  expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringContaining("first, second. Name one, or take --all")]);
  const all = await toolyard("login", "--all");
  expect([all.code, all.stdout.match(/Signed in to \w+/g)]).toEqual([0, ["Signed in to first", "Signed in to second"]]);
  expect((await toolyard("login")).stdout).toBe("No server requires a sign-in.\n");
});

test("`check` names the `login` command for a server that requires a sign-in, and not after the sign-in", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const toolyard = terminal(home, { far: server.url });
  const before = await toolyard("check");
  expect([before.code, before.stdout]).toEqual([4, expect.stringContaining("toolyard login far")]);
  expect((await toolyard("login", "far")).code).toBe(0);
  const after = await toolyard("check");
  expect([after.code, after.stdout]).toEqual([0, expect.not.stringContaining("toolyard login")]);
  showsNone(auth, after);
});

test("`logout` revokes the token at its issuer, and a call requires a sign-in again", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const toolyard = terminal(home, { far: server.url });
  await toolyard("login", "far");
  expect((await toolyard("logout", "far")).stdout).toBe("Signed out of far; its token is taken back.\n");
  const call = await toolyard("call", "far__sign_in");
  expect([call.code, call.stderr]).toEqual([4, expect.stringContaining("toolyard login far")]);
  const again = await toolyard("logout", "far");
  expect([again.code === 0, again.stderr]).toEqual([false, expect.stringContaining("No user is signed in to `far`.")]);
});

test("`vault` lists and exports names without values, and forgets named entries", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const toolyard = terminal(home, { far: server.url });
  expect((await toolyard("vault", "list")).stdout).toBe("The vault is empty.\n");
  await toolyard("login", "far");
  const listed = await toolyard("vault", "list");
  expect(listed.stdout).toMatch(/far +\S+ +http:\S+ +signed in/);
  const exported = await toolyard("vault", "export");
  expect(JSON.parse(exported.stdout)).toMatchObject({ signIns: [{ source: "far", state: "signed in", renews: true }] });
  for (const shown of [listed, exported]) showsNone(auth, shown);
  expect((await toolyard("vault", "rm", "near")).stderr).toContain('The vault holds nothing for "near"');
  expect((await toolyard("vault", "rm", "far")).code).toBe(0);
  expect((await toolyard("vault", "list")).stdout).toBe("The vault is empty.\n");
});
