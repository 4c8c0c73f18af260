import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OptionError } from "toolyard";
import { check, draw, exportFiles, fmt, render, run, type CommandIo } from "../src/command/gnn-commands.ts";
import { outputPaths } from "../src/command/output-paths.ts";
import { checkGnn } from "../src/checks/check.ts";
import { viewOf } from "../src/language/view.ts";
import { parseGnn } from "../src/language/parse.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");
/** A model that is invalid only in a value that no program needs: its length differs from the declared one. */
const INVALID = TWO_ROOM.replace("## Connections", "x[3]\n## Connections").replace(
  "## Equations",
  "x={(0.5,0.5)}\n## Equations",
);

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "toolyard-gnn-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** Returns a command's output, error output and exit code. */
async function outcomeOf(
  command: (io: CommandIo) => Promise<number>,
): Promise<{ out: string; err: string; code: number }> {
  let [out, err] = ["", ""];
  const io: CommandIo = {
    cwd: folder,
    readStdin: async () => "",
    print: async (text) => void (out += `${text}\n`),
    say: async (text) => void (err += `${text}\n`),
    printBytes: async () => {},
  };
  return { code: await command(io), out, err };
}

function written(name = "out"): readonly string[] {
  return readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(join(folder, name).length + 1)
        .replaceAll("\\", "/"),
    )
    .toSorted();
}

describe("files of the same name", () => {
  test("files of the same name keep their folders below the shared folder; other files do not", async () => {
    put({ "models/x/agent.md": TWO_ROOM, "models/y/deep/agent.gnn": TWO_ROOM, "models/other.md": TWO_ROOM });
    for (const [command, ending] of [
      [(io: CommandIo) => render(["models"], { to: "numpy", output: "out" }, io), "py"],
      [(io: CommandIo) => exportFiles(["models"], { to: "json", output: "out" }, io), "json"],
      [(io: CommandIo) => draw(["models"], { output: "out" }, io), "svg"],
      [(io: CommandIo) => run(["models"], { plot: "out", steps: "1" }, io), "svg"],
    ] as const) {
      expect(await outcomeOf(command)).toMatchObject({ code: 0, err: "" });
      expect(written()).toEqual([`other.${ending}`, `x/agent.${ending}`, `y/deep/agent.${ending}`]);
      rmSync(join(folder, "out"), { recursive: true });
    }
  });

  test.each([
    [
      ["a.md", "b/a.md"],
      ["a.py", "b/a.py"],
    ],
    [
      ["m/a/x.md", "m/b/x.md", "m/c.md"],
      ["a/x.py", "b/x.py", "c.py"],
    ],
    [
      ["A.md", "b/a.md"],
      ["A.py", "b/a.py"],
    ],
    [
      ["../one/x.md", "../two/x.md"],
      ["one/x.py", "two/x.py"],
    ],
    [
      ["a/x.md", "a/b/x.md", "c/x.gnn"],
      ["a/x.py", "a/b/x.py", "c/x.py"],
    ],
  ])("writes %j to %j", (files, paths) => {
    expect(outputPaths(files, ".py").map((path) => path.replaceAll("\\", "/"))).toEqual(paths);
  });

  test.each([[["a.md", "a.md"]], [["x/a.md", "x/a.gnn"]]])("refuses two files with the same output: %j", (files) => {
    expect(() => outputPaths(files, ".py")).toThrow(OptionError);
  });
});

describe("a folder with other files", () => {
  const LATIN1 = Buffer.from("## GNNSection\ncaf\u00e9\n", "latin1");

  test("reports a file in another encoding, and processes the others", async () => {
    put({ "models/a.md": TWO_ROOM, "models/bad.md": LATIN1, "models/z.md": TWO_ROOM });
    const checked = await outcomeOf((io) => check(["models"], {}, io));
    expect(checked).toMatchObject({ code: 2, err: expect.stringContaining("bad.md is not UTF-8") });
    expect(checked.out).toContain("2 files: 2 valid, 0 invalid");
    const rendered = await outcomeOf((io) => render(["models"], { to: "numpy", output: "out" }, io));
    expect([rendered.code, rendered.err]).toEqual([2, expect.stringContaining("bad.md cannot be read")]);
    expect(written()).toEqual(["a.py", "z.py"]);
    expect(await outcomeOf((io) => fmt(["models"], {}, io))).toMatchObject({ code: 2 });
    expect(readFileSync(join(folder, "models/z.md"), "utf8")).not.toBe(TWO_ROOM);
    await expect(outcomeOf((io) => check(["models/bad.md"], {}, io))).rejects.toThrow("is not UTF-8");
  });

  test("skips a README.md without GNN, and reports it as invalid only if it is given by name", async () => {
    put({ "models/a.md": TWO_ROOM, "models/README.md": "# Models\n\n## Usage\n\n## Time\n\nSome.\n" });
    expect(await outcomeOf((io) => check(["models"], {}, io))).toMatchObject({
      code: 0,
      out: "1 file: 1 valid, 0 invalid\n",
      err: expect.stringMatching(/README\.md contains no GNN section and is skipped\.\n$/),
    });
    expect(await outcomeOf((io) => run(["models"], { steps: "1" }, io))).toMatchObject({ code: 0 });
    expect(await outcomeOf((io) => check(["models/README.md"], {}, io))).toMatchObject({ code: 1 });
  });

  test("prints the file name before each of several runs, also in JSON", async () => {
    put({ "models/a.md": TWO_ROOM, "models/b.md": TWO_ROOM });
    const { out } = await outcomeOf((io) => run(["models"], { steps: "1" }, io));
    expect(out).toMatch(/^models.a\.md:\nTwo-Room Agent: [^]*\nmodels.b\.md:\nTwo-Room Agent: /);
    const data = await outcomeOf((io) => run(["models"], { steps: "1", json: true }, io));
    expect(
      data.out
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { file_path: string }).file_path.slice(-4)),
    ).toEqual(["a.md", "b.md"]);
  });
});

