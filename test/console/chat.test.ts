// Chat with the agent and the code editor in the console. The model is a stand-in that speaks a vendor's wire format.
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { startModels, type ModelStandIn, type ScriptedReply } from "../agent/stand-in.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium, type OpenPage } from "./browser.ts";
import { fileURLToPath } from "node:url";

const TOOLS = fileURLToPath(new URL("chat-tools.mjs", import.meta.url));
const TOKENS = {
  ops: { token: "t-ops" },
  one: { token: "t-one", allow: ["weather.forecast"] },
};

let models: ModelStandIn;
let toy: ToyHub;
beforeAll(async () => {
  models = await startModels();
  toy = await ToyHub.open(FEATURES, {
    modules: { paths: [TOOLS] },
    server: { tokens: TOKENS },
    models: { ...models.models, language: "openai-chat/gpt-x" } as JsonObject,
  });
}, 60_000);
afterAll(async () => {
  await toy[Symbol.asyncDispose]();
  await models.close();
});

const call = (name: string, args: object = {}): ScriptedReply => ({ calls: [{ name, arguments: args }] });
async function ask(path: string, { body, token = "t-ops", accept = "application/json" }: Question = {}) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", accept };
  const init = body ? { headers, method: "POST", body: JSON.stringify(body) } : { headers };
  const response = await toy.fetch(`/api/admin/${path}`, init);
  return { http: response.status, text: await response.text() };
}
interface Question {
  readonly body?: object;
  readonly token?: string;
  readonly accept?: string;
}
async function json(path: string, question?: Question): Promise<JsonObject> {
  const { text, http } = await ask(path, question);
  return { ...(JSON.parse(text) as JsonObject), http };
}

