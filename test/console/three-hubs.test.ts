// The console of three hubs with workers that share a store, behind HAProxy without affinity: each request goes to
// another hub. The user of the hubs has the documented commands of the store only, for tasks those of the guide.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_HAPROXY, HaProxy } from "../cluster/haproxy.ts";
import { Cluster } from "../cluster/hub-process.ts";
import { documentedUser } from "../cluster/redis-deployments.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

const SERVER = fileURLToPath(new URL("content-server.mjs", import.meta.url));
/** Hosts that the pages of the tools name. Nothing listens there. */
const NO_HOST = "http://127.0.0.1:1";
const APP = fileURLToPath(new URL("app-server.mjs", import.meta.url));
const CONFIG = {
  server: { workers: 2, tokens: { ops: { token: "t-ops" }, other: { token: "t-other" } } },
  console: { admins: ["token:ops"] },
  mcp: {
    stdio_servers: {
      content: { command: [process.execPath, SERVER, "1"] },
      apps: { command: [process.execPath, APP, NO_HOST, NO_HOST] },
    },
  },
};

let redis: RedisServer;
let cluster: Cluster;
let proxy: HaProxy;
beforeAll(async () => {
  if (!HAS_REDIS || !HAS_HAPROXY) return;
  redis = await RedisServer.start({ args: documentedUser("toolyard:") });
  const store = { url: redis.url.replace("//", "//hub:secret@") };
  cluster = await Cluster.start({ hubs: 3, store, config: CONFIG });
  proxy = await HaProxy.start(
    cluster.folder,
    cluster.hubs.map(({ port }) => port),
  );
}, 90_000);
beforeEach(({ skip }) => {
  skip(!HAS_REDIS, "Redis is not on this machine");
  skip(!HAS_HAPROXY, "HAProxy is not on this machine");
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

const urls = (): readonly string[] => cluster.hubs.map(({ url }) => url);

interface BrowserCookies {
  readonly cookie: string;
  readonly "x-toolyard-console": string;
}

/** Opens a session at an address. */
async function signIn(url: string, body: Record<string, string> = { token: "t-ops" }): Promise<BrowserCookies> {
  const response = await fetch(`${url}/api/admin/session`, {
    method: "POST",
    body: new URLSearchParams(body),
    redirect: "manual",
  });
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const key = /#key=([\w-]+)/.exec(response.headers.get("location") ?? "")?.[1] ?? "";
  return { cookie, "x-toolyard-console": key };
}

async function ask(url: string, path: string, headers: object, init: RequestInit = {}): Promise<JsonObject> {
  const response = await fetch(`${url}/api/admin/${path}`, {
    ...init,
    headers: { ...headers } as Record<string, string>,
  });
  return { ...((await response.json()) as JsonObject), http: response.status };
}

/** Returns all keys of the store, and the values of those that are texts. */
async function storedText(): Promise<string> {
  const client = new Redis(redis.url);
  const keys = await client.keys("*");
  const values = await Promise.all(keys.map((key) => client.get(key).catch(() => "")));
  client.disconnect();
  return [...keys, ...values].join("\n");
}

/** Returns the ids of the hubs, in the order of their processes. */
const hubIds = (): Promise<readonly string[]> =>
  Promise.all(urls().map(async (url) => String((await ask(url, "session", { authorization: "Bearer t-ops" }))["hub"])));

describe("sessions of several hubs", () => {
  test("are valid at each hub with cookie and key, and at none with one of them", async () => {
    const browser = await signIn(proxy.url);
    const other = await signIn(proxy.url);
    for (let at = 0; at < 6; at += 1) {
      expect((await ask(proxy.url, "session", browser))["by"]).toBe("session");
      expect((await ask(proxy.url, "session", { cookie: browser.cookie }))["http"]).toBe(401);
      const mixed = { ...browser, "x-toolyard-console": other["x-toolyard-console"] };
      expect((await ask(proxy.url, "session", mixed))["http"]).toBe(401);
    }
  });

  test("end at all hubs when the user signs out at one", async () => {
    const browser = await signIn(proxy.url);
    await ask(proxy.url, "session", browser, { method: "DELETE" });
    for (let at = 0; at < 3; at += 1) expect((await ask(proxy.url, "session", browser))["http"]).toBe(401);
  });

  test("are begun once with a link, at any hub", async () => {
    const link = await ask(urls()[0]!, "links", { authorization: "Bearer t-ops" }, { method: "POST" });
    const code = /#code=(.+)$/.exec(String(link["url"]))![1]!;
    const used = await Promise.all(
      urls().map((url) => fetch(`${url}/api/admin/session`, { method: "POST", body: new URLSearchParams({ code }) })),
    );
    expect(used.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
  });

  test("leave neither tokens nor cookies in the store", async () => {
    const browser = await signIn(proxy.url);
    const stored = await storedText();
    expect(stored).toContain("{console:sessions}");
    for (const secret of ["t-ops", browser.cookie.split("=")[1]!, browser["x-toolyard-console"]])
      expect(stored).not.toContain(secret);
  });

  test("accept no request of another site, at each hub", async () => {
    const browser = await signIn(proxy.url);
    const foreign = { ...browser, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    for (let at = 0; at < 3; at += 1)
      expect((await ask(proxy.url, "sources/content/restart", foreign, { method: "POST" }))["http"]).toBe(403);
  });
});

describe("requests for a chosen hub", () => {
  const admin = { authorization: "Bearer t-ops" };
  const at = (hub: string, headers: object = admin): object => ({ ...headers, "x-toolyard-console-hub": hub });

  test("are answered by that hub, whichever hub receives them", async () => {
    for (const id of await hubIds())
      for (const url of urls()) {
        expect((await ask(url, "session", at(id)))["hub"]).toBe(id);
        const { hubs } = (await ask(url, "hubs", at(id))) as { hubs: readonly JsonObject[] };
        expect([hubs.length, hubs[0]!["id"], hubs.every((hub) => hub["isDifferent"] === false)]).toEqual([3, id, true]);
      }
  });

  test("restart a source of that hub only", async () => {
    const pids = (): Promise<readonly unknown[]> =>
      Promise.all(urls().map(async (url) => (await ask(url, "sources/content", admin))["pid"]));
    await expect.poll(async () => (await pids()).every((pid) => typeof pid === "number")).toBe(true);
    const before = await pids();
    const [, second] = await hubIds();
    const answer = await ask(urls()[0]!, "sources/content/restart", at(second!), { method: "POST" });
    expect(answer).toMatchObject({ http: 200, done: true });
    await expect.poll(async () => (await pids())[1]).not.toBe(before[1]);
    await expect.poll(async () => typeof (await pids())[1]).toBe("number");
    expect([(await pids())[0], (await pids())[2]]).toEqual([before[0], before[2]]);
  });

  test("keep the rights of the caller, and are refused before they are passed on", async () => {
    const [first] = await hubIds();
    const other = { authorization: "Bearer t-other" };
    for (const url of urls()) {
      const refused = await ask(url, "sources/content/restart", at(first!, other), { method: "POST" });
      expect([refused["http"], (refused["error"] as JsonObject)["kind"]]).toEqual([403, "denied"]);
      expect((await ask(url, "overview", at(first!, {})))["http"]).toBe(401);
    }
  });

  test("are answered with 410 if there is no such hub", async () => {
    for (const id of ["hub-gone-1", "../x", "*", "{x}", "x".repeat(1000)])
      expect((await ask(urls()[0]!, "overview", at(id)))["http"], id).toBe(410);
  });

  test("follow the events of that hub, and stop when the session ends", async () => {
    const [, , third] = await hubIds();
    const browser = await signIn(proxy.url);
    const response = await fetch(`${proxy.url}/api/admin/events?topics=calls`, {
      headers: { ...at(third!, browser) } as Record<string, string>,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The stream ended: ${text}`);
        text += value;
      }
    };
    await until(/event: hello/);
    for (const url of urls())
      await ask(
        url,
        `tools/meta.ping`,
        { ...admin, "content-type": "application/json" },
        { method: "POST", body: "{}" },
      );
    await until(/event: call/);
    expect(text.match(/^event: call$/gm)).toHaveLength(1);
    await ask(proxy.url, "session", browser, { method: "DELETE" });
    const ended = await (async () => {
      for (;;) if ((await reader.read()).done) return true;
    })().catch(() => true);
    expect(ended).toBe(true);
  });
});

test("no hub was refused a command of the store", () => {
  for (const { log } of cluster.hubs) expect(log).not.toContain("The shared store refused");
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the page in Chromium behind the balancer", () => {
  let browser: Browser;
  beforeAll(async () => {
    if (!HAS_REDIS || !HAS_HAPROXY) return;
    const client = new Redis(redis.url);
    await client.call("ACL", "SETUSER", "hub", "+@all", "-@dangerous");
    client.disconnect();
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  async function open(): ReturnType<typeof openPage> {
    const opened = await openPage(browser, `${proxy.url}/`);
    await opened.page.getByLabel("Token").fill("t-ops");
    await opened.page.getByRole("button", { name: "Sign in" }).click();
    await opened.page.locator(".live.on").waitFor();
    return opened;
  }

  test("shows one hub in every view, runs a tool, and changes the hub with the selector", async () => {
    const { page, faults } = await open();
    const choice = page.locator(".hub select");
    await expect.poll(() => choice.locator("option").count()).toBe(3);
    const [shown, other] = [await choice.inputValue(), (await hubIds()).at(-1)!];
    expect(await hubIds()).toContain(shown);
    for (const view of ["sources", "users", "logs", "tasks", "profiles", "calls", "sign-ins"]) {
      await page.goto(`${proxy.url}/console/#/${view}`);
      await expect.poll(() => page.locator("main").textContent()).not.toContain("Loading …");
      expect(await page.getByRole("alert").count(), view).toBe(0);
    }
    await page.goto(`${proxy.url}/console/#/tools/meta.ping`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { name: "Result" }).waitFor();
    await choice.selectOption(other);
    await expect.poll(() => page.locator(".hub select").inputValue()).toBe(other);
    await page.locator(".live.on").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("disables and enables a source, and saves settings, of the shown hub only, and says so", async () => {
    const { page, faults } = await open();
    const choice = page.locator(".hub select");
    await expect.poll(() => choice.locator("option").count()).toBe(3);
    const index = (await hubIds()).indexOf(await choice.inputValue());
    const files = (): Promise<readonly string[]> =>
      Promise.all([0, 1, 2].map((at) => readFile(`${cluster.folder}/hub-${at}.toml`, "utf8")));
    const before = await files();
    await page.goto(`${proxy.url}/console/#/sources/content`);
    const port = new URL(urls()[index]!).port;
    expect(await page.getByRole("note").textContent()).toMatch(
      new RegExp(`apply to the hub .*:${port} .* only. 2 other`),
    );
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("button", { name: "Enable" }).waitFor();
    const disabled = await files();
    for (const at of [0, 1, 2]) expect(disabled[at] === before[at], `hub ${at}`).toBe(at !== index);
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Disable" }).waitFor();
    await page.goto(`${proxy.url}/console/#/settings`);
    expect(await page.getByRole("note").textContent()).toMatch(
      new RegExp(`file of the hub .*:${port} .* only. 2 other`),
    );
    await page.getByRole("textbox", { name: "Text of the file" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("shows the page of a tool, which one hub has", async () => {
    const { page } = await open();
    await page.goto(`${proxy.url}/console/#/tools/apps__show`);
    for (let round = 0; round < 3; round += 1) {
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await expect.poll(() => page.frames().filter((frame) => frame.url().includes("/console/app/")).length).toBe(1);
      await expect.poll(() => page.frames().at(-1)!.locator("body").textContent()).not.toContain("used or has expired");
      await page.reload();
    }
    await page.context().close();
  });

  test("shows another hub when the shown one ends", async () => {
    const { page } = await open();
    const choice = page.locator(".hub select");
    await expect.poll(() => choice.locator("option").count()).toBe(3);
    const shown = await choice.inputValue();
    const index = (await hubIds()).indexOf(shown);
    await cluster.hubs[index]!.stop();
    await expect.poll(() => choice.inputValue(), { timeout: 30_000 }).not.toBe(shown);
    await page.locator(".live.on").waitFor();
    await cluster.hubs[index]!.start();
    await page.context().close();
  }, 60_000);
});
