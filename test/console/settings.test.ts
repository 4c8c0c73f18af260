// Settings in the console: what the API and the page show of configuration files, and what a save changes.
import { createRequire } from "node:module";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type {
  SettingsCheck,
  SettingsFile,
  SettingsInfo,
  SettingsSaved,
} from "../../packages/toolyard/src/features/console/settings/settings-types.ts";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { ServeChild } from "../support/serve-child.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

const LINE = "process.stdin.resume()";
const EVERYTHING = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const COMMAND = JSON.stringify(["node", EVERYTHING, "stdio"]);
const SECRET = "s3cret-of-the-file";
const CONFIG = `# The hub of the team.
[logging]
format = "json" # for the collector

[server.tokens]
ops = { token = "t-ops" }
one = { token = "t-one", allow = ["execute_code"] }
# old = { token = "t-old" }

[console]
admins = ["token:ops"]

# Keep this comment.
[mcp.stdio_servers.idle]
command = ${COMMAND}
env = { API_KEY = "${SECRET}", MODE = "test", OTHER = "\${HOME}" }

[mcp.stdio_servers.other]
command = ${COMMAND}
`;

let hub: ServeChild;
beforeAll(async () => {
  hub = await ServeChild.start({ config: CONFIG, args: ["-y", "--no-watch"] });
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

/** Restores the file, and lets the hub apply it. */
beforeEach(async () => {
  await writeFile(hub.configFile, CONFIG);
  const { text, digest } = await fileOf();
  await send("PUT", "settings", { file: hub.configFile, text, digest });
});

interface ApiAnswer<T> {
  readonly status: number;
  readonly body: T;
  readonly text: string;
}

async function ask<T = JsonObject>(
  path: string,
  { token = "t-ops", of = hub, ...init }: RequestInit & { readonly token?: string; readonly of?: ServeChild } = {},
): Promise<ApiAnswer<T>> {
  const response = await fetch(`${of.url.replace(/\/mcp$/, "")}/api/admin/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers },
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as T, text };
}

const send = <T = JsonObject>(method: string, path: string, body: object): Promise<ApiAnswer<T>> =>
  ask<T>(path, { method, body: JSON.stringify(body) });

async function fileOf(of = hub): Promise<Required<SettingsFile>> {
  const { body } = await ask<SettingsInfo>("settings", { of });
  return body.files[0] as Required<SettingsFile>;
}

const check = async (text: string): Promise<SettingsCheck> =>
  (await send<SettingsCheck>("POST", "settings/check", { file: hub.configFile, text })).body;

test("shows the file without its secrets, and references to variables as they are", async () => {
  const { body, text } = await ask<SettingsInfo>("settings");
  const [file] = body.files;
  expect(file).toMatchObject({ path: hub.configFile, isEditable: true, versions: [] });
  for (const secret of ["t-ops", "t-one", "t-old", SECRET]) expect(text).not.toContain(secret);
  expect(file!.text).toContain('MODE = "test", OTHER = "${HOME}"');
  expect(file!.text!.match(/"<secret \d of [0-9a-f]{8}>"/g)).toHaveLength(4);
  expect(file!.tree).toMatchObject({ logging: { format: "json" } });
  expect(body.overrides).toContainEqual({ path: "server.port", origin: "flag" });
});

test("a save keeps secrets, comments and layout, and applies the change", async () => {
  const { text, digest } = await fileOf();
  const edited = text.replace('MODE = "test"', 'MODE = "live"');
  const checked = await check(edited);
  expect(checked).toMatchObject({ problems: [], isChanged: true });
  expect(checked.effects).toMatchObject({
    sources: { added: [], changed: ["idle"], removed: [] },
    sections: ["mcp"],
    atRestart: [],
    reopens: false,
  });
  const pidOf = async (id: string): Promise<unknown> => (await ask(`sources/${id}`)).body["pid"];
  await expect
    .poll(() => Promise.all([pidOf("idle"), pidOf("other")]))
    .toEqual([expect.any(Number), expect.any(Number)]);
  const [pid, otherPid] = await Promise.all([pidOf("idle"), pidOf("other")]);
  const saved = await send<SettingsSaved>("PUT", "settings", { file: hub.configFile, text: edited, digest });
  expect(saved.body).toMatchObject({ done: true, file: hub.configFile, effects: checked.effects });
  expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG.replace('MODE = "test"', 'MODE = "live"'));
  expect(await pidOf("idle")).not.toBe(pid);
  expect(await pidOf("other")).toBe(otherPid);
  expect((await fileOf()).digest).toBe(saved.body.digest);
  expect((await ask("session", { token: "t-one" })).status).toBe(200);
});

test("an undo restores the previous version, and a second undo the later one", async () => {
  const before = await fileOf();
  const edited = before.text.replace('format = "json"', 'format = "text"');
  expect((await check(edited)).effects).toMatchObject({ atRestart: ["logging"], sections: ["logging"] });
  const { body } = await send<SettingsSaved>("PUT", "settings", {
    file: hub.configFile,
    text: edited,
    digest: before.digest,
  });
  const [version] = (await fileOf()).versions;
  expect(version).toMatchObject({ by: "ops", time: expect.stringMatching(/^\d{4}-/) });
  const kept = await ask<{ text: string }>(`settings/versions/${version!.id}?file=${hub.configFile}`);
  expect(kept.body.text).toBe(before.text);
  const undone = await send<SettingsSaved>("POST", "settings/undo", { file: hub.configFile, digest: body.digest });
  expect(undone.status).toBe(200);
  expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG);
  await send("POST", "settings/undo", { file: hub.configFile, digest: undone.body.digest });
  expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG.replace('format = "json"', 'format = "text"'));
});

test("a file that was changed on disk is shown and not overwritten", async () => {
  const { text, digest } = await fileOf();
  const onDisk = `${CONFIG}# added by an editor, token sk-0123456789abcdefXY\n`;
  await writeFile(hub.configFile, onDisk);
  for (const [method, path] of [
    ["PUT", "settings"],
    ["POST", "settings/undo"],
  ] as const) {
    const refused = await send<{ conflict: { text: string; digest: string }; error: JsonObject }>(method, path, {
      file: hub.configFile,
      text: text.replace("test", "live"),
      digest,
    });
    expect(refused.status).toBe(409);
    expect(refused.body.error["message"]).toContain("was changed on disk");
    expect(refused.body.conflict.text).toContain("# Keep this comment.");
    expect(refused.text).not.toContain("sk-0123456789abcdefXY");
    expect(refused.body.conflict.digest).not.toBe(digest);
  }
  expect(await readFile(hub.configFile, "utf8")).toBe(onDisk);
});

test.each([
  ["an unknown key", (text: string) => text.replace("[console]", "[console]\nadmin = 1"), "unknown key"],
  [
    "a value of the wrong type",
    (text: string) => text.replace("[console]", "[console]\nenabled = 1"),
    "console.enabled",
  ],
  ["text that is not TOML", (text: string) => `${text}[[`, "toolyard.toml:"],
  ["a missing variable", (text: string) => `${text}[search]\nembedding = "\${NO_SUCH_VARIABLE}"\n`, "NO_SUCH_VARIABLE"],
  [
    "a limit of an endpoint",
    (text: string) => text.replace("[console]", '[console]\nsession_time = "1s"'),
    "session_time",
  ],
  [
    "two servers with one name",
    (text: string) => `${text}[[mcp.remote_servers]]\nurl = "https://x"\nnamespace = "idle"\n`,
    "idle",
  ],
  [
    "a secret in an option that is shown",
    (text: string) => `${text}[mcp.stdio_servers.x]\ncommand = ${/"<secret 1.*?"/.exec(text)![0]}\n`,
    "not the place of one",
  ],
  ["a placeholder of no secret", (text: string) => text.replace("<secret 1 ", "<secret 77 "), "placeholder"],
])("refuses %s before it is saved, in check and save", async (_name, edit, expected) => {
  const { text, digest } = await fileOf();
  const edited = edit(text);
  const { problems, effects } = await check(edited);
  expect(problems.join("\n")).toContain(expected);
  expect(effects).toBeUndefined();
  const refused = await send<{ error: JsonObject }>("PUT", "settings", { file: hub.configFile, text: edited, digest });
  expect(refused.status).toBe(422);
  expect(refused.body.error["message"]).toContain(expected);
  for (const secret of ["t-ops", SECRET]) expect(refused.text).not.toContain(secret);
  expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG);
});

test("edits one value of a text and keeps everything else", async () => {
  const { text } = await fileOf();
  const edit = (path: readonly string[], value?: unknown): Promise<ApiAnswer<{ text: string; error?: JsonObject }>> =>
    send("POST", "settings/edit", { file: hub.configFile, text, path, value });
  expect((await edit(["logging", "format"], "text")).body.text).toBe(text.replace('"json"', '"text"'));
  expect((await edit(["console", "admins"], ["token:ops", "group:x"])).body.text).toContain('"token:ops", "group:x"');
  expect((await edit(["mcp", "stdio_servers", "other"])).body.text).not.toContain("other");
  expect((await edit(["mcp", "stdio_servers", "other"])).body.text).toContain("# Keep this comment.");
  expect((await edit([], 1)).status).toBe(422);
  expect((await edit(["logging", "format"], null)).body.error!["message"]).toContain("Nothing was written");
});

test("the entry of a source is changed with the checks and the history of the file", async () => {
  const { body } = await ask<{ entry: JsonObject; digest: string; entryPath: string[] }>("sources/idle");
  expect(body.entryPath).toEqual(["mcp", "stdio_servers", "idle"]);
  expect(JSON.stringify(body.entry)).not.toContain(SECRET);
  const entry = { ...body.entry, cwd: "/", env: { ...(body.entry["env"] as JsonObject), MODE: "live" } };
  const saved = await send<SettingsSaved>("PUT", "sources/idle", { entry, digest: body.digest });
  expect(saved.body.effects.sources).toEqual({ added: [], changed: ["idle"], removed: [] });
  expect(await readFile(hub.configFile, "utf8")).toBe(
    CONFIG.replace('MODE = "test"', 'MODE = "live"').replace('${HOME}" }\n', '${HOME}" }\ncwd = "/"\n'),
  );
  expect((await send("PUT", "sources/idle", { entry, digest: body.digest })).status).toBe(409);
  const now = (await ask<{ digest: string }>("sources/idle")).body.digest;
  expect((await send("PUT", "sources/idle", { entry: { comand: [] }, digest: now })).status).toBe(422);
  expect((await send("PUT", "sources/idle", { entry: "x", digest: now })).status).toBe(422);
  expect((await send("PUT", "sources/builtin", { entry, digest: now })).status).toBe(409);
});

test.each([
  ["GET", "settings"],
  ["POST", "settings/check"],
  ["POST", "settings/edit"],
  ["POST", "settings/undo"],
  ["PUT", "settings"],
  ["GET", "settings/versions/1"],
  ["PUT", "sources/idle"],
])("refuses %s %s to a caller with narrowed rights, and to a page of another site", async (method, path) => {
  const body = method === "GET" ? {} : { body: "{}" };
  expect((await ask(path, { method, ...body, token: "t-one" })).status).toBe(403);
  const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  expect((await ask(path, { method, ...body, headers })).status).toBe(403);
  expect((await ask(path, { method, ...body, headers: { origin: hub.url.replace("/mcp", "") } })).status).toBe(403);
  expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG);
});

