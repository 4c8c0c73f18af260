import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planInstall } from "./plan.ts";
import { brokenFolders } from "./broken-folders.ts";

/** Creates a cache in the layout of uv 0.13: an environment whose files are links to unpacked wheels. */
class UvCache implements AsyncDisposable {
  private constructor(readonly root: string) {}

  static async create(): Promise<UvCache> {
    const cache = new UvCache(await mkdtemp(join(tmpdir(), "toolyard-uv-")));
    await cache.file("archive-v0/LCT3WT0IQ3iCaqCF/pyvenv.cfg", "archive-v0/LCT3WT0IQ3iCaqCF/bin/mcp-server-time");
    for (const name of ["mcp_server_time-1.0", "anyio-4.16.0"])
      await cache.file(`archive-v0/LCT3WT0IQ3iCaqCF/lib/python3.12/site-packages/${name}.dist-info/RECORD`);
    await cache.file("archive-v0/Qt5IbThG9j4XkxyM/anyio-4.16.0.dist-info/METADATA");
    for (const name of ["mcp-server-time", "anyio", "of-another"])
      await cache.file(`wheels-v8/pypi/${name}/1.0-py3-none-any.http`);
    await mkdir(cache.path("environments-v2"));
    await symlink("../archive-v0/LCT3WT0IQ3iCaqCF", cache.path("environments-v2/8b0cbae4892decd7"));
    return cache;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Returns the folders to remove after a start with this output. */
  broken(text: string): readonly string[] {
    const env = { HOME: "/home/ada", UV_CACHE_DIR: this.root };
    const plan = planInstall({ command: "uvx", args: ["mcp-server-time"] }, { env });
    return brokenFolders(text.replaceAll("CACHE", this.root).split("\n"), plan!.broken!);
  }

  async file(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await mkdir(join(this.path(name), ".."), { recursive: true });
      await writeFile(this.path(name), "");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true });
  }
}

const TRACEBACK = `Traceback (most recent call last):
  File "CACHE/archive-v0/LCT3WT0IQ3iCaqCF/lib/python3.11/site-packages/mcp/client/_input_required.py", line 17
    import anyio
ModuleNotFoundError: No module named 'anyio'`;

test("removes the environment of a missing module and the wheels of its packages, and no others", async () => {
  await using cache = await UvCache.create();
  expect(cache.broken(TRACEBACK)).toEqual([
    cache.path("archive-v0/LCT3WT0IQ3iCaqCF"),
    ...["anyio", "mcp-server-time"].map((name) => cache.path(`wheels-v8/pypi/${name}`)).toSorted(),
  ]);
});

test("removes an unpacked wheel without its RECORD file, together with the package's index entry", async () => {
  await using cache = await UvCache.create();
  const text = `error: Failed to install: anyio-4.16.0-py3-none-any.whl (anyio==4.16.0)
  cause: failed to open file \`CACHE/archive-v0/Qt5IbThG9j4XkxyM/anyio-4.16.0.dist-info/RECORD\`: No such file`;
  expect(cache.broken(text)).toEqual([cache.path("archive-v0/Qt5IbThG9j4XkxyM"), cache.path("wheels-v8/pypi/anyio")]);
});

test("finds a wheel that is named without its folder", async () => {
  await using cache = await UvCache.create();
  const text = `error: Failed to install: anyio-4.16.0-py3-none-any.whl (anyio==4.16.0)
  cause: The wheel is invalid: Missing .dist-info directory`;
  expect(cache.broken(text)).toEqual([cache.path("wheels-v8/pypi/anyio")]);
});

test("removes the environment of a missing program, and keeps an environment that has the program", async () => {
  await using cache = await UvCache.create();
  const text = "error: Failed to spawn: mcp-server-time\n  cause: No such file or directory (os error 2)";
  expect(cache.broken(text)).toEqual([]);
  await rm(cache.path("archive-v0/LCT3WT0IQ3iCaqCF/bin/mcp-server-time"));
  expect(cache.broken(text)).toContain(cache.path("archive-v0/LCT3WT0IQ3iCaqCF"));
});

test("removes an environment whose libraries are missing, although uv does not report it", async () => {
  await using cache = await UvCache.create();
  expect(cache.broken("")).toEqual([]);
  await rm(cache.path("archive-v0/LCT3WT0IQ3iCaqCF/lib"), { recursive: true });
  expect(cache.broken("")).toEqual([cache.path("archive-v0/LCT3WT0IQ3iCaqCF")]);
  expect(cache.broken("the time zone is not known")).toEqual([]);
});

test("leaves the cache unchanged if a module of the user's own server is missing", async () => {
  await using cache = await UvCache.create();
  expect(cache.broken(TRACEBACK.replace("CACHE", "/home/ada/project"))).toEqual([]);
});

test.each([
  "hint: Packages were unavailable because the network was disabled.",
  "  cause: Network connectivity is disabled, but the requested data wasn't found in the cache: https://x.test/a.whl",
  "  cause: Because a==1 needs to be downloaded from a registry and you require a, nothing fits.",
])("recognizes that the message `%s` requires a download", (line) => {
  const plan = planInstall({ command: "uvx", args: ["mcp-server-time"] }, { env: { HOME: "/home/ada" } });
  expect(plan?.missing?.test(line)).toBe(true);
});
