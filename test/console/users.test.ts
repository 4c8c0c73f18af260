// Users, clients, callers and profiles in the console of a hub with its own authorization server.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { addUser, clientOf, PASSWORD, Visitor } from "../auth/builtin-yard.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { adminApi } from "./admin-api.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium, type OpenPage } from "./browser.ts";

const SETTINGS = {
  auth: { modes: ["builtin", "tokens"], builtin: {} },
  server: {
    tokens: { ops: { token: "t-ops" }, viewer: { token: "t-viewer" }, one: { token: "t-one", allow: ["none"] } },
  },
  console: { admins: ["token:ops", "user:Ann"] },
  roles: {
    dev: { members: { groups: ["dev"] } },
    named: { members: { users: ["Ann", "Bob"] } },
    reader: { read_only: true, members: { groups: ["readers"] } },
  },
  profiles: {
    small: { title: "Small <b>tools</b>", tools: ["search*"], roles: ["dev"], instructions: "Be \u202eshort." },
    all: { deny: ["execute_code"] },
  },
};

/** The hub looks a token up again after a second. */
const LOOK_UP = { timeout: 10_000 };

let toy: ToyHub;
beforeAll(async () => {
  toy = await ToyHub.open(FEATURES, SETTINGS);
  await addUser(toy.home, "Ann", ["dev"]);
  await addUser(toy.home, "Bob");
}, 60_000);
afterAll(() => toy[Symbol.asyncDispose]());

const ask = adminApi(() => toy.served.address.url);
async function userNamed(name: string): Promise<JsonObject | undefined> {
  const { users } = (await ask("users")) as { users: JsonObject[] };
  return users.find((user) => user["name"] === name);
}

interface UserSession {
  /** Returns the status of a request with the session. */
  readonly status: () => Promise<number>;
  readonly remove: (name: string) => Promise<number>;
}

/** Signs a user in to the console, with the password if it is given. */
async function signIn(name: string, password = PASSWORD): Promise<UserSession> {
  let [cookie, key] = ["", ""];
  const outside = async (url: URL, init: RequestInit): Promise<Response> => {
    const answer = await fetch(url, init);
    key = /#key=([\w-]+)$/.exec(answer.headers.get("location") ?? "")?.[1] ?? key;
    cookie =
      answer.headers
        .getSetCookie()
        .find((one) => /^toolyard_console_\d+=/.test(one))
        ?.split(";")[0] ?? cookie;
    return answer;
  };
  const visitor = new Visitor(Object.assign(Object.create(toy) as ToyHub, { served: toy.served, outside }));
  const consent = await visitor.login(await visitor.open("/api/admin/sign-in?by=hub"), name, password);
  await visitor.submit(consent, { action: "allow" });
  const headers = (): Record<string, string> => ({ cookie, "x-toolyard-console": key });
  return {
    status: async () => (await toy.fetch("/api/admin/session", { headers: headers() })).status,
    remove: async (user) =>
      (await toy.fetch(`/api/admin/users/${user}`, { method: "DELETE", headers: headers() })).status,
  };
}

