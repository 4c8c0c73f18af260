import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { callTool, folderServices, testSource, ToolFolder } from "../support/tool-folder.ts";
import type { Preparation, Provider } from "../../packages/toolyard/src/core/sources/provider.ts";
import { createInstalls } from "../../packages/toolyard/src/hub/installs.ts";
import { resolveScripts, type ScriptsConfig } from "../../packages/toolyard/src/providers/scripts/options.ts";
import { createScriptsProvider } from "../../packages/toolyard/src/providers/scripts/provider.ts";

const UV = fileURLToPath(new URL("../fixtures/installs/uv.cjs", import.meta.url));
/** The tests start child processes, which takes long on a slow machine. */
const LONG = { timeout: 120_000 };
const POLL = { timeout: 60_000 };

let folder: ToolFolder;
let bin: string;
const providers: Provider[] = [];

beforeEach(() => {
  folder = new ToolFolder();
  bin = join(folder.path, ".test-bin");
  mkdirSync(bin);
  copyFileSync(UV, join(bin, "uv"));
  chmodSync(join(bin, "uv"), 0o755);
  vi.stubEnv("PATH", `${bin}${delimiter}${process.env["PATH"] ?? ""}`);
});

afterEach(async () => {
  rmSync(join(bin, "slow"), { force: true });
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

function provide(config: ScriptsConfig = {}, lazy?: boolean): Provider {
  const data = join(folder.path, ".test-data");
  const provider = createScriptsProvider(
    testSource("scripts"),
    resolveScripts({ tools_path: folder.path, ...config }),
    {
      ...folderServices(),
      installs: async () => createInstalls(join(data, "installs")),
      environmentsFolder: join(data, "environments"),
      variables: {},
      lazy,
    },
  );
  providers.push(provider);
  provider.open();
  return provider;
}

/** Writes a script with a header that names a module, and an import of it. */
function needing(name: string, module: string, toml = ""): void {
  folder.script(
    name,
    `${name}.py`,
    `# /// script\n# dependencies = ["${module}"]\n# ///\nimport ${module}\nprint(${module}.NAME)\n`,
    toml,
  );
}

const runs = (): readonly string[] =>
  existsSync(join(bin, "uv.log")) ? readFileSync(join(bin, "uv.log"), "utf8").trim().split("\n") : [];
const answered = (text: string) => ({ ok: true, result: { content: [{ type: "text", text }] } });
const only = async (provider: Provider): Promise<Preparation> => (await provider.preparations!())[0]!;

describe("# packages in the headers of scripts", () => {
  // The replacement for uv is a program by its `#!` line, which Windows does not support.
  beforeEach(({ skip }) => skip(process.platform === "win32", "not on this platform"));

  test("are prepared once for equal headers at the start of a hub, and reused by the next hub", LONG, async () => {
    needing("one", "aaa");
    needing("two", "aaa");
    const [first, second] = [provide(), provide()];
    expect(await callTool(first, "one")).toMatchObject(answered("aaa"));
    expect(await callTool(second, "one")).toMatchObject(answered("aaa"));
    const commands = [runs().length];
    expect(await callTool(provide(), "one")).toMatchObject(answered("aaa"));
    commands.push(runs().length);
    // The headers of the two scripts are equal.
    expect(commands).toEqual([1, 1]);
    expect(runs()[0]).toMatch(/^sync .*--no-build --active --script /);
  });

  test("are prepared with a progress line, while calls wait", LONG, async () => {
    needing("slow", "bbb");
    writeFileSync(join(bin, "slow"), "");
    const provider = provide();
    await expect.poll(() => provider.status().installing?.waitsFor, POLL).toBe("Resolving dependencies");
    expect(provider.status().installing).toMatchObject({ package: "header of slow", pid: expect.any(Number) });
    const answer = callTool(provider, "slow");
    rmSync(join(bin, "slow"));
    expect(await answer).toMatchObject(answered("bbb"));
    await expect.poll(() => provider.status().installing, POLL).toBeUndefined();
  });

  test("that are unavailable are named with uv's message and advice; other tools keep working", LONG, async () => {
    needing("lost", "none-such");
    folder.script("fine", "fine.py", "print('fine')\n");
    const provider = provide();
    expect(await callTool(provider, "fine")).toMatchObject(answered("fine"));
    const failure = await callTool(provider, "lost");
    expect(failure).toMatchObject({ ok: false, kind: "unavailable" });
    const { message } = failure as { message: string };
    expect(message).toContain("lost.py could not be installed (exit code 1). Its output: No solution found");
    expect(message).toContain("that your requirements are unsatisfiable. Correct the names");
    const { problems } = await provider.listing();
    expect(problems).toEqual([
      expect.objectContaining({ subject: "lost", message: `cannot be called now: ${message}` }),
    ]);
  });

  test("that are written while a hub runs are prepared neither by a call nor by a list", LONG, async () => {
    needing("first", "ccc");
    const provider = provide();
    expect(await callTool(provider, "first")).toMatchObject(answered("ccc"));
    needing("first", "ddd");
    needing("late", "eee");
    for (const name of ["first", "late"]) {
      await provider.listing();
      expect(await callTool(provider, name)).toMatchObject({
        ok: false,
        kind: "unavailable",
        message: expect.stringContaining("`toolyard prepare` installs them"),
      });
    }
    await provider.preparations!();
    expect(runs()).toHaveLength(1);
    for (const one of await provider.preparations!()) await one.run(new AbortController().signal);
    expect(await callTool(provider, "late")).toMatchObject(answered("eee"));
    expect(await callTool(provider, "first")).toMatchObject(answered("ddd"));
  });

  test("are not prepared for isolated tools, for a hub of one command, or with `never`", LONG, async () => {
    needing("walled", "fff", '[isolation]\nmode = "bwrap"\n');
    const walled = provide();
    expect(await walled.preparations!()).toEqual([]);
    folder.remove("walled");
    needing("open", "fff");
    expect(await only(provide({}, true))).toMatchObject({ tools: ["open"], isReady: false });
    const never = provide({ dependencies: "never" });
    expect(await callTool(never, "open")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("No module named 'fff'"),
    });
    expect(runs()).toEqual([]);
  });

  test("are ignored if a `.venv` is next to the script, and without uv", LONG, async () => {
    needing("own", "ggg");
    mkdirSync(join(folder.path, "own", ".venv", "bin"), { recursive: true });
    writeFileSync(join(folder.path, "own/.venv/bin/python"), "#!/bin/sh\necho its own\n", { mode: 0o755 });
    const provider = provide();
    expect(await callTool(provider, "own")).toMatchObject(answered("its own"));
    folder.remove("own/.venv");
    rmSync(join(bin, "uv"));
    vi.stubEnv("PATH", pathWithoutUv());
    const without = provide();
    expect(await only(without)).toMatchObject({
      commands: [],
      problem: expect.stringContaining("`uv`, which installs the packages in headers of scripts, is not on"),
    });
    expect(await callTool(without, "own")).toMatchObject({ message: expect.stringContaining("No module named 'ggg'") });
  });

  test("with a package source are not prepared, and a call reports that", LONG, async () => {
    const header = (lines: string): string => `# /// script\n${lines}\n# ///\nimport jjj\nprint(jjj.NAME)\n`;
    folder.script("indexed", "indexed.py", header('# dependencies = ["jjj"]\n# [[tool.uv.index]]\n# url = "http://x"'));
    folder.script("direct", "direct.py", header('# dependencies = ["jjj @ http://x/jjj.whl"]'));
    folder.write("direct/uv.toml", "index-url = 'http://x'\n");
    const provider = provide();
    for (const name of ["indexed", "direct"])
      expect(await callTool(provider, name)).toMatchObject({
        ok: false,
        message: expect.stringContaining("only `toolyard prepare` installs them, after asking you"),
      });
    expect(runs()).toEqual([]);
    const listed = await provider.preparations!();
    expect(listed.map(({ note }) => note)).toEqual(Array.from({ length: 2 }, () => expect.stringContaining("sources")));
    for (const one of listed) await one.run(new AbortController().signal);
    expect(await callTool(provider, "direct")).toMatchObject(answered("jjj"));
    // uv does not run next to the script, where settings of uv may exist that no user accepted.
    expect(readFileSync(join(bin, "uv.cwd"), "utf8")).not.toContain("direct");
  });

  test("whose install was killed are reported, and the next hub prepares them", LONG, async () => {
    needing("slow", "kkk");
    writeFileSync(join(bin, "slow"), "");
    const provider = provide();
    await expect.poll(() => provider.status().installing?.waitsFor, POLL).toBe("Resolving dependencies");
    process.kill(provider.status().installing!.pid!, "SIGKILL");
    rmSync(join(bin, "slow"));
    expect(await callTool(provider, "slow")).toMatchObject({
      ok: false,
      message: expect.stringMatching(/header of slow\.py could not be installed.* `toolyard prepare`/),
    });
    const next = await callTool(provide(), "slow");
    expect(next, JSON.stringify(next)).toMatchObject(answered("kkk"));
  });

  test("that do not fit on the disk are reported, without a login or a path of this machine", LONG, async () => {
    needing("full", "none-there");
    writeFileSync(
      join(bin, "says"),
      `error: Failed to write ${folder.path}/full/x from https://me:secret@files.example/x: No space left on device\n`,
    );
    const failure = await callTool(provide(), "full");
    expect(failure).toMatchObject({ ok: false, kind: "unavailable" });
    const { message } = failure as { message: string };
    expect(message).toContain("No space left on device. Make room on the disk, then run `toolyard prepare`.");
    expect(message).toContain("https://***@files.example/x");
    expect(message).not.toMatch(new RegExp(`secret|${folder.path}`));
  });

  test("that cannot be read are reported", LONG, async () => {
    folder.script("odd", "odd.py", "# /// script\n# dependencies = 7\n# ///\nprint(1)\n");
    expect(await callTool(provide(), "odd")).toMatchObject({
      ok: false,
      message: expect.stringContaining("The header of odd.py cannot be used: `dependencies` must be a list"),
    });
  });
});

/** Returns PATH without folders that contain a uv. */
function pathWithoutUv(): string {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((place) => !existsSync(join(place, "uv")))
    .join(delimiter);
}

describe("dependency files next to tools", () => {
  test("are listed for the tools below them, and installed automatically only with `auto`", LONG, async () => {
    folder.write("requirements.txt", "# only words\n");
    folder.script("plain", "plain.py", "print(1)\n");
    folder.script("py", "py.py", "print(1)\n");
    folder.write("py/requirements.txt", "hhh==1.0\n");
    folder.script("js", "js.mjs", "console.log(1)\n");
    folder.write("js/package.json", '{"type": "module", "dependencies": {"iii": "1.0.0"}}');
    folder.script("typed", "typed.mjs", "console.log(1)\n");
    folder.write("typed/package.json", '{"type": "module"}');
    const provider = provide();
    const list = await provider.preparations!();
    expect(list.map(({ kind, tools, isReady }) => [kind, tools, isReady])).toEqual([
      ["package.json", ["js"], false],
      ["requirements.txt", ["py"], false],
    ]);
    expect(list[0]!.commands[0]).toMatch(/npm\S* install --ignore-scripts/);
    expect(runs()).toEqual([]);
    // The package of this script would be requested from a remote registry.
    folder.remove("js");
    provide({ dependencies: "auto" });
    await expect.poll(runs, POLL).toContainEqual(expect.stringMatching(/^venv /));
  });
});