describe("the API", () => {
  test("answers with the tools of the caller and streams each step", async () => {
    models.say([call("weather_forecast", { city: "Graz" }), { text: "Sunny." }]);
    const { text } = await ask("chat", { body: { message: "Weather?" }, accept: "text/event-stream" });
    const events = Array.from(text.matchAll(/^event: (\w+)$/gm), ([, name]) => name);
    expect(events).toEqual(expect.arrayContaining(["step", "call", "result", "text", "reply"]));
    expect(events.at(-1)).toBe("reply");
  });

  test("calls no tool beyond the rights of the caller", async () => {
    models.say([call("weather_station"), { text: "I may not." }]);
    const reply = await json("chat", { body: { message: "Station?" }, token: "t-one" });
    expect(reply).toMatchObject({ text: "I may not.", steps: [{ calls: [{ ok: false }] }, {}] });
  });

  test.each([{}, { message: "" }, { message: 1 }, { message: "x", history: "none" }, { message: "x", history: [1] }])(
    "refuses the message %j",
    async (body) => expect(await json("chat", { body })).toMatchObject({ http: 400 }),
  );

  test("reports in the session whether there is a chat, and has none without a model", async () => {
    expect(await json("session")).toMatchObject({ hasChat: true, hasCode: true });
    expect(await json("session", { token: "t-one" })).toMatchObject({ hasChat: true, hasCode: false });
    await using other = await ToyHub.open(FEATURES, {});
    expect(await (await other.fetch("/api/admin/session")).json()).toMatchObject({ hasChat: false });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"message":"x"}' };
    expect((await other.fetch("/api/admin/chat", init)).status).toBe(503);
  });

  test.each([
    ["typescript", "tools.wea", ["tools.weather.forecast", "tools.weather.station"]],
    ["typescript", "tools.weather.f", ["tools.weather.forecast"]],
    ["typescript", "tools.WEATHER.F", ["tools.weather.forecast"]],
    ["python", "tools.weather.", ["tools.weather.forecast", "tools.weather.station"]],
    ["typescript", "tools.none", []],
    ["typescript", "tools.execute_code", []],
  ])("completes %s code at %j with %j", async (language, prefix, paths) => {
    const { tools } = (await json(`code/tools?${new URLSearchParams({ language, prefix })}`)) as {
      tools: JsonObject[];
    };
    expect(tools.map(({ path }) => path).toSorted()).toEqual(paths);
  });

  test("completes only tools that the caller may use, with their parameters", async () => {
    const { tools } = await json("code/tools?prefix=tools.weather.", { token: "t-one" });
    expect(tools).toMatchObject([
      {
        name: "weather.forecast",
        signature: expect.stringContaining("city: string"),
        parameters: [
          { name: "city", type: "string", isRequired: true },
          { name: "days", isRequired: false },
        ],
      },
    ]);
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the views in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  const root = (): string => toy.served.address.url;
  const show = async (view: string): Promise<OpenPage["page"]> => {
    await opened.page.goto(`${root()}/console/#/${view}`);
    return opened.page;
  };
  beforeAll(async () => {
    browser = await startChromium();
    opened = await openPage(browser, `${root()}/console/`, { extraHTTPHeaders: { authorization: "Bearer t-ops" } });
    await opened.page.locator(".live.on").waitFor();
  }, 60_000);
  afterAll(() => browser.close());

  test("the first view loads neither the editor nor the chat", async () => {
    const { page } = await openPage(browser, `${root()}/console/`, {
      extraHTTPHeaders: { authorization: "Bearer t-ops" },
    });
    await page.locator(".live.on").waitFor();
    const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    expect(loaded.filter((name) => /code|chat|editor/i.test(name.split("/").at(-1)!))).toEqual([]);
    await page.context().close();
  });

  test("an answer shows calls, images and Markdown, and the next request contains the answer", async () => {
    models.say([
      call("weather_station", {}),
      { text: "It is **sunny** in Graz. <img src=x onerror='globalThis.__attacked=1'>" },
      { text: "You asked for the station." },
    ]);
    const page = await show("chat");
    await page.getByLabel("Message").fill("Show the <b>station</b>");
    await page.keyboard.press("Enter");
    await page.locator(".markdown strong", { hasText: "sunny" }).waitFor();
    await page.locator(".chat-call summary", { hasText: "weather" }).click();
    expect(await page.locator(".chat-call img.media").getAttribute("src")).toMatch(/^data:image\/png;base64,/);
    await page.getByLabel("Message").fill("What did I ask?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("You asked for the station.").waitFor();
    const roles = (models.asked.at(-1)!.body["messages"] as { role: string }[]).map(({ role }) => role);
    // The picture follows its tool result as a message of the user.
    expect(roles).toEqual(["system", "user", "assistant", "tool", "user", "assistant", "user"]);
    expect(await page.evaluate(() => "__attacked" in globalThis)).toBe(false);
  });

  test("the conversation stays while other views are shown, and is saved as Markdown and JSON", async () => {
    await show("tools");
    const page = await show("chat");
    await page.getByText("You asked for the station.").waitFor();
    const save = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: `Save as ${name}` }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(name);
      return readFile(await download.path(), "utf8");
    };
    const markdown = await save("chat.md");
    expect(markdown).toContain("## Show the <b>station</b>");
    expect(markdown).toContain("`weather.station`");
    const saved = JSON.parse(await save("chat.json")) as { version: number; messages: unknown[] };
    expect([saved.version, saved.messages.length]).toEqual([1, 7]);
    await page.getByRole("button", { name: "New conversation" }).click();
    expect(await page.locator(".chat article").count()).toBe(0);
  });

  test("an answer is stopped, its request ends, and the conversation continues", async () => {
    models.say([{ text: "This takes", hangs: true }, { text: "Again." }]);
    const page = await show("chat");
    const before = models.asked.length;
    await page.getByLabel("Message").fill("Long?");
    await page.keyboard.press("Enter");
    const question = await models.question(before);
    await page.getByRole("button", { name: "Stop" }).click();
    await question.left;
    await page.getByText("Ended: cancelled").waitFor();
    await page.getByLabel("Message").fill("And now?");
    await page.keyboard.press("Enter");
    await page.getByText("Again.").waitFor();
    expect(JSON.stringify(models.asked.at(-1)!.body)).toContain("Long?");
  });

  test("a failure of the model is shown, and the page can ask again", async () => {
    models.say([{ status: 401, message: "wrong <i>key</i>" }, { text: "Back." }]);
    const page = await show("chat");
    await page.getByLabel("Message").fill("Key?");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Message").fill("Again?");
    await page.keyboard.press("Enter");
    await page.getByText("Back.").waitFor();
    expect(await page.locator(".chat article").count()).toBe(4);
  });

  test("code is completed from the schemas of tools, runs, and shows its output", async () => {
    const page = await show("code");
    const editor = page.locator(".cm-content");
    await editor.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("const one = await tools.weather.f");
    await page.locator(".cm-tooltip-autocomplete li", { hasText: "tools.weather.forecast" }).click();
    expect(await editor.textContent()).toContain("tools.weather.forecast(");
    await page.keyboard.type("{");
    await page.keyboard.press("Control+Space");
    await page.locator(".cm-tooltip-autocomplete li", { hasText: "city" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(
      'console.log("<b>hi</b>");\nconst one: any = await tools.weather.forecast({ city: "Graz" });\n[one, inputs.n]',
    );
    await page.locator("summary", { hasText: "Inputs (JSON)" }).click();
    await page.getByRole("textbox", { name: "Inputs (JSON)" }).fill('{"n": 7}');
    await editor.focus();
    await page.keyboard.press("Control+Enter");
    const output = page.getByRole("region", { name: "Result" });
    await output.getByText("<b>hi</b>", { exact: true }).waitFor();
    const { result } = (await json("tools/execute_code", {
      body: { language: "typescript", code: 'await tools.weather.forecast({ city: "Graz" })' },
    })) as { result: { structuredContent: { result: unknown } } };
    await output
      .locator("pre", { hasText: String(result.structuredContent.result) })
      .first()
      .waitFor();
    await output.locator("pre", { hasText: "7" }).first().waitFor();
  });

  test("failed code shows its traceback, and running code is stopped", async () => {
    const page = await show("code");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText('console.log("before");\nthrow new TypeError("<i>no</i>");');
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("region", { name: "Result" }).getByText("TypeError").first().waitFor();
    await page.getByRole("region", { name: "Result" }).getByText("before").first().waitFor();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText("for (;;) {}");
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("alert").getByText("cancelled").waitFor();
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  });

  test("a caller without execute_code has no view for code", async () => {
    const { page, faults } = await openPage(browser, `${root()}/console/#/code`, {
      extraHTTPHeaders: { authorization: "Bearer t-one" },
    });
    await page.getByRole("link", { name: "Chat" }).waitFor();
    expect(await page.getByRole("link", { name: "Code", exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("axe-core finds no serious problem in light, dark and on a phone; texts can be German or French", async () => {
    const { page } = opened;
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const view of ["chat", "code"]) {
        await show(view);
        await page.locator(".cli").waitFor();
        expect(await auditPage(page), `${view} ${colorScheme}`).toEqual([]);
      }
    }
    await page.setViewportSize({ width: 360, height: 740 });
    for (const view of ["chat", "code"]) {
      await show(view);
      await page.locator(".cli").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth"), view).toBeLessThanOrEqual(360);
    }
    for (const [language, word] of [
      ["de", "Ausführen"],
      ["fr", "Exécuter"],
    ] as const) {
      await page
        .getByLabel(/Language|Sprache|Langue/)
        .first()
        .selectOption(language);
      await page.getByRole("button", { name: new RegExp(`^${word}`) }).waitFor();
    }
    expect(opened.faults).toEqual([]);
  });
});
