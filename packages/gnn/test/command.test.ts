import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Desk } from "../../../test/cli/harness.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");
const SPOILT = TWO_ROOM.replace("D>s\n", "D?s\n");

describe("toolyard gnn check", () => {
  test("exits with 0 for valid files and with 1 if one is invalid", async () => {
    await using desk = await Desk.create({ "models/a.md": TWO_ROOM, "models/deeper/b.md": SPOILT });
    expect(await desk.run(["gnn", "check", "models/a.md"])).toMatchObject({
      code: 0,
      stdout: "1 file: 1 valid, 0 invalid\n",
    });
    const both = await desk.run(["gnn", "check", "models"]);
    expect(both.code).toBe(1);
    expect(both.stdout).toContain("models/deeper/b.md:23:1 error E005: ");
    expect(both.stdout).toContain("2 files: 1 valid, 1 invalid");
  });

  test("reads standard input, applies the `--profile` option, and prints JSON", async () => {
    await using desk = await Desk.create();
    const text = TWO_ROOM.replace("s-A", "(s,o)-A");
    const { code, stdout } = await desk.run(["gnn", "check", "-", "--json", "--profile", "strict-v1"], { stdin: text });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ is_valid: false, diagnostics: [{ code: "E005", start: { line: 24, column: 1 } }] }],
    });
  });

  test("prints SARIF with the position of each diagnostic", async () => {
    await using desk = await Desk.create({ "b.md": SPOILT });
    const { runs } = JSON.parse((await desk.run(["gnn", "check", "b.md", "--sarif"])).stdout);
    expect(runs[0].tool.driver.rules[runs[0].results[0].ruleIndex].id).toBe(runs[0].results[0].ruleId);
    expect(runs[0].results[0]).toMatchObject({
      level: "error",
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: `file://${desk.path("b.md")}` },
            region: { startLine: 23, startColumn: 1, endLine: 23, endColumn: 4 },
          },
        },
      ],
    });
  });

  test("reports a missing file as a usage error with its name", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["gnn", "check", "none.md"])).toMatchObject({
      code: 2,
      stderr: 'There is no file "none.md".\n',
    });
  });

  test.skipIf(process.platform === "win32")("reports an unreadable subfolder as a usage error", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM });
    const deep = join(...Array.from({ length: 10 }, () => "d".repeat(240)));
    for (const top of ["one", "two"]) mkdirSync(desk.path(join(top, deep)), { recursive: true });
    // Each path is within the limit; joined, they exceed the maximum length of a path.
    const inside = desk.path(join("one", deep, "two"));
    renameSync(desk.path("two"), inside);
    try {
      const { code, stderr } = await desk.run(["gnn", "check", "."]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(". cannot be read: ENAMETOOLONG")]);
    } finally {
      renameSync(inside, desk.path("two"));
    }
  });

  test("escapes terminal control sequences of a file", async () => {
    await using desk = await Desk.create({ "x.md": "## Connections\na\u001B[2Jb\n" });
    expect((await desk.run(["gnn", "check", "x.md"])).stdout).not.toContain("\u001B");
  });
});

describe("toolyard gnn fmt", () => {
  test("formats files in place; --check then reports nothing", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM });
    expect(await desk.run(["gnn", "fmt", "--check", "a.md"])).toMatchObject({ code: 1, stdout: "a.md\n" });
    expect(readFileSync(desk.path("a.md"), "utf8")).toBe(TWO_ROOM);
    expect(await desk.run(["gnn", "fmt", "a.md"])).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(desk.path("a.md"), "utf8")).toContain("A[2,2,type=float]    # cue given room\n");
    expect(await desk.run(["gnn", "fmt", "--check", "a.md"])).toMatchObject({ code: 0, stdout: "" });
  });

  test("keeps a file's mode, and writes through a link", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM });
    chmodSync(desk.path("a.md"), 0o600);
    symlinkSync("a.md", desk.path("link.md"));
    expect(await desk.run(["gnn", "fmt", "link.md"])).toMatchObject({ code: 0 });
    expect(statSync(desk.path("a.md")).mode & 0o777).toBe(0o600);
    expect(lstatSync(desk.path("link.md")).isSymbolicLink()).toBe(true);
    expect(readFileSync(desk.path("a.md"), "utf8")).not.toBe(TWO_ROOM);
  });

  test("does not change a file without GNN", async () => {
    await using desk = await Desk.create({ "notes.md": "# Notes\n\n\n* x\n" });
    const { code, stderr } = await desk.run(["gnn", "fmt", "notes.md"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("notes.md is not changed: ")]);
    expect(readFileSync(desk.path("notes.md"), "utf8")).toBe("# Notes\n\n\n* x\n");
  });
});

