// Addresses that lead a browser to the console: the hub's own, the file of `toolyard open`, and links of other users.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { Desk } from "../cli/harness.ts";
import { ServeChild } from "../support/serve-child.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "addresses of the console in Chromium", () => {
  let browser: Browser;
  let hub: ServeChild;
  let desk: Desk;
  beforeAll(async () => {
    const tokens = { ops: { token: "t-ops" }, mallory: { token: "t-mallory" } };
    [browser, hub, desk] = await Promise.all([
      startChromium(),
      ServeChild.start({ config: { server: { tokens } } }),
      Desk.create(),
    ]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await hub[Symbol.asyncDispose]();
    await desk[Symbol.asyncDispose]();
  });

  const root = (): string => hub.url.replace(/\/mcp$/, "");

  async function linkOf(token: string): Promise<string> {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${root()}/api/admin/links`, { method: "POST", headers });
    return ((await response.json()) as { url: string }).url;
  }

  /** Opens a link in a page that may show the console already: only its fragment would change otherwise. */
  async function follow(page: Page, url: string): Promise<void> {
    await page.goto("about:blank");
    await page.goto(url);
  }

  const userOf = (page: Page): Promise<string> => page.getByRole("button", { name: /Sign out/ }).innerText();

  test.each([
    ["de-DE", "Bei Toolyard anmelden"],
    ["fr-FR", "Se connecter à Toolyard"],
  ])("the address of a guarded hub leads a browser in %s to an accessible sign-in page", async (locale, heading) => {
    const { page, faults } = await openPage(browser, `${root()}/`, { locale });
    await page.getByRole("heading", { name: heading }).waitFor();
    expect(page.url()).toBe(`${root()}/console/sign-in`);
    expect(await auditPage(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("the file of `toolyard open` signs a browser in", async () => {
    const file = join(desk.folder, "opened.txt");
    const write = `require('node:fs').writeFileSync(${JSON.stringify(file)},process.argv[1]+';')`.replaceAll(" ", "");
    const env = { TOOLYARD_TOKEN: "t-ops", BROWSER: `${process.execPath} -e ${write}` };
    await desk.run(["open", "--url", hub.url], { env });
    await vi.waitFor(async () => expect(await readFile(file, "utf8")).toMatch(/;$/), 10_000);
    const address = (await readFile(file, "utf8")).slice(0, -1);
    expect(fileURLToPath(address)).toContain(desk.folder);
    const { page, faults } = await openPage(browser, `${root()}/console/sign-in`);
    await page.goto(address);
    await page.locator(".live.on").waitFor();
    expect(page.url()).toBe(`${root()}/console/`);
    expect(await userOf(page)).toContain("ops");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("a link of another user replaces an open session only with consent", async () => {
    const { page } = await openPage(browser, `${root()}/console/sign-in`);
    await follow(page, await linkOf("t-ops"));
    await page.locator(".live.on").waitFor();
    const asked: string[] = [];
    page.removeAllListeners("dialog");
    let isAccepted = false;
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void (isAccepted ? dialog.accept() : dialog.dismiss());
    });
    await follow(page, await linkOf("t-mallory"));
    await page.locator(".live.on").waitFor();
    expect(asked).toEqual(["This link signs this browser in again. Replace the session of ops?"]);
    expect(await userOf(page)).toContain("ops");
    isAccepted = true;
    await follow(page, await linkOf("t-mallory"));
    await page.locator(".live.on").waitFor();
    expect(await userOf(page)).toContain("mallory");
    await page.context().close();
  });

  test("the key of another session, or an invalid key, does not change the session of the browser", async () => {
    const { page } = await openPage(browser, `${root()}/console/sign-in`);
    await follow(page, await linkOf("t-ops"));
    await page.locator(".live.on").waitFor();
    const other = await fetch(`${root()}/api/admin/session`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ token: "t-mallory" }),
    });
    const foreign = other.headers.get("location")!.split("#key=")[1]!;
    for (const key of ["wrong", "", foreign]) {
      await follow(page, `${root()}/console/#key=${key}`);
      await page.locator(".live.on").waitFor();
      expect(await userOf(page)).toContain("ops");
      expect(page.url()).not.toContain("key=");
    }
    await page.context().close();
  });

  test("a link that was used leaves the browser at the sign-in page", async () => {
    const link = await linkOf("t-ops");
    const code = link.split("#code=")[1]!;
    const used = await fetch(`${root()}/api/admin/session`, { method: "POST", body: new URLSearchParams({ code }) });
    expect(((await used.json()) as JsonObject)["key"]).toMatch(/^[\w-]{43}$/);
    const { page } = await openPage(browser, link);
    await page.getByLabel("Token").waitFor();
    await page.context().close();
  });
});