test("a file that the hub cannot edit is read-only with its path and the reason", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-settings-"));
  try {
    const editor = join(folder, "mcp.json");
    const servers = { fromeditor: { command: "node", args: ["-e", LINE], env: { API_KEY: SECRET } } };
    await writeFile(editor, JSON.stringify({ mcpServers: servers }));
    await using both = await ServeChild.start({ config: CONFIG, args: ["-y", "--config", editor] });
    const { body, text } = await ask<SettingsInfo>("settings", { of: both });
    expect(body.files.map(({ path, isEditable }) => [path, isEditable])).toEqual([
      [editor, false],
      [both.configFile, true],
    ]);
    expect(body.files[0]).toMatchObject({ reason: expect.stringContaining(`${editor} is JSON`) });
    expect(text).not.toContain(SECRET);
    expect((await ask("sources/fromeditor", { of: both })).body).toMatchObject({ isEditable: false });
    const put = { method: "PUT", body: JSON.stringify({ file: editor, text: "", digest: "" }), of: both };
    expect((await ask("settings", put)).status).toBe(409);
    for (const file of ["/etc/passwd", both.folder, ""])
      expect((await ask("settings", { ...put, body: JSON.stringify({ file, text: "", digest: "" }) })).status).toBe(
        404,
      );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a file that is not valid any more is shown with the reason and not sent", async () => {
  await writeFile(hub.configFile, `${CONFIG}[[\n`);
  const file = await fileOf();
  expect(file).toMatchObject({ isEditable: false, reason: expect.stringContaining("toolyard.toml:") });
  expect(file.text).toBeUndefined();
});

