// `npm run console:pictures`: pictures of each view of the console on the example yard, in light and dark and as on a
// phone, to `build/pictures/`; those that pages show, and a short animation, to `docs/pictures/`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { animate } from "./pictures/webp.mjs";
import { SHOWN_FOLDER, startYard, TOKEN, useYard } from "./pictures/yard.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ALL = join(ROOT, "build/pictures");
const SHOWN = join(ROOT, "docs/pictures");
const DESKTOP = { width: 1200, height: 760 };
const PHONE = { width: 390, height: 780 };
const SMALL = { width: 960, height: 600 };
/** Quality of WebP, 0 to 100. */
const QUALITY = 55;
/** Pictures in `docs/pictures/`. */
const IN_PAGES = ["overview-light", "overview-dark", "tools-light", "settings-dark", "sources-phone"];
/** Address of each view that shows more than its list. */
const DETAILS = {
  sources: "sources/everything",
  tools: "tools/everything__get-sum",
  prompts: "prompts/everything__args-prompt",
};

const yard = await startYard();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"],
});
try {
  await useYard(yard);
  mkdirSync(ALL, { recursive: true });
  mkdirSync(SHOWN, { recursive: true });
  await stills();
  await animation();
} finally {
  await browser.close();
  await yard.stop();
}

async function stills() {
  const looks = [
    { look: "light", colorScheme: "light", viewport: DESKTOP },
    { look: "dark", colorScheme: "dark", viewport: DESKTOP },
    { look: "phone", colorScheme: "light", viewport: PHONE },
  ];
  for (const { look, ...options } of looks) {
    const { page, shoot } = await openConsole(options);
    const views = await page.locator("nav a").evaluateAll((links) => links.map((link) => link.hash.slice(2)));
    for (const view of views) {
      await goTo(page, DETAILS[view] ?? view);
      if (view === "settings" && look !== "phone") await page.locator("summary", { hasText: "[mcp]" }).click();
      await settle(page);
      const bytes = await shoot();
      const name = `${view}-${look}`;
      writeFileSync(join(ALL, `${name}.webp`), bytes);
      if (IN_PAGES.includes(name)) writeFileSync(join(SHOWN, `${name}.webp`), bytes);
    }
    await page.context().close();
  }
}

async function animation() {
  const { page, shoot } = await openConsole({ colorScheme: "light", viewport: SMALL });
  const frames = [];
  const frame = async (milliseconds) => {
    await settle(page);
    frames.push({ bytes: await shoot(), milliseconds });
  };
  await frame(1800);
  await goTo(page, "tools");
  await frame(900);
  for (const words of ["add", "add two", "add two numbers"]) {
    await page.getByRole("searchbox").fill(words);
    await page.getByText(/hits/).waitFor();
    await frame(500);
  }
  await page
    .getByRole("link", { name: /get-sum/ })
    .first()
    .click();
  await page.getByLabel(/^a /).waitFor();
  await frame(900);
  await page.getByLabel(/^a /).fill("2");
  await page.getByLabel(/^b /).fill("40");
  await frame(900);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("heading", { name: "Result" }).waitFor();
  await page.getByRole("heading", { name: "Result" }).scrollIntoViewIfNeeded();
  await frame(2000);
  await goTo(page, "calls");
  await frame(1800);
  await goTo(page, "sources/everything");
  await frame(1800);
  await goTo(page, "settings");
  await page.locator("summary", { hasText: "[mcp]" }).click();
  await frame(2500);
  writeFileSync(join(SHOWN, "console.webp"), animate(frames));
  await page.context().close();
}

/** Opens the console with the token of the yard, and shows its folder under a usual name. */
async function openConsole(options) {
  const context = await browser.newContext({
    locale: "en-US",
    reducedMotion: "reduce",
    extraHTTPHeaders: { authorization: `Bearer ${TOKEN}` },
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.route(/\/api\/admin\/(?!events)/, async (route) => {
    const postData = route.request().postData()?.replaceAll(SHOWN_FOLDER, yard.folder);
    const response = await route.fetch({ ...(postData !== undefined && { postData }) });
    const text = (await response.text()).replaceAll(yard.folder, SHOWN_FOLDER);
    await route.fulfill({ response, body: text });
  });
  await page.goto(`${yard.root}/console/`);
  await page.locator(".live.on").waitFor();
  const session = await context.newCDPSession(page);
  const shoot = async () => {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
    return Buffer.from(data, "base64");
  };
  return { page, shoot };
}

async function goTo(page, view) {
  await page.goto(`${yard.root}/console/#/${view}`);
  await page.locator("main h1").waitFor();
}

/** Waits until the view has its data. */
async function settle(page) {
  await page.waitForFunction(() => !/Loading …/.test(document.querySelector("main").textContent));
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(500);
}