describe("# a file with errors in parts that a program does not use", () => {
  test("renders and runs the file with a warning, and exits with 1", async () => {
    put({ "invalid.md": INVALID });
    const rendered = await outcomeOf((io) => render(["invalid.md"], { to: "numpy", output: "out.py" }, io));
    expect(rendered).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^invalid\.md: Warning: the file is invalid \(1 error\)\. Line \d+: The value of x is 1×2, but line/,
      ),
    });
    expect(readFileSync(join(folder, "out.py"), "utf8")).toContain("Warning: the file is invalid");
    const ran = await outcomeOf((io) => run(["invalid.md"], { steps: "1" }, io));
    expect(ran).toMatchObject({ code: 1, out: expect.stringContaining("Warning: the file is invalid") });
    put({ "valid.md": TWO_ROOM });
    expect(await outcomeOf((io) => render(["valid.md"], { to: "numpy" }, io))).toMatchObject({ code: 0, err: "" });
  });
});

describe("models in code fences", () => {
  const titles = (text: string): readonly (string | undefined)[] =>
    parseGnn(text).file.models.map((model) => viewOf(model).name);
  const fenced = (fence: string, info = ""): string => `${fence}${info}\n${TWO_ROOM}${fence}\n`;

  test.each([
    ["a document", `# How to\n\n${fenced("```", "gnn")}\nThat is all.\n\n## Time\n\nIt takes some.\n`],
    ["an answer that is one block", fenced("```", "markdown")],
    ["tildes", `Look:\n\n${fenced("~~~")}`],
    ["a longer fence", `Look:\n\n${fenced("````", " gnn")}`],
    ["a block without an end", `Look:\n\`\`\`gnn\n${TWO_ROOM}`],
    ["line ends of Windows", `# T\r\n${fenced("```", "gnn").replaceAll("\n", "\r\n")}`],
    ["excerpts before it", `\`\`\`\n## Time\nStatic\n\`\`\`\n${fenced("```")}`],
  ])("reads models in code fences: %s", (_kind, text) => {
    expect(titles(text)).toEqual(["Two-Room Agent"]);
    expect(checkGnn(text).diagnostics.filter(({ severity }) => severity !== "note")).toEqual([]);
  });

  test("separate fences contain separate models with their own lines", () => {
    const second = fenced("```", "gnn").replace("Two-Room Agent", "Other").replace("D>s\n", "D?s\n");
    const text = `# Two\n\n${fenced("```", "gnn")}\nAnd:\n\n${second}`;
    expect(titles(text)).toEqual(["Two-Room Agent", "Other"]);
    const [error] = checkGnn(text).diagnostics.filter(({ code }) => code === "E005");
    expect(text.split("\n")[error!.start.line - 1]).toBe("D?s");
  });

  test("a fence in a document that is a model is an example, and a fence without declarations is an excerpt", () => {
    const inner = fenced("```").replace("Two-Room", "Example");
    const example = TWO_ROOM.replace("## ModelName", `## ModelAnnotation\n${inner}\n## ModelName`);
    expect(titles(example)).toEqual(["Two-Room Agent"]);
    expect(titles("# Syntax\n```\n## StateSpaceBlock\nA[2]\n```\n")).toEqual([undefined]);
  });

  test("fmt does not change a document with models in fences", async () => {
    const text = `# How to\n\n${fenced("```", "gnn")}\nThat is all.\n`;
    put({ "guide.md": text });
    expect(await outcomeOf((io) => fmt(["guide.md"], {}, io))).toMatchObject({
      code: 0,
      err: "guide.md is not changed, because its models are in code fences of a document.\n",
    });
    expect(readFileSync(join(folder, "guide.md"), "utf8")).toBe(text);
  });
});