describe("the API", () => {
  test("lists users with their groups and roles, and never a hash", async () => {
    expect(await userNamed("Ann")).toMatchObject({ groups: ["dev"], roles: ["dev", "named"], isAdmitted: true });
    expect(await userNamed("Bob")).toMatchObject({ groups: [], roles: ["named"], hasPassword: true, isYou: false });
    expect(JSON.stringify(await ask("users"))).not.toContain("scrypt");
  });

  test("adds a user with a generated password, with which the user signs in", async () => {
    const added = await ask("users", { body: { name: "Cleo", groups: ["dev"] } });
    expect(added).toMatchObject({ http: 200, password: expect.stringMatching(/^[\w-]{20}$/) });
    expect(await (await signIn("Cleo", String(added["password"]))).status()).toBe(200);
  });

  test("shows a user without a role as not admitted", async () => {
    await ask("users", { body: { name: "Dan" } });
    expect(await userNamed("Dan")).toMatchObject({ roles: [], isAdmitted: false });
  });

  test.each([
    [{ name: "" }, 422],
    [{ name: "Ann" }, 422],
    [{ name: "a/b" }, 422],
    [{ name: "x".repeat(65) }, 422],
    [{ name: "short", password: "short" }, 422],
    [{ name: "long", password: "x".repeat(257) }, 422],
    [{ name: "groups", groups: "dev" }, 422],
    [{ name: "groups", groups: [1] }, 422],
    [{ name: "groups", groups: ["a\u0000b"] }, 422],
    [{ name: "groups", groups: Array.from({ length: 101 }, String) }, 422],
  ])("refuses the new user %j with %d", async (body, http) => {
    expect(await ask("users", { body })).toMatchObject({ http, error: { message: expect.any(String) } });
  });

  test("ends all sessions of a user with a new password, and accepts only the new one", async () => {
    await ask("users", { body: { name: "Eve", groups: ["dev"], password: PASSWORD } });
    const before = await signIn("Eve");
    expect(await before.status()).toBe(200);
    const { password } = await ask("users/Eve/password", { body: {} });
    await expect.poll(() => before.status(), LOOK_UP).toBe(401);
    expect(await (await signIn("Eve", String(password))).status()).toBe(200);
  });

  test("revokes all sessions of a user and none of another one", async () => {
    const [ann, bob] = [await signIn("Ann"), await signIn("Bob")];
    expect(await ask("users/Bob/sign-out", { body: {} })).toMatchObject({ http: 200 });
    await expect.poll(() => bob.status(), LOOK_UP).toBe(401);
    expect(await ann.status()).toBe(200);
  });

  test("ends the session of a removed user, and does not let users remove themselves", async () => {
    await ask("users", { body: { name: "Finn", groups: ["dev"], password: PASSWORD } });
    const finn = await signIn("Finn");
    const ann = await signIn("Ann");
    expect(await ann.remove("Ann")).toBe(409);
    expect(await ann.remove("Finn")).toBe(200);
    await expect.poll(() => finn.status(), LOOK_UP).toBe(401);
    expect(await ann.status()).toBe(200);
    expect(await userNamed("Finn")).toBeUndefined();
  });

  test.each(["t-viewer", "t-one"])("refuses all requests about users with the token %s", async (token) => {
    for (const [method, path] of [
      ["GET", "users"],
      ["POST", "users"],
      ["POST", "users/Bob/password"],
      ["POST", "users/Bob/sign-out"],
      ["DELETE", "users/Bob"],
      ["DELETE", "clients/x"],
    ] as const)
      expect(await ask(path, { method, token }), path).toMatchObject({ http: 403 });
  });

  test.each(["users/nobody", "clients/nobody"])("answers 404 for the removal of %s", async (path) => {
    expect(await ask(path, { method: "DELETE" })).toMatchObject({ http: 404 });
  });

  test("lists and removes registered clients", async () => {
    const id = await clientOf(toy, { client_name: "Old client" });
    const ids = async (): Promise<unknown[]> =>
      ((await ask("users"))["clients"] as JsonObject[]).map((client) => client["id"]);
    expect(await ids()).toContain(id);
    expect(await ask(`clients/${encodeURIComponent(id)}`, { method: "DELETE" })).toMatchObject({ http: 200 });
    expect(await ids()).not.toContain(id);
  });

  test("shows what a profile contains and how to connect, to callers without narrowed rights only", async () => {
    const { tools, clients } = (await ask("profiles/small")) as { tools: string[]; clients: JsonObject[] };
    const all = (await ask("profiles/all"))["tools"] as string[];
    expect(tools).not.toContain("execute_code");
    expect(all.length).toBeGreaterThan(tools.length);
    expect(all).not.toContain("execute_code");
    expect(JSON.stringify(clients)).toContain("/mcp/small");
    expect(JSON.stringify(clients)).not.toContain("t-ops");
    expect(await ask("profiles/none")).toMatchObject({ http: 404 });
    expect(await ask("profiles/small", { token: "t-one" })).toMatchObject({ http: 403 });
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the views in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  const root = (): string => toy.served.address.url;
  const as = (token: string, view: string): Promise<OpenPage> =>
    openPage(browser, `${root()}/console/#/${view}`, { extraHTTPHeaders: { authorization: `Bearer ${token}` } });
  beforeAll(async () => {
    browser = await startChromium();
    opened = await as("t-ops", "users");
    await opened.page.locator(".live.on").waitFor();
  }, 60_000);
  afterAll(() => browser.close());

  test("a user is added, gets a new password, and is removed", async () => {
    const { page } = opened;
    const form = page.getByRole("form", { name: "Add a user" });
    await form.getByLabel("Name").fill("Gina");
    await form.getByLabel(/^Groups/).fill("dev, readers");
    await page.keyboard.press("Enter");
    const first = await page.locator(".done code").textContent();
    const row = page.getByRole("row", { name: /^Gina/ });
    await row.getByText("dev, readers").waitFor();
    await row.getByText("dev, reader", { exact: true }).waitFor();
    expect(await userNamed("Gina")).toMatchObject({ groups: ["dev", "readers"], roles: ["dev", "reader"] });
    expect(await (await signIn("Gina", String(first))).status()).toBe(200);
    await row.getByRole("button", { name: "New password" }).click();
    await page.getByText("Gina has another password").waitFor();
    const second = await page.locator(".done code").textContent();
    expect(second).not.toBe(first);
    await row.getByRole("button", { name: "Remove" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Removed the user Gina.").waitFor();
    await expect.poll(() => row.count()).toBe(0);
    expect(await userNamed("Gina")).toBeUndefined();
  });

  test("a refused user is shown with the reason, and a client with a hostile name is removed", async () => {
    await clientOf(toy, { client_name: "<img src=x onerror='globalThis.__attacked=1'>\u202e" });
    const { page, faults } = await as("t-ops", "users");
    const form = page.getByRole("form", { name: "Add a user" });
    await form.getByLabel("Name").fill("Ann");
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByRole("alert").getByText("There is a user `Ann` already.").waitFor();
    const row = page.getByRole("row", { name: /<img src=x/ });
    await row.getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => row.count()).toBe(0);
    expect((await ask("users"))["clients"]).toEqual([]);
    expect(await page.evaluate(() => "__attacked" in globalThis)).toBe(false);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("a caller that is no administrator sees the callers and no user", async () => {
    const { page } = await as("t-viewer", "users");
    await page.getByText("Only administrators of the console").waitFor();
    await page.getByRole("row", { name: /^viewer/ }).waitFor();
    expect(await page.getByText("Bob").count()).toBe(0);
    await page.context().close();
  });

  test("a profile is opened, and shows its address, rights, tools and the entry of a client", async () => {
    const { page } = opened;
    await page.goto(`${root()}/console/#/profiles`);
    await page.getByRole("link", { name: "small" }).click();
    const detail = page.getByRole("region", { name: "small" });
    await detail.getByRole("heading", { name: "Small <b>tools</b>" }).waitFor();
    await detail.getByText(`${root()}/mcp/small`).first().waitFor();
    const { tools } = (await ask("profiles/small")) as { tools: string[] };
    await detail.getByText(`Tools (${tools.length})`).waitFor();
    await detail.getByLabel("Client").selectOption({ label: "Cursor" });
    await detail.locator("pre", { hasText: "/mcp/small" }).waitFor();
    expect(await detail.locator("pre").textContent()).not.toContain("t-ops");
  });

  test("axe-core finds no serious problem, also on a phone, and texts can be German or French", async () => {
    const { page } = opened;
    for (const view of ["users", "profiles/small"]) {
      await page.goto(`${root()}/console/#/${view}`);
      await page.locator("table").first().waitFor();
      expect(await auditPage(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    await page.goto(`${root()}/console/#/users`);
    for (const [language, word] of [
      ["de", "Benutzer"],
      ["fr", "Utilisateurs"],
    ] as const) {
      await page.getByLabel(/Language|Sprache|Langue/).selectOption(language);
      await page.getByRole("heading", { name: word, level: 1 }).waitFor();
    }
    expect(opened.faults).toEqual([]);
  });
});
