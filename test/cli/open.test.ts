// `toolyard open`: the link that signs a browser in once, and hubs that give none.
import { readFile } from "node:fs/promises";
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

test("opens the browser with the link and does not print its code", async () => {
  const file = join(desk.folder, "opened.txt");
  const write = `require('node:fs').writeFileSync(${JSON.stringify(file)},process.argv[1])`.replaceAll(" ", "");
  const env = { ...WITH_TOKEN, BROWSER: `${process.execPath} -e ${write}` };
  const { code, stdout } = await desk.run(["open", "--url", guarded.url], { env });
  expect([code, stdout]).toEqual([0, `The browser opens ${rootOf(guarded)}/console/.\n`]);
  await vi.waitFor(async () => expect(await readFile(file, "utf8")).toMatch(/\/console\/#code=[\w-]{43}$/), 10_000);
});

test("gives the address without a link where none is needed, also below a base path", async () => {
  const { stdout } = await desk.run(["open", "--no-browser", "--json", "--url", open.url]);
  expect(JSON.parse(stdout)).toEqual({ url: `${rootOf(open)}/console/`, opened: false });
});

test("gives the address of the sign-in without a token, and refuses a wrong token", async () => {
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
