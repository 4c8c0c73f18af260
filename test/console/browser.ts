// Drives Debian's headless Chromium with playwright-core, and records everything that a page reports.
import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
export const NO_CHROMIUM = existsSync(PROGRAM) ? undefined : "Chromium is not on this machine";

export interface OpenPage {
  readonly page: Page;
  /** Script errors, alerts, violations of the Content Security Policy, and requests to other hosts. */
  readonly faults: string[];
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** Opens an address in a context of its own, and waits until the page is live. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/i.test(message.text())) faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    if (dialog.type() === "alert") faults.push(`alert ${dialog.message()}`);
    void dialog.accept();
  });
  const { host } = new URL(url);
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.protocol.startsWith("http") && asked.host !== host) faults.push(`request to ${asked.host}`);
  });
  await page.goto(url);
  return { page, faults };
}
