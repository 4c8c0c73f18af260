// The console below a base path, with workers, and behind a proxy that adds a path; and the modules that it loads.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { MAIN } from "../fixtures/served-hub.ts";
import { ServeChild } from "../support/serve-child.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

const TOKENS = { ops: { token: "t-ops" } };

/** Starts a proxy that serves a hub below `/outer`. */
async function startProxy(target: string): Promise<Server> {
  const { port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? "/").replace(/^\/outer/, "");
    const headers = {
      ...incoming.headers,
      "x-forwarded-host": incoming.headers.host,
      "x-forwarded-proto": "http",
      "x-forwarded-for": "127.0.0.1",
    };
    const forwarded = request({ port, host: "127.0.0.1", path, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    outgoing.on("close", () => forwarded.destroy());
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the console in Chromium at other addresses", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await startChromium()));
  afterAll(() => browser.close());

  /** Signs in at an address, goes through views, and returns the last call that the hub has recorded. */
  async function use(root: string): Promise<JsonObject> {
    const { page, faults } = await openPage(browser, `${root}/`);
    await page.getByLabel("Token").fill("t-ops");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".live.on").waitFor();
    expect(page.url()).toMatch(new RegExp(`^${root}/console/`));
    for (const view of ["sources", "settings", "users", "calls"]) {
      await page.goto(`${root}/console/#/${view}`);
      await expect.poll(() => page.locator("main").textContent()).not.toContain("Loading …");
    }
    await page.goto(`${root}/console/#/tools/meta.ping`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { name: "Result" }).waitFor();
    expect(faults).toEqual([]);
    const headers = { authorization: "Bearer t-ops" };
    const answer = await fetch(`${root}/api/admin/calls?tool=ping&limit=1`, { headers });
    await page.context().close();
    return ((await answer.json()) as { calls: readonly JsonObject[] }).calls[0]!;
  }

  test("the console works below a base path with two workers", async () => {
    await using hub = await ServeChild.start({
      config: { server: { tokens: TOKENS } },
      args: ["--workers", "2", "--base-path", "/yard"],
    });
    expect(await use(hub.url.replace(/\/mcp$/, ""))).toMatchObject({ endpoint: "console", outcome: "ok" });
  });

  test("the console works behind a proxy that adds a path", async () => {
    const config = { server: { tokens: TOKENS, trusted_proxy: ["127.0.0.1"] } };
    await using hub = await ServeChild.start({ config, args: ["--base-path", "/yard"] });
    const proxy = await startProxy(hub.url);
    try {
      const { port } = proxy.address() as AddressInfo;
      const last = await use(`http://127.0.0.1:${port}/outer/yard`);
      expect(last).toMatchObject({ endpoint: "console", outcome: "ok" });
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

/**
 * Modules of the console, except its options and those that every hub needs to decide whether it is served: the bundle
 * has them in the file of all endpoints.
 */
const CONSOLE_MODULES =
  /\/dist\/(?:chunks\/)?features\/console\/(?!(?:options|feature|paths|services|recording|home-redirect)\b)/;
const PAGE_FILES = /\/dist\/console\//;

/** Serves a hub, sends requests, and resolves with the modules that it has loaded and the statuses. */
async function loadsWith(
  config: string,
  paths: readonly string[],
): Promise<{ readonly statuses: readonly number[]; readonly loads: readonly string[] }> {
  const home = await mkdtemp(join(tmpdir(), "toolyard-loads-"));
  const file = join(home, "toolyard.toml");
  await writeFile(file, `[server]\nport = 0\n${config}`);
  const hook = new URL("../../bench/lib/trace-loads.mjs", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", hook, MAIN, "serve", "--config", file], {
    env: { ...process.env, TOOLYARD_HOME: home },
    cwd: home,
  });
  const closed = once(child, "close");
  let output = "";
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.on("exit", () => reject(new Error(output)));
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on("line", (line) => {
          output += `${line}\n`;
          const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
          if (found !== undefined) resolve(found);
        });
    });
    const statuses: number[] = [];
    for (const path of paths) {
      const answer = await fetch(`${url}${path}`, { redirect: "manual" });
      await answer.text();
      statuses.push(answer.status);
    }
    return { statuses, loads: output.split("\n").filter((line) => line.startsWith("loads ")) };
  } finally {
    child.kill();
    await closed;
    await rm(home, { recursive: true, force: true, maxRetries: 20 });
  }
}

const PATHS = ["/api/tools", "/console/", "/api/admin/overview", "/console/sign-in"];

test("a hub without the console loads no part of it and answers nothing", async () => {
  const { statuses, loads } = await loadsWith("[console]\nenabled = false\n", PATHS);
  expect(statuses).toEqual([200, 404, 404, 404]);
  expect(loads.length).toBeGreaterThan(50);
  expect(loads.filter((line) => CONSOLE_MODULES.test(line) || PAGE_FILES.test(line))).toEqual([]);
}, 60_000);

test("a hub loads no part of the console while no browser opens it", async () => {
  const { statuses, loads } = await loadsWith("", ["/api/tools", "/"]);
  expect(statuses).toEqual([200, 200]);
  expect(loads.filter((line) => CONSOLE_MODULES.test(line) || PAGE_FILES.test(line))).toEqual([]);
}, 60_000);

test("a hub loads the console when a browser opens it", async () => {
  const { statuses, loads } = await loadsWith("", PATHS);
  expect(statuses).toEqual([200, 200, 200, 200]);
  const own = loads.filter((line) => CONSOLE_MODULES.test(line)).join("\n");
  for (const part of ["console-endpoint", "sessions", "overview"]) expect(own).toContain(part);
}, 60_000);
