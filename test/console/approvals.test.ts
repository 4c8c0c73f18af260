// Sign-ins and approvals in the console: real sign-in in Chromium, sign-out, rights, pinned definitions.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import type { LegacyServer } from "../fixtures/http-servers.ts";
import { ServeChild } from "../support/serve-child.ts";
import { adminApi } from "./admin-api.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium, type OpenPage } from "./browser.ts";

const SERVER = fileURLToPath(new URL("content-server.mjs", import.meta.url));
const HOSTILE = fileURLToPath(new URL("hostile-server.mjs", import.meta.url));
let auth: AuthServer;
let servers: LegacyServer[];
let hub: ServeChild;
let audit: string;
beforeAll(async () => {
  auth = await startAuthServer({ host: "localhost", asksPerson: true });
  servers = [await startProtected(auth), await startProtected(auth)];
  const [shared, personal] = servers.map(({ url }) => JSON.stringify(url));
  audit = join(await mkdtemp(join(tmpdir(), "toolyard-approvals-")), "audit.jsonl");
  const config = `
[audit]
file = ${JSON.stringify(audit)}
[server.tokens.ops]
token = "t-ops"
[server.tokens.one]
token = "t-one"
allow = ["personal__*"]
[server.tokens.other]
token = "t-other"
allow = ["content__*"]
[console]
admins = ["token:ops"]
[server.tokens.viewer]
token = "t-viewer"
[[mcp.remote_servers]]
alias = "shared"
url = ${shared}
[[mcp.remote_servers]]
alias = "personal"
url = ${personal}
credentials = "per-caller"
# Comment that stays.
[mcp.stdio_servers.content]
command = ${JSON.stringify(["node", SERVER, "1"])}
pins = { bump = "" } # its pins
[mcp.stdio_servers.hostile]
command = ${JSON.stringify(["node", HOSTILE, "0"])}
`;
  hub = await ServeChild.start({ config, args: ["-y"] });
}, 60_000);
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  for (const server of servers) await server[Symbol.asyncDispose]();
  await auth.stop();
  await rm(dirname(audit), { recursive: true });
});

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");
const ask = adminApi(rootOf);
async function signInOf(source: string, token?: string): Promise<JsonObject | undefined> {
  const { signIns } = (await ask("sign-ins", token === undefined ? {} : { token })) as { signIns: JsonObject[] };
  return signIns.find((row) => row["source"] === source);
}
async function approvals(): Promise<JsonObject[]> {
  return (await ask("approvals"))["approvals"] as JsonObject[];
}

