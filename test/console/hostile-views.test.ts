// Views of the console with hostile answers of 10,000 entries and texts of 1 MB: nothing is executed or loaded from
// another host, and the document stays small. The answers replace those of the hub's API, because no hub has that much.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

const COUNT = 10_000;
/** Maximum number of elements of a page. A list that showed all entries would have many more. */
const MAX_ELEMENTS = 12_000;
/** Maximum number of characters of a page. */
const MAX_CHARS = 2_000_000;

const SCRIPT = "window.__attacked=1";
const ATTACKS = [
  `<script>${SCRIPT}</script>`,
  `<img src="https://evil.example/x" onerror="${SCRIPT}">`,
  `"><svg onload="${SCRIPT}">`,
  `</textarea></style><iframe src="https://evil.example/"></iframe>`,
  `javascript:${SCRIPT}`,
  `[link](javascript:${SCRIPT}) ![image](https://evil.example/y.png)`,
  "\u202egpj.exe\u2066\u200f",
  `{{constructor.constructor("${SCRIPT}")()}}`,
];
const LARGE = `${ATTACKS[0]}${"x".repeat(1_000_000)}`;
const attackAt = (at: number): string => (at === 0 ? LARGE : `${at} ${ATTACKS[at % ATTACKS.length]}`);
const list = (row: (text: string, at: number) => object, count = COUNT): readonly object[] =>
  Array.from({ length: count }, (_, at) => row(attackAt(at), at));

const TIME = "2026-01-01T00:00:00.000Z";
const FIGURES = { calls: 1, errors: 0 };
const task = (tool: string, at: number): object => ({
  id: `task-${at}`,
  status: "failed",
  statusMessage: attackAt(at),
  tool,
  endpoint: "mcp",
  createdAt: TIME,
  updatedAt: TIME,
  isError: true,
});
const definition = { name: LARGE, description: LARGE, inputSchema: { type: "object", title: LARGE } };
const fields = Object.fromEntries(
  list((text) => ({ text })).map((_, at) => [`f${at}`, { type: "string", title: attackAt(at) }]),
);

/** Answers by path, and the views that show them. */
const VIEWS: readonly (readonly [view: string, answers: Readonly<Record<string, object>>])[] = [
  [
    "tasks",
    {
      tasks: { tasks: list(task) },
      schedules: {
        schedules: list(
          (name) => ({
            name,
            cron: name,
            tool: name,
            timezone: name,
            runs: [],
            next: TIME,
            skipped: 3,
            problem: { message: name },
          }),
          2000,
        ),
      },
    },
  ],
  [
    "tasks/task-1",
    {
      "tasks/task-1": {
        ...task(LARGE, 1),
        inputRequests: {
          a: {
            method: "elicitation/create",
            params: { message: LARGE, requestedSchema: { type: "object", properties: fields } },
          },
        },
      },
    },
  ],
  [
    "signIns",
    {
      "sign-ins": {
        signIns: list(
          (source) => ({
            source,
            state: "down",
            reason: source,
            isPersonal: false,
            mayChange: true,
            isSignedIn: true,
            issuer: source,
            scopes: [source],
          }),
          2000,
        ),
      },
    },
  ],
  [
    "approvals",
    {
      approvals: {
        approvals: list(
          (tool) => ({
            source: tool,
            tool,
            approved: "a",
            digest: String(tool.length),
            isWithheld: true,
            definition: { description: tool },
            readOnlyReason: tool,
          }),
          2000,
        ),
      },
    },
  ],
  [
    "approvals",
    {
      approvals: { approvals: [{ source: "s", tool: LARGE, approved: "", digest: "d", isWithheld: true, definition }] },
    },
  ],
  [
    "users",
    {
      users: {
        hasUsers: true,
        users: list((name, at) => ({
          sub: String(at),
          name,
          groups: [name],
          roles: [name],
          isAdmitted: true,
          hasPassword: true,
          provider: name,
          isYou: false,
        })),
        clients: list((name, at) => ({ id: String(at), name, redirects: [name], registeredAt: TIME })),
      },
      callers: {
        callers: list((name, at) => ({
          id: `${name}${at}`,
          kind: "user",
          name,
          roles: [name],
          calls: FIGURES,
          programs: [name],
        })),
      },
    },
  ],
  [
    "profiles/p",
    {
      profiles: {
        profiles: [
          ...list((name) => ({ name, title: name, url: name, tools: 1, prompts: 1, resources: 1, rights: name })),
          { name: "p", title: LARGE, url: ATTACKS[4]!, tools: COUNT, prompts: 1, resources: 1, rights: LARGE },
        ],
      },
      "profiles/p": {
        instructions: LARGE,
        tools: list((text) => ({ text })).map((_, at) => attackAt(at)),
        prompts: [LARGE],
        resources: [ATTACKS[4]!],
        clients: [{ program: ATTACKS[0]!, place: ATTACKS[1]!, text: ATTACKS[3]! }],
      },
    },
  ],
  [
    "overview",
    {
      overview: {
        status: "attention",
        version: LARGE,
        startedAt: TIME,
        uptimeSeconds: 1,
        memoryBytes: 1,
        states: { ready: 1 },
        tools: 1,
        resources: 1,
        prompts: 1,
        calls: FIGURES,
        minutes: [],
        attention: list((text) => ({ kind: "failing", source: text, text })),
      },
    },
  ],
  [
    "sources",
    {
      sources: {
        sources: list((id) => ({
          id,
          kind: id,
          state: "ready",
          reason: id,
          tools: 1,
          resources: 1,
          prompts: 1,
          restarts: 0,
          problems: [],
          calls: FIGURES,
          isEditable: false,
        })),
      },
    },
  ],
];

