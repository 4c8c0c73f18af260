// Administrators whose rights are narrowed, and a changed configuration that the hub refuses.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";
import { adminApi } from "./admin-api.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

const CONFIG = `
[server.tokens.ops]
token = "t-ops"
[server.tokens.narrow]
token = "t-narrow"
[server.tokens.few]
token = "t-few"
allow = ["meta.*"]
[server.tokens.other]
token = "t-other"
allow = ["meta.*"]
[console]
admins = ["token:ops", "role:reader", "token:few"]
[roles.reader]
read_only = true
members = { tokens = ["narrow"] }
`;
let hub: ServeChild;
beforeAll(async () => void (hub = await ServeChild.start({ config: CONFIG })), 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");
const ask = adminApi(rootOf);

describe("the API for an administrator with narrowed rights", () => {
  test.each([
    ["t-narrow", ["role reader: read_only = true"]],
    ["t-few", ['token few: allow = ["meta.*"]']],
  ])("reports the limits of %s in the session", async (token, adminLimits) => {
    expect(await ask("session", { token })).toMatchObject({ seesAll: false, mayChange: false, adminLimits });
  });

  test("reports no limits to an administrator without limits, and to a caller that is no administrator", async () => {
    expect(await ask("session")).not.toHaveProperty("adminLimits");
    expect(await ask("session", { token: "t-other" })).not.toHaveProperty("adminLimits");
  });

  test.each(["overview", "sources", "logs", "settings", "profiles"])("refuses %s with the reason", async (path) => {
    const { http, error } = await ask(path, { token: "t-narrow" });
    expect([http, (error as JsonObject)["message"]]).toEqual([
      403,
      expect.stringMatching(/`admins` .* names you, but your rights are narrowed.*role reader: read_only = true.*role/),
    ]);
    const other = (await ask(path, { token: "t-other" }))["error"] as JsonObject;
    expect(other["message"]).toBe("This is shown to callers without narrowed rights only.");
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the page in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await startChromium()));
  afterAll(() => browser.close());

  async function open(token: string, locale = "en-US"): ReturnType<typeof openPage> {
    const opened = await openPage(browser, `${rootOf()}/console/sign-in`, { locale });
    await opened.page.locator("input[name=token]").fill(token);
    await opened.page.keyboard.press("Enter");
    await opened.page.locator(".live.on").waitFor();
    return opened;
  }

  test("administrators with narrowed rights see their own tools, and the reason in closed admin views", async () => {
    const { page, faults } = await open("t-narrow");
    const notice = page.getByRole("alert");
    for (const name of ["Overview", "Settings", "Sources", "Logs"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      expect(await notice.textContent()).toMatch(/rights are narrowed.*role reader: read_only = true.*\[roles\]/);
    }
    expect(await auditPage(page)).toEqual([]);
    await page.getByRole("link", { name: "Tools", exact: true }).click();
    await page.getByText("meta.ping").first().waitFor();
    expect([await notice.count(), faults]).toEqual([0, []]);
    await page.context().close();
  });

  test.each([
    ["de-DE", "Ihre Rechte sind eingeschränkt"],
    ["fr-FR", "vos droits sont restreints"],
  ])("gives the reason in %s", async (locale, text) => {
    const { page } = await open("t-narrow", locale);
    expect(await page.getByRole("alert").textContent()).toContain(text);
    await page.context().close();
  });

  test("shows a narrowed caller that is no administrator no view of the hub", async () => {
    const { page } = await open("t-other");
    expect(await page.getByRole("link", { name: "Settings", exact: true }).count()).toBe(0);
    await page.context().close();
  });

  test("the overview shows a refused configuration until a valid one is read", async () => {
    const { page, faults } = await open("t-ops");
    await page.getByText("All sources work.").waitFor();
    await hub.writeConfig(`${CONFIG}[server]\nprot = 1\n`);
    hub.signal("SIGHUP");
    const link = page.getByRole("link", { name: "The changed configuration is not in force" });
    await link.waitFor();
    const { attention, status } = await ask("overview");
    expect([status, attention]).toEqual([
      "attention",
      [{ kind: "refused_configuration", text: expect.stringContaining("prot") }],
    ]);
    await link.click();
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await hub.writeConfig(CONFIG);
    hub.signal("SIGHUP");
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByText("All sources work.").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