describe("several files", () => {
  const FILES = { "models/a.md": TWO_ROOM, "models/deeper/b.gnn": TWO_ROOM, "c.md": TWO_ROOM };

  test.each<[string, readonly string[], string]>([
    ["export", ["--to", "graphml"], "graphml"],
    ["render", ["--to", "numpy"], "py"],
    ["draw", [], "svg"],
    ["draw", ["--format", "png"], "png"],
    ["run", ["--steps", "2"], "svg"],
  ])("%s %j writes a file for each input into the given folder", async (command, more, ending) => {
    await using desk = await Desk.create(FILES);
    const place = command === "run" ? "--plot" : "--output";
    const { code, stderr } = await desk.run(["gnn", command, "models", "c.md", ...more, place, "new/out"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(readdirSync(desk.path("new/out"))).toEqual(["a", "b", "c"].map((name) => `${name}.${ending}`));
  });

  test("writes nothing without an output folder, or if two files have the same output", async () => {
    await using desk = await Desk.create({ ...FILES, "c.gnn": TWO_ROOM });
    expect(await desk.run(["gnn", "export", "models", "--to", "json"])).toMatchObject({
      code: 2,
      stderr: "2 files are read. Name an output folder with --output.\n",
    });
    expect(await desk.run(["gnn", "export", "c.md", "c.gnn", "--to", "json", "-o", "out"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("c.md and c.gnn would both be written to c.json."),
    });
    expect(await desk.run(["gnn", "render", "c.md", "-", "--to", "numpy", "-o", "out"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Standard input (-) cannot be combined with files."),
    });
    expect(existsSync(desk.path("out"))).toBe(false);
  });

  test("renders the other files if one is refused, and exits with 2", async () => {
    await using desk = await Desk.create({ "a.md": SPOILT, "b.md": TWO_ROOM });
    const { code, stderr } = await desk.run(["gnn", "render", "a.md", "b.md", "--to", "numpy", "-o", "out"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("A part of a.md cannot be read.")]);
    expect(readdirSync(desk.path("out"))).toEqual(["b.py"]);
  });

  test("prints runs one after the other", async () => {
    await using desk = await Desk.create(FILES);
    const { code, stdout } = await desk.run(["gnn", "run", "models", "--steps", "1"]);
    expect([code, stdout.match(/^Two-Room Agent: /gm)]).toEqual([0, ["Two-Room Agent: ", "Two-Room Agent: "]]);
  });
});

describe("toolyard gnn export", () => {
  test("writes a format, and reads it back", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM });
    for (const format of ["json", "xml", "cbor"]) {
      expect(await desk.run(["gnn", "export", "a.md", "--to", format, "-o", `a.${format}`])).toMatchObject({ code: 0 });
      const back = await desk.run(["gnn", "export", `a.${format}`, "--to", "plaintext_dsl"]);
      expect(back.stdout).toContain("π>u\n");
    }
  });

  test("reports unreadable lines, and exits with 1", async () => {
    await using desk = await Desk.create({ "b.md": SPOILT });
    const { code, stdout, stderr } = await desk.run(["gnn", "export", "b.md", "--to", "dot"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("b.md:23:1 error E005")]);
    expect(stdout).toContain("digraph");
  });

  test("refuses a device that never ends without reading it", async ({ skip }) => {
    skip(process.platform === "win32", "not on this platform");
    await using desk = await Desk.create();
    const { code, stderr } = await desk.run(["gnn", "export", "/dev/zero", "--to", "json"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("/dev/zero cannot be read: It is not a regular file.")]);
  });

  test("reports an unknown format as a usage error with the list of formats", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM });
    const { code, stderr } = await desk.run(["gnn", "export", "a.md", "--to", "pickle"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--to must be one of json, xml,")]);
  });
});

