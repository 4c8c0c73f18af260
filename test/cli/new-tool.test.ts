import { chmod, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { TOOL_KINDS } from "../../packages/toolyard/src/cli/new-tool/kinds.ts";
import { Desk, exitOf, MAIN, textOf } from "./harness.ts";

/** Runs a printed line in a shell, as a user would. */
async function shell(desk: Desk, line: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const PATH = [desk.path("bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = desk.startCommand(["sh", "-c", line], { env: { PATH } });
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
  return { code, output: stdout + stderr };
}

async function deskWithCommand(files: Readonly<Record<string, string>> = {}): Promise<Desk> {
  const desk = await Desk.create({
    ...files,
    "bin/toolyard": `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`,
  });
  await chmod(desk.path("bin/toolyard"), 0o755);
  return desk;
}

describe("new", () => {
  test.each(TOOL_KINDS)(
    "--%s: the tool works immediately; its test passes, and fails if the tool is broken",
    async (kind) => {
      await using desk = await deskWithCommand();
      const made = await desk.run(["new", "count-it", `--${kind}`, "--json"]);
      expect(made).toMatchObject({ code: 0, stderr: "" });
      const told = JSON.parse(made.stdout) as { run: string; test: string; folder: string; files: readonly string[] };
      const ran = await shell(desk, told.run);
      expect(ran.code).toBe(0);
      expect(JSON.parse(ran.output)).toEqual({ words: 6 });
      expect(await shell(desk, told.test)).toMatchObject({ code: 0 });
      expect(await desk.run(["check"])).toMatchObject({ code: 0 });
      const program = told.files.find((name) => !name.includes("test") && /\.(?:py|mjs|ts|sh)$/.test(name))!;
      await writeFile(join(told.folder, program), "");
      expect((await shell(desk, told.test)).code).not.toBe(0);
    },
  );

  test("prints the written files, and the lines that run and test it", async () => {
    await using desk = await deskWithCommand();
    const { stdout } = await desk.run(["new", "words"]);
    expect(stdout).toBe(
      `Wrote tools/words: tool.toml, words.mjs, words.test.mjs. It is in ${desk.path("toolyard.toml")}.\n` +
        'Run it:  toolyard call words text="to be or not to be"\n' +
        "Test it: node --test tools/words/words.test.mjs\n",
    );
  });

  test("the printed lines that run and test the tool contain the named configuration", async () => {
    await using desk = await deskWithCommand({ "toolyard.toml": "", "of mine/yard.toml": "" });
    const { stdout } = await desk.run(["new", "words", "--config", "of mine/yard.toml", "--json"]);
    const told = JSON.parse(stdout) as { run: string; test: string };
    expect(await shell(desk, told.run)).toMatchObject({ code: 0, output: '{"words":6}\n' });
    expect(await shell(desk, told.test)).toMatchObject({ code: 0 });
  });

  test("creates a second tool in the folder that the configuration names", async () => {
    await using desk = await Desk.create({ "toolyard.toml": '# mine\n[scripts]\ntools_path = ["mine"]\n' });
    await desk.run(["new", "one"]);
    await desk.run(["new", "two", "--sh"]);
    expect(await readFile(desk.path("toolyard.toml"), "utf8")).toBe('# mine\n[scripts]\ntools_path = ["mine"]\n');
    expect(await desk.run(["list"])).toMatchObject({ stdout: expect.stringMatching(/^one [^]*^two /m) });
  });

  test("refuses an existing folder, an invalid name and two kinds, and writes nothing", async () => {
    await using desk = await Desk.create({ "tools/one/x": "mine" });
    expect(await desk.run(["new", "one"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is there already"),
    });
    expect(await desk.run(["new", "../one"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is no name for a tool"),
    });
    expect(await desk.run(["new", "two", "--python", "--ts"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--python, --ts are given"),
    });
    await expect(readFile(desk.path("toolyard.toml"))).rejects.toThrow("ENOENT");
  });
});
