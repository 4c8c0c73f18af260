// `toolyard open`: the link that signs a browser in once, and hubs that give none.
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ServeChild } from "../support/serve-child.ts";
import { Desk } from "./harness.ts";

let desk: Desk;
let guarded: ServeChild;
let open: ServeChild;
beforeAll(async () => {
  [desk, guarded, open] = await Promise.all([
    Desk.create(),
    ServeChild.start({ config: { server: { tokens: { ops: { token: "t-ops" } } } } }),
    ServeChild.start({ config: {}, args: ["--base-path", "/yard"] }),
  ]);
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

const rootOf = ({ url }: ServeChild): string => url.replace(/\/mcp$/, "");
const WITH_TOKEN = { TOOLYARD_TOKEN: "t-ops" };

test("prints a link whose code is in the fragment and opens one session", async () => {
  const words = ["open", "--no-browser", "--json", "--url", guarded.url];
  const { code, stdout } = await desk.run(words, { env: WITH_TOKEN });
  const { url, opened } = JSON.parse(stdout) as { url: string; opened: boolean };
  expect([code, opened]).toEqual([0, false]);
  expect(url.replace(/#code=[\w-]{43}$/, "")).toBe(`${rootOf(guarded)}/console/`);
  expect(new URL(url).search).toBe("");
  expect(url).not.toContain("t-ops");
  const signIn = (): Promise<Response> =>
    fetch(`${rootOf(guarded)}/api/admin/session`, {
      method: "POST",
      body: new URLSearchParams({ code: url.split("#code=")[1]! }),
    });
  const [first, second] = [await signIn(), await signIn()];
  expect([first.status, second.status]).toEqual([200, 401]);
  expect(first.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
});

/** Returns the variables of a browser that writes its argument to a file, and a function that awaits the argument. */
function recordingBrowser(name: string): {
  readonly env: Record<string, string>;
  readonly given: () => Promise<string>;
} {
  const file = join(desk.folder, name);
  const write = `require('node:fs').writeFileSync(${JSON.stringify(file)},process.argv[1]+';')`.replaceAll(" ", "");
  const given = async (): Promise<string> => {
    await vi.waitFor(async () => expect(await readFile(file, "utf8")).toMatch(/;$/), 10_000);
    return (await readFile(file, "utf8")).slice(0, -1);
  };
  return { env: { BROWSER: `${process.execPath} -e ${write}` }, given };
}

test("opens the browser with a private file that leads to the link, so that no argument has the code", async () => {
  const { env, given } = recordingBrowser("opened.txt");
  const { code, stdout } = await desk.run(["open", "--url", guarded.url], { env: { ...WITH_TOKEN, ...env } });
  expect(code).toBe(0);
  expect(stdout).toContain(`The browser opens ${rootOf(guarded)}/console/. If it does not, run`);
  const address = await given();
  expect(address).toMatch(/^file:\/\/\/.*\/open\/open-[0-9a-f]{16}\.html$/);
  const page = await readFile(new URL(address), "utf8");
  expect(page).toMatch(/http-equiv="refresh" content="0; url=http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{43}"/);
  expect((await stat(new URL(address))).mode & 0o777).toBe(0o600);
  expect((await stat(new URL(".", address))).mode & 0o777).toBe(0o700);
});

test("removes the files of earlier openings after a minute, and no other file", async () => {
  const { env, given } = recordingBrowser("again.txt");
  const folder = new URL(".", await recordedFolder());
  const [old, other] = [new URL("open-0123456789abcdef.html", folder), new URL("notes.html", folder)];
  for (const file of [old, other]) {
    await writeFile(file, "x");
    await utimes(file, new Date(0), new Date(0));
  }
  await desk.run(["open", "--url", guarded.url], { env: { ...WITH_TOKEN, ...env } });
  await readFile(new URL(await given()));
  await expect(stat(old)).rejects.toThrow("ENOENT");
  expect((await stat(other)).size).toBe(1);
});

async function recordedFolder(): Promise<string> {
  const { env, given } = recordingBrowser("folder.txt");
  await desk.run(["open", "--url", guarded.url], { env: { ...WITH_TOKEN, ...env } });
  return given();
}

test("opens the address itself if it contains no sign-in code", async () => {
  const { env, given } = recordingBrowser("plain.txt");
  await desk.run(["open", "--url", open.url], { env });
  expect(await given()).toBe(`${rootOf(open)}/console/`);
});

test("prints the console's address without a sign-in code if none is needed, also below a base path", async () => {
  const { stdout } = await desk.run(["open", "--no-browser", "--json", "--url", open.url]);
  expect(JSON.parse(stdout)).toEqual({ url: `${rootOf(open)}/console/`, opened: false });
});

test("prints the address without a sign-in code if there is no token, and refuses a wrong token", async () => {
  const words = ["open", "--no-browser", "--json", "--url", guarded.url];
  expect(JSON.parse((await desk.run(words)).stdout)).toMatchObject({ url: `${rootOf(guarded)}/console/` });
  const { code, stdout, stderr } = await desk.run(words, { env: { TOOLYARD_TOKEN: "wrong" } });
  expect(code).not.toBe(0);
  expect(stdout + stderr).toMatch(/token/i);
});

test("reports a hub without a console, and an address where no hub answers", async () => {
  await using off = await ServeChild.start({ config: { console: { enabled: false } } });
  const refused = await desk.run(["open", "--no-browser", "--url", off.url]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("serves no console");
  const nobody = await desk.run(["open", "--no-browser", "--url", "http://127.0.0.1:9/mcp"]);
  expect(nobody.stderr).toContain("No hub answers at http://127.0.0.1:9");
});
