import type { Browser, Page } from "playwright-core";
import { PASSWORD } from "../../auth/builtin-yard.ts";
import { startChromium } from "../../console/browser.ts";

/** A user who signs in to a hub with headless Chromium: types a name and a password, and clicks. */
export class ChromiumUser implements AsyncDisposable {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<ChromiumUser> {
    return new ChromiumUser(await startChromium());
  }

  /** Signs Ann in, allows the access, and returns the address to which the hub sends the browser back. */
  async signIn(address: string, hub: string): Promise<URL> {
    return this.#withPage(address, async (page) => {
      await allowAsAnn(page);
      await page.waitForURL((url) => url.origin !== new URL(hub).origin, { waitUntil: "commit" });
      return new URL(page.url());
    });
  }

  /** Enters the code of a device, signs Ann in, allows the access, and returns the text of the last page. */
  async signInDevice(address: string, code: string): Promise<string> {
    return this.#withPage(address, async (page) => {
      await page.locator('input[name="user_code"]').fill(code);
      await page.locator("form button").first().click();
      await page.locator("strong", { hasText: code }).waitFor();
      await page.locator("form button").first().click();
      await allowAsAnn(page);
      return (await page.locator('[role="status"]').textContent()) ?? "";
    });
  }

  /** Signs a user in at Keycloak's own page, and returns the address to which it sends the browser back. */
  async signInAtKeycloak(address: string, user: string, password: string): Promise<URL> {
    const { origin } = new URL(address);
    return this.#withPage(address, async (page) => {
      await page.locator("#username").fill(user);
      await page.locator("#password").fill(password);
      await page.locator("#kc-login").click();
      await page.waitForURL((url) => url.origin !== origin, { waitUntil: "commit" });
      return new URL(page.url());
    });
  }

  async #withPage<T>(address: string, use: (page: Page) => Promise<T>): Promise<T> {
    const context = await this.#browser.newContext({ locale: "en-US" });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(address);
      return await use(page);
    } finally {
      await context.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

/** Signs Ann in at the page of the hub, and allows the access. */
async function allowAsAnn(page: Page): Promise<void> {
  await page.locator('input[name="user"]').fill("Ann");
  await page.locator('input[name="password"]').fill(PASSWORD);
  await page.locator("form button").first().click();
  await page.locator('button[value="allow"]').click();
}