test("a file that is not writable is read-only", async ({ skip }) => {
  skip(process.getuid?.() === 0, "root can write every file");
  await chmod(hub.configFile, 0o400);
  expect(await fileOf()).toMatchObject({ isEditable: false, reason: expect.stringContaining("not writable") });
  await chmod(hub.configFile, 0o600);
});

test("a hub of a program without a file is read-only with the reason", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-settings-"));
  const library = await createHub({
    settings: { server: { port: 0, tokens: { ops: { token: "t-ops" } } } },
    variables: { TOOLYARD_HOME: home },
  });
  try {
    const of = { url: (await library.serve()).endpoint } as ServeChild;
    const { body } = await ask<SettingsInfo>("settings", { of });
    expect(body).toMatchObject({ files: [], readOnlyReason: expect.stringContaining("has no configuration file") });
  } finally {
    await library.close();
    await rm(home, { recursive: true });
  }
});

test("a hub without authentication shows no settings", async () => {
  await using open = await ServeChild.start({ config: "[logging]\nformat = 'json'\n" });
  const refused = await ask<{ error: JsonObject }>("settings", { of: open });
  expect([refused.status, refused.body.error["message"]]).toEqual([403, expect.stringContaining("read-only")]);
});

test("records saves, refused saves and undos with their caller in the audit", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-settings-"));
  try {
    const audit = join(folder, "audit.jsonl");
    await using audited = await ServeChild.start({
      config: `${CONFIG}\n[audit]\nfile = ${JSON.stringify(audit)}\n`,
      args: ["-y"],
    });
    const { text, digest } = await fileOf(audited);
    const save = (edited: string, token = "t-ops"): Promise<ApiAnswer<SettingsSaved>> =>
      ask("settings", {
        method: "PUT",
        body: JSON.stringify({ file: audited.configFile, text: edited, digest }),
        of: audited,
        token,
      });
    await save(`${text}[[`);
    await save(text, "t-one");
    const { digest: after } = (await save(`${text}# more\n`)).body;
    const undo = { method: "POST", body: JSON.stringify({ file: audited.configFile, digest: after }), of: audited };
    await ask("settings/undo", undo);
    const lines = async (): Promise<readonly unknown[]> =>
      (await readFile(audit, "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as JsonObject)
        .filter(({ event }) => event === "administration")
        .map(({ action, principal, kind }) => [action, principal, kind]);
    await expect.poll(lines).toEqual([
      ["save settings", "ops", "invalid_params"],
      ["save settings", "one", "denied"],
      ["save settings", "ops", "ok"],
      ["undo settings", "ops", "ok"],
    ]);
    expect(await readFile(audit, "utf8")).not.toContain(SECRET);
    const [history] = await readdir(join(audited.folder, "home", "data", "console", "history"));
    expect(history).toMatch(/^[0-9a-f]{32}$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "settings in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await startChromium()));
  afterAll(() => browser.close());

  const openSettings = (options = {}): ReturnType<typeof openPage> =>
    openPage(browser, `${hub.url.replace(/\/mcp$/, "")}/console/#/settings`, {
      extraHTTPHeaders: { authorization: "Bearer t-ops" },
      ...options,
    });
  type SettingsPage = Awaited<ReturnType<typeof openPage>>["page"];
  const editorText = async (page: SettingsPage): Promise<string> => page.locator(".cm-content").innerText();
  async function openSection(page: SettingsPage, name: string): Promise<void> {
    await page.locator("summary", { hasText: `[${name}]` }).click();
  }

  test("a field changes the text and keeps comments; the page names what needs a restart, and saves", async () => {
    const { page, faults } = await openSettings();
    await page.locator(".cm-content").waitFor();
    expect(await editorText(page)).not.toContain(SECRET);
    await openSection(page, "logging");
    await page.getByLabel(/^level/).selectOption({ label: "debug" });
    await page.getByText("Takes effect when the hub is restarted:").waitFor();
    await expect.poll(() => editorText(page)).toContain('level = "debug"');
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("was saved and applied").waitFor();
    expect(await readFile(hub.configFile, "utf8")).toBe(
      CONFIG.replace("# for the collector\n", '# for the collector\nlevel = "debug"\n'),
    );
    await page.getByRole("button", { name: "Undo the last save" }).click();
    await expect.poll(() => readFile(hub.configFile, "utf8")).toBe(CONFIG);
    await expect.poll(() => editorText(page)).not.toContain("debug");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("the entry of a source is edited by a form that keeps its secrets and comments", async () => {
    const { page, faults } = await openPage(browser, `${hub.url.replace(/\/mcp$/, "")}/console/#/sources/idle`, {
      extraHTTPHeaders: { authorization: "Bearer t-ops" },
    });
    await page.locator("summary", { hasText: "Edit the entry" }).click();
    const form = page.getByRole("form", { name: "Edit the entry" });
    await form.getByLabel(/^cwd/).fill("/");
    await form.getByLabel(/^MODE/).fill("live");
    expect(await form.innerHTML()).not.toContain(SECRET);
    expect(await auditPage(page)).toEqual([]);
    await form.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("was saved and applied").waitFor();
    expect(await readFile(hub.configFile, "utf8")).toBe(
      CONFIG.replace('MODE = "test"', 'MODE = "live"').replace('${HOME}" }\n', '${HOME}" }\ncwd = "/"\n'),
    );
    const { body } = await ask<{ entry: JsonObject }>("sources/idle");
    expect(body.entry).toMatchObject({ cwd: "/", env: { MODE: "live" } });
    await form.getByLabel(/^MODE/).fill("again");
    await writeFile(hub.configFile, `${CONFIG}# theirs\n`);
    await form.getByRole("button", { name: "Save", exact: true }).click();
    await form.getByRole("alert").getByText("was changed on disk").waitFor();
    expect(await readFile(hub.configFile, "utf8")).toBe(`${CONFIG}# theirs\n`);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("typed text changes the form, and a problem is shown and cannot be saved", async () => {
    const { page, faults } = await openSettings();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type('[search]\nembedding = "none"\n');
    await openSection(page, "search");
    await expect.poll(() => page.locator("details[open]", { hasText: "[search]" }).textContent()).toContain("set");
    await page.keyboard.press("Escape");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("nonsense = 1\n");
    await page.locator(".problem", { hasText: "search.nonsense: unknown key" }).first().waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Discard changes" }).click();
    await page.locator(".problem").first().waitFor({ state: "detached" });
    expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("both texts are shown after a change on disk, and the user decides", async () => {
    const { page } = await openSettings();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("# mine\n");
    const onDisk = `${CONFIG}# theirs\n`;
    await writeFile(hub.configFile, onDisk);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const conflict = page.getByRole("region", { name: "The file was changed on disk" });
    await conflict.waitFor();
    expect(await conflict.textContent()).toContain("# theirs");
    expect(await conflict.textContent()).toContain("# mine");
    expect(await readFile(hub.configFile, "utf8")).toBe(onDisk);
    expect(await auditPage(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue with the text on disk" }).click();
    await expect.poll(() => editorText(page)).toContain("# theirs");
    await conflict.waitFor({ state: "detached" });
    await page.context().close();
  });

  test.each([
    ["en-US", "Settings"],
    ["de-DE", "Einstellungen"],
    ["fr-FR", "Paramètres"],
  ])("is accessible in %s, in light and dark, with open sections, and fits 360 pixels", async (locale, heading) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, faults } = await openSettings({ locale, colorScheme, viewport: { width: 360, height: 740 } });
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.locator(".cm-content").waitFor();
      for (const section of ["server", "mcp", "console"]) await openSection(page, section);
      expect(await auditPage(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      expect(faults).toEqual([]);
      await page.context().close();
    }
  });
});