test("S16: toolyard gnn export refuses a pickle with the reason and what to use instead", async () => {
  await using desk = await Desk.create({ "a.md": TWO_ROOM });
  const { code, stderr } = await desk.run(["gnn", "export", "a.md", "--to", "pickle", "-o", "a.pkl"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("because loading a pickle runs the code in it")]);
  expect(stderr).toContain("Use JSON, or CBOR");
});

describe("toolyard gnn new", () => {
  test("writes a model with the given name and sizes, which is valid and runs", async () => {
    await using desk = await Desk.create();
    const args = ["--name", "Weather", "--states", "3", "--observations", "4", "-o", "weather.md"];
    for (const template of ["perception", "hmm", "pomdp"]) {
      expect(await desk.run(["gnn", "new", "--template", template, ...args])).toMatchObject({ code: 0, stdout: "" });
      expect(readFileSync(desk.path("weather.md"), "utf8")).toContain("A[4,3,type=float]");
      expect(await desk.run(["gnn", "check", "weather.md"])).toMatchObject({ code: 0 });
    }
    expect(await desk.run(["gnn", "run", "weather.md", "--steps", "2"])).toMatchObject({ code: 0 });
    expect((await desk.run(["gnn", "new"])).stdout).toContain("## GNNSection\nMymodel\n");
  });

  test("reports an invalid size or name as a usage error", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["gnn", "new", "--states", "65"])).toMatchObject({
      code: 2,
      stderr: '--states must be at most 64, got "65".\n',
    });
    expect(await desk.run(["gnn", "new", "--name", " "])).toMatchObject({
      code: 2,
      stderr: "--name must be one line of 1 to 100 characters.\n",
    });
  });
});

describe("toolyard gnn diff", () => {
  test("prints the changes of the model and exits with 1; exits with 0 if only the layout changed", async () => {
    const after = TWO_ROOM.replace("A[2,2,", "A[3,2,").replace("s-A\n", "");
    await using desk = await Desk.create({ "a.md": TWO_ROOM, "b.md": after, "c.md": TWO_ROOM });
    const { code, stdout } = await desk.run(["gnn", "diff", "a.md", "b.md"]);
    expect([code, stdout]).toEqual([
      1,
      "~ StateSpaceBlock A: A[2,2,type=float] → A[3,2,type=float]\n- Connections s-A\n",
    ]);
    await desk.run(["gnn", "fmt", "c.md"]);
    expect(await desk.run(["gnn", "diff", "a.md", "c.md"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const json = await desk.run(["gnn", "diff", "-", "b.md", "--json"], { stdin: TWO_ROOM });
    expect(JSON.parse(json.stdout)).toMatchObject({ same: false, differences: [{ change: "changed", name: "A" }, {}] });
  });

  test("reports standard input given twice as a usage error", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["gnn", "diff", "-", "-"])).toMatchObject({
      code: 2,
      stderr: "Only one of the two files can be standard input. Name a file for the other.\n",
    });
  });
});

describe("toolyard gnn explain", () => {
  test("explains a model; reports unreadable lines and exits with 1", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM, "b.md": SPOILT });
    const { code, stdout } = await desk.run(["gnn", "explain", "a.md"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Two-Room Agent has 11 variables and 8 edges.")]);
    expect(await desk.run(["gnn", "explain", "b.md"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("7 edges"),
      stderr: expect.stringContaining("b.md:23:1 error E005"),
    });
  });
});
