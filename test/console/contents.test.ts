// Resources and prompts in the console: list, read, templates, completion, live changes, hostile texts, narrow rights.
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium, type OpenPage } from "./browser.ts";

const SERVER = fileURLToPath(new URL("content-server.mjs", import.meta.url));
const MANY = 10_000;
const CONFIG = `
[server.tokens.ops]
token = "t-ops"
[server.tokens.one]
token = "t-one"
allow = ["content__bump"]
[mcp.stdio_servers.content]
command = ${JSON.stringify(["node", SERVER, String(MANY)])}
`;

let hub: ServeChild;
beforeAll(async () => {
  hub = await ServeChild.start({ config: CONFIG, args: ["-y"] });
  await vi.waitFor(async () => expect(((await ask("prompts"))["prompts"] as unknown[]).length).toBe(1), 30_000);
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");
async function ask(path: string, body?: object, token = "t-ops"): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
  return (await (await fetch(`${rootOf()}/api/admin/${path}`, init)).json()) as JsonObject;
}

describe("the API", () => {
  test("lists resources, templates and prompts in a short form", async () => {
    const { resources, templates } = (await ask("resources")) as { resources: JsonObject[]; templates: JsonObject[] };
    expect(resources).toHaveLength(MANY + 5);
    expect(resources[0]).toMatchObject({ uri: "demo://counter", name: "counter" });
    expect(templates).toMatchObject([{ uriTemplate: "demo://city/{name}{?lang}", name: "city" }]);
    expect((await ask("prompts"))["prompts"]).toMatchObject([{ arguments: [{ name: "city", isRequired: true }] }]);
  });

  test("shows a caller with narrowed rights no resource that it may not read, and refuses a subscription", async () => {
    expect(await ask("resources", undefined, "t-one")).toEqual({ resources: [], templates: [] });
    expect(await ask("resources/read", { uri: "demo://counter" }, "t-one")).toMatchObject({ error: {} });
    const refused = await ask("events?topics=resource&uri=demo%3A%2F%2Fcounter", undefined, "t-one");
    expect(refused).toMatchObject({ error: { message: expect.any(String) } });
  });

  test.each(["file:///etc/passwd", "nothing", "https://evil.example/"])("refuses to follow %s", async (uri) => {
    expect(await ask(`events?${new URLSearchParams({ topics: "resource", uri })}`)).toMatchObject({ error: {} });
  });

  test("sends an event for each change of a followed resource, and none for another", async () => {
    const aborter = new AbortController();
    const response = await fetch(`${rootOf()}/api/admin/events?topics=resource&uri=demo%3A%2F%2Fcounter`, {
      headers: { authorization: "Bearer t-ops" },
      signal: aborter.signal,
    });
    await ask("tools/content__bump", {});
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("event: resource")) break;
    }
    aborter.abort();
    expect(text).toContain('data: {"uri":"demo://counter"}');
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the views in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  beforeAll(async () => {
    browser = await startChromium();
    opened = await openPage(browser, `${rootOf()}/console/`, {
      extraHTTPHeaders: { authorization: "Bearer t-ops" },
    });
    await opened.page.locator(".live.on").waitFor();
  }, 60_000);
  afterAll(() => browser.close());
  const show = async (view: string): Promise<OpenPage["page"]> => {
    await opened.page.goto(`${rootOf()}/console/#/${view}`);
    return opened.page;
  };

  test("a list of 10,000 resources is filtered, and one of them is opened by the keyboard", async () => {
    const page = await show("resources");
    await page.getByText("10,005 resources, 1 templates").waitFor();
    expect(await page.locator(".virtual-row").count()).toBeLessThan(100);
    await page.getByRole("searchbox").fill("demo://n/9999");
    await page.getByRole("link", { name: /n9999/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("read demo://n/9999").waitFor();
    const { result } = (await ask("resources/read", { uri: "demo://n/9999" })) as { result: JsonObject };
    expect(result).toMatchObject({ contents: [{ text: "read demo://n/9999" }] });
  });

  test("a followed resource is read again when it changes", async () => {
    const page = await show(`resources/${encodeURIComponent("demo://counter")}`);
    await page.getByText(/^count is \d+$/).waitFor();
    const followed = page.waitForResponse(/events\?topics=resource/);
    await page.getByLabel("Read again when it changes").check();
    expect((await followed).status()).toBe(200);
    const { result } = (await ask("tools/content__bump", {})) as { result: { content: { text: string }[] } };
    await page.getByText(`count is ${result.content[0]!.text}`).waitFor();
  });

  test("a template is filled in with the completions of its server, and read", async () => {
    const page = await show(`resources/template/${encodeURIComponent("demo://city/{name}{?lang}")}`);
    await page.getByLabel("name", { exact: true }).fill("G");
    await expect.poll(() => page.locator("datalist option").count()).toBe(2);
    await page.getByLabel("name", { exact: true }).fill("Genf/1");
    await page.getByLabel("lang", { exact: true }).fill("fr");
    await page.getByText("demo://city/Genf%2F1?lang=fr").first().waitFor();
    await page.getByRole("button", { name: "Read", exact: true }).click();
    await page.getByText("read demo://city/Genf%2F1?lang=fr").waitFor();
  });

  test("Markdown and JSON are formatted, HTML is shown as text, and no attack has an effect", async () => {
    const page = await show(`resources/${encodeURIComponent("demo://report")}`);
    await page.locator(".markdown h1", { hasText: "Report" }).waitFor();
    expect(
      await page.locator(".markdown a[href]").evaluateAll((all) => all.map((a) => a.getAttribute("href"))),
    ).toEqual(["https://example.org"]);
    expect(await page.locator(".markdown :is(img, svg, style, form, iframe, input, [style], [onerror])").count()).toBe(
      0,
    );
    await show(`resources/${encodeURIComponent("demo://rows")}`);
    await page.getByRole("cell", { name: "Graz" }).waitFor();
    await show(`resources/${encodeURIComponent("demo://page")}`);
    await page.locator("pre", { hasText: "<iframe" }).waitFor();
    await show(`resources/${encodeURIComponent("demo://large")}`);
    await page.locator("pre", { hasText: "zzz" }).waitFor();
    expect(await page.evaluate(() => "__attacked" in globalThis)).toBe(false);
    expect(opened.faults).toEqual([]);
  });

  test("a prompt is filled in with completions, and its messages are those of the hub", async () => {
    const page = await show("prompts");
    await page.getByRole("link", { name: /^Greet/ }).click();
    await page.getByLabel(/^city/).fill("B");
    await expect
      .poll(() => page.locator("datalist option").evaluateAll((all) => all.map((o) => o.value)))
      .toEqual(["Bern"]);
    await page.getByLabel(/^city/).fill("Bern");
    await page.getByRole("button", { name: "Fill in" }).click();
    const { result } = (await ask("prompts/content__greet", { city: "Bern" })) as {
      result: { messages: { content: { text: string } }[] };
    };
    await page.locator(".message", { hasText: "user" }).getByText(result.messages[0]!.content.text).waitFor();
    expect(await page.locator(".message").count()).toBe(2);
    expect(await page.evaluate(() => "__attacked" in globalThis)).toBe(false);
    expect(opened.faults).toEqual([]);
  });

  test("a prompt is not sent without a required argument, and a failure is shown with its code", async () => {
    const page = await show("prompts/content__greet");
    await page.reload();
    await page.getByRole("button", { name: "Fill in" }).click();
    expect(await page.locator("input[list]:invalid").count()).toBe(1);
    expect(await page.locator(".message").count()).toBe(0);
    await page.getByLabel(/^city/).fill("nowhere");
    await page.getByRole("button", { name: "Fill in" }).click();
    await page.getByRole("alert").getByText("There is no such city.").waitFor();
  });

  test("axe-core finds no serious problem, also on a phone, and texts can be German or French", async () => {
    const page = await show(`resources/${encodeURIComponent("demo://report")}`);
    await page.locator(".markdown h1").waitFor();
    expect(await auditPage(page)).toEqual([]);
    await show("prompts/content__greet");
    await page.getByRole("button", { name: "Fill in" }).waitFor();
    expect(await auditPage(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    for (const [language, word] of [
      ["de", "Ausfüllen"],
      ["fr", "Remplir"],
    ] as const) {
      await page.getByLabel(/Language|Sprache|Langue/).selectOption(language);
      await page.getByRole("button", { name: word }).waitFor();
    }
  });
});