interface PageState {
  readonly isAttacked: boolean;
  readonly elements: number;
  readonly chars: number;
  readonly foreign: number;
  readonly links: readonly string[];
}

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the views in Chromium", () => {
  let browser: Browser;
  let hub: ServeChild;
  beforeAll(async () => {
    [browser, hub] = await Promise.all([
      startChromium(),
      ServeChild.start({ config: { server: { tokens: { ops: { token: "t-ops" } } } } }),
    ]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await hub[Symbol.asyncDispose]();
  });

  const root = (): string => hub.url.replace(/\/mcp$/, "");

  async function answer(page: Page, answers: Readonly<Record<string, object>>): Promise<void> {
    for (const [path, value] of Object.entries(answers))
      await page.route(
        ({ pathname }) => pathname === `/api/admin/${path}`,
        (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify(value) }),
      );
  }

  async function open(view: string, answers: Readonly<Record<string, object>>): ReturnType<typeof openPage> {
    const opened = await openPage(browser, `${root()}/console/sign-in`);
    await answer(opened.page, answers);
    await opened.page.locator("input[name=token]").fill("t-ops");
    await opened.page.keyboard.press("Enter");
    await opened.page.locator(".live.on").waitFor();
    await opened.page.goto(`${root()}/console/#/${view}`);
    await expect.poll(() => opened.page.locator("main").textContent()).not.toContain("Loading …");
    return opened;
  }

  async function assertHarmless(page: Page, faults: readonly string[]): Promise<void> {
    const state = (await page.evaluate(`({
      isAttacked: "__attacked" in globalThis,
      elements: document.querySelectorAll("*").length,
      chars: document.body.textContent.length,
      foreign: document.querySelectorAll(
        "main :is(script, iframe, object, base, meta, link, style, img, svg:not(.chart))",
      ).length,
      links: Array.from(document.querySelectorAll("main a"), (link) => link.protocol),
    })`)) as PageState;
    expect({ ...state, elements: state.elements < MAX_ELEMENTS, chars: state.chars < MAX_CHARS }).toMatchObject({
      isAttacked: false,
      elements: true,
      chars: true,
      foreign: 0,
    });
    expect(state.links.filter((protocol) => !/^https?:$/.test(protocol))).toEqual([]);
    expect(faults).toEqual([]);
  }

  test.each(VIEWS)("%s shows hostile answers as text, and a bounded number of entries", async (view, answers) => {
    const { page, faults } = await open(view, answers);
    await assertHarmless(page, faults);
    for (const details of await page
      .locator("main details")
      .all()
      .then((all) => all.slice(0, 3)))
      await details.locator("summary").first().click();
    const more = page.getByRole("button", { name: /^Show more \(200 of/ });
    if ((await more.count()) > 0) {
      await more.first().click();
      await page
        .getByRole("button", { name: /^Show more \(400 of/ })
        .first()
        .waitFor();
    }
    await assertHarmless(page, faults);
    await page.context().close();
  });

  test("stored calls with large arguments are shown when they are opened", async () => {
    const entries = list(
      (target, at) => ({
        time: TIME,
        event: "call",
        call: at,
        target,
        principal: target,
        kind: "ok",
        method: "tools/call",
        arguments: { x: attackAt(at) },
      }),
      1000,
    );
    const { page, faults } = await open("calls/stored", { "calls/stored": { hasAudit: true, entries, isPart: true } });
    await page.locator("details.stored").first().waitFor();
    expect(await page.locator("details.stored pre").count()).toBe(0);
    await page.locator("details.stored summary").first().click();
    await page.locator("details.stored pre").first().waitFor();
    await assertHarmless(page, faults);
    await page.context().close();
  });

  test("settings of 1 MB, with hostile comments and values, are shown in the form and the editor", async () => {
    const text = `# ${ATTACKS[0]}\n${"# x\n".repeat(100_000)}[server]\nport = 1\n`;
    const path = `/etc/${ATTACKS[1]}.toml`;
    const file: JsonObject = {
      path,
      isEditable: true,
      reason: ATTACKS[2]!,
      text,
      tree: { server: { port: 1 } },
      digest: "d",
      versions: [{ id: "1", time: TIME, by: ATTACKS[0]! }],
    };
    const { page, faults } = await open("settings", {
      settings: { files: [file], overrides: [{ path: "server.port", origin: ATTACKS[1]! }] },
      "settings/check": { problems: [LARGE], isChanged: false },
    });
    await page.getByRole("textbox", { name: "Text of the file" }).waitFor();
    await assertHarmless(page, faults);
    await page.context().close();
  });
});