async function approvalLines(): Promise<JsonObject[]> {
  const lines = (await readFile(audit, "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as JsonObject).filter(({ event }) => event === "approval");
}

describe("the API of sign-ins", () => {
  test("lists each source that users sign in to, and who may sign in", async () => {
    await expect.poll(async () => (await signInOf("shared"))?.["state"]).toBe("needs_authorisation");
    expect(await signInOf("shared")).toMatchObject({ isPersonal: false, isSignedIn: false, mayChange: true });
    expect(await signInOf("shared", "t-viewer")).toMatchObject({ mayChange: false });
    expect(await signInOf("personal", "t-viewer")).toMatchObject({ isPersonal: true, mayChange: true });
    expect(await signInOf("content")).toBeUndefined();
  });

  test("shows a caller with narrowed rights only the sources that it uses and signs in to itself", async () => {
    await expect.poll(async () => (await signInOf("personal", "t-one"))?.["isSignedIn"]).toBe(false);
    expect(await signInOf("shared", "t-one")).toBeUndefined();
    expect((await ask("sign-ins", { token: "t-other" }))["signIns"]).toEqual([]);
  });

  test.each([
    ["shared", "t-viewer", 403],
    ["shared", "t-one", 404],
    ["personal", "t-other", 404],
    ["content", "t-ops", 404],
    ["../sources", "t-ops", 404],
  ])("refuses a sign-in and a sign-out of %s with %s by status %d", async (source, token, http) => {
    const path = `sign-ins/${encodeURIComponent(source)}`;
    expect(await ask(path, { method: "POST", token })).toMatchObject({ http });
    expect(await ask(path, { method: "DELETE", token })).toMatchObject({ http });
  });

  test("answers a sign-out without a sign-in with 409", async () => {
    expect(await ask("sign-ins/personal", { method: "DELETE" })).toMatchObject({ http: 409 });
  });
});

describe("the API of approvals", () => {
  test("lists the pinned tool with its current definition", async () => {
    await expect.poll(async () => (await approvals()).length).toBe(1);
    expect((await approvals())[0]).toMatchObject({
      source: "content",
      tool: "bump",
      approved: "",
      digest: expect.stringMatching(/^2:/),
      isWithheld: true,
      definition: { name: "bump", inputSchema: {} },
    });
  });

  test.each(["", "2:other", 1, undefined])(
    "refuses to approve the digest %j, which is not the current one",
    async (digest) => {
      expect(await ask("approvals/content/bump", { body: { digest } })).toMatchObject({ http: 409 });
      expect(await readFile(hub.configFile, "utf8")).toContain('pins = { bump = "" } # its pins');
    },
  );

  test.each([
    ["t-viewer", "content/bump", 403],
    ["t-one", "content/bump", 403],
    ["t-ops", "content/other", 404],
    ["t-ops", "none/bump", 404],
  ])("refuses an approval of %s for %s by status %d", async (token, path, http) => {
    const { digest } = (await approvals())[0]!;
    expect(await ask(`approvals/${path}`, { body: { digest }, token })).toMatchObject({ http });
  });

  test("records refused requests in the audit, without a decision", async () => {
    const { digest } = (await approvals())[0]!;
    await ask("approvals/content/bump", { body: { digest }, token: "t-viewer" });
    await ask("approvals/content/bump", { body: { digest: "2:other" } });
    const common = { action: "definition", endpoint: "console", source: "content", target: "bump" };
    await expect
      .poll(async () => (await approvalLines()).slice(-2))
      .toMatchObject([
        { ...common, principal: "viewer", kind: "denied" },
        { ...common, principal: "ops", kind: "invalid_params" },
      ]);
    expect((await approvalLines()).filter((line) => "decision" in line)).toEqual([]);
  });

  test("records an approval in the audit with the administrator, the tool and the decision", async () => {
    const { digest } = (await approvals())[0]!;
    expect(await ask("approvals/content/bump", { body: { digest } })).toMatchObject({ http: 200 });
    await expect
      .poll(async () => (await approvalLines()).at(-1))
      .toMatchObject({ principal: "ops", action: "definition", target: "bump", decision: "approved", kind: "ok" });
    const text = await readFile(hub.configFile, "utf8");
    await writeFile(hub.configFile, text.replace(`bump = "${String(digest)}"`, 'bump = ""'));
    await expect.poll(async () => (await approvals()).length).toBe(1);
  });

  test("shows approvals to callers without narrowed rights only", async () => {
    expect(await ask("approvals", { token: "t-one" })).toMatchObject({ http: 403 });
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the views in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  const as = (token: string, view: string): Promise<OpenPage> =>
    openPage(browser, `${rootOf()}/console/#/${view}`, { extraHTTPHeaders: { authorization: `Bearer ${token}` } });
  beforeAll(async () => {
    browser = await startChromium();
    opened = await as("t-ops", "overview");
    await opened.page.locator(".live.on").waitFor();
  }, 60_000);
  afterAll(() => browser.close());

  async function signInBy(page: OpenPage["page"], source: string): Promise<void> {
    const [tab] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("region", { name: source }).getByRole("button", { name: "Sign in" }).click(),
    ]);
    await tab.getByRole("button", { name: "Allow" }).click();
    await tab.getByText(`Signed in to ${source}`).waitFor();
    await tab.close();
  }

  test("the overview links to the sign-ins, and an administrator signs in and out for all callers", async () => {
    const { page } = opened;
    await page.getByRole("link", { name: "shared: sign-in needed" }).click();
    const card = page.getByRole("region", { name: "shared" });
    await signInBy(page, "shared");
    await card.locator(".state.ready", { hasText: "signed in" }).waitFor();
    await card.locator("h2 .state.ready").waitFor();
    expect(await signInOf("shared")).toMatchObject({ isSignedIn: true, state: "ready", isRenewable: true });
    expect(JSON.stringify(await ask("sign-ins"))).not.toMatch(/acc3ss|r3fresh/);
    await card.getByRole("button", { name: "Sign out" }).click();
    await card.getByText("Its token was revoked.").waitFor();
    await card.getByText("not signed in").waitFor();
    expect(await signInOf("shared")).toMatchObject({ isSignedIn: false });
    await expect.poll(async () => (await signInOf("shared"))?.["state"]).toBe("needs_authorisation");
  });

  test("a caller with narrowed rights signs in for itself", async () => {
    const { page, faults } = await as("t-one", "signIns");
    await signInBy(page, "personal");
    await page.getByRole("region", { name: "personal" }).locator(".state.ready", { hasText: "signed in" }).waitFor();
    expect(await signInOf("personal", "t-one")).toMatchObject({ isSignedIn: true });
    expect(await signInOf("personal")).toMatchObject({ isSignedIn: false });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("a viewer reads who signs in, and has no button", async () => {
    const { page } = await as("t-viewer", "signIns");
    const card = page.getByRole("region", { name: "shared" });
    await card.getByText("Only administrators sign in for all callers.").waitFor();
    expect(await card.getByRole("button").count()).toBe(0);
    await page.context().close();
  });

  test("a changed definition is read and approved by the keyboard, and the tool is offered", async () => {
    const { page } = opened;
    await page.goto(`${rootOf()}/console/#/overview`);
    await page.getByRole("link", { name: "content: a tool changed" }).click();
    await page.getByText("Current definition").click();
    await page.locator("pre", { hasText: '"inputSchema"' }).waitFor();
    await page.getByRole("button", { name: "Approve this definition" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("The definition of bump is approved").waitFor();
    await page.getByText("Nothing waits for an approval.").waitFor();
    expect(await approvals()).toEqual([]);
    const text = await readFile(hub.configFile, "utf8");
    expect(text).toMatch(/# Comment that stays\.[\s\S]*pins = \{ bump = "2:[^"]+" \} # its pins/);
    await expect.poll(async () => (await ask("tools/content__bump"))["name"]).toBe("content__bump");
  });

  test("axe-core finds no serious problem, also on a phone, and texts can be German or French", async () => {
    const { page } = opened;
    for (const view of ["signIns", "approvals"]) {
      await page.goto(`${rootOf()}/console/#/${view}`);
      await page.locator(".cli").waitFor();
      expect(await auditPage(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    for (const [language, word] of [
      ["de", "Freigaben"],
      ["fr", "Approbations"],
    ] as const) {
      await page.getByLabel(/Language|Sprache|Langue/).selectOption(language);
      await page.getByRole("heading", { name: word, level: 1 }).waitFor();
    }
    expect(opened.faults).toEqual([]);
  });
});
