import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { diffGnn } from "../src/helpers/diff.ts";
import { newModel, TEMPLATES, type TemplateName } from "../src/helpers/templates.ts";
import { parseGnn } from "../src/language/parse.ts";
import { printGnn } from "../src/language/print.ts";
import { gnn } from "../src/service.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { startModels } from "../../../test/agent/stand-in.ts";
import { Desk } from "../../../test/cli/harness.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");

test("every template is a valid model without a warning, for any sizes and name", () => {
  const size = fc.integer({ min: 1, max: 9 });
  const name = fc.stringMatching(/^[A-Za-zπ][\w π!-]{0,20}$/u);
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(TEMPLATES) as TemplateName[])),
      fc.record({ name, states: size, observations: size, actions: size }),
      (template, options) => {
        const { isValid, diagnostics } = checkGnn(newModel(template, options));
        expect(isValid, JSON.stringify(diagnostics)).toBe(true);
        expect(diagnostics.filter(({ severity }) => severity !== "note")).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test("a template has the canonical layout, and no findings with at least two states and two actions", () => {
  const size = fc.integer({ min: 2, max: 9 });
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(TEMPLATES) as TemplateName[])),
      fc.record({ name: fc.constantFrom("Agent", "Röntgen π"), states: size, observations: size, actions: size }),
      (template, options) => {
        const text = newModel(template, options);
        expect(printGnn(parseGnn(text).file)).toBe(text);
        expect(checkGnn(text).diagnostics).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

describe("differences", () => {
  const diff = (before: string, after: string) => diffGnn(parseGnn(before).file, parseGnn(after).file);

  test("ignores layout and comments", () => {
    expect(diff(TWO_ROOM, printGnn(parseGnn(TWO_ROOM).file).replaceAll("  #", "   # and"))).toEqual([]);
  });

  test("names each change with before and after", () => {
    const after = TWO_ROOM.replace("u[1,type=int]", "u[2,type=int]")
      .replace("C>G\n", "")
      .replace("D={(0.5, 0.5)}", "D={(0.4, 0.6)}")
      .replace("s-A\n", "s-A\nt>s\n");
    expect(diff(TWO_ROOM, after)).toEqual([
      { section: "StateSpaceBlock", change: "changed", name: "u", before: "u[1,type=int]", after: "u[2,type=int]" },
      { section: "Connections", change: "removed", name: "C>G", before: "C>G" },
      { section: "Connections", change: "added", name: "t>s", after: "t>s" },
      expect.objectContaining({ section: "InitialParameterization", change: "changed", name: "D" }),
    ]);
  });
});

describe("edges in another notation", () => {
  const diff = (before: string, after: string) => diffGnn(parseGnn(before).file, parseGnn(after).file);

  test("a group equals its single edges, and an undirected edge equals its reverse", () => {
    const grouped = TWO_ROOM.replace("C>G\n", "(C,t)>G\n");
    expect(diff(grouped, TWO_ROOM.replace("C>G\n", "t>G\nC>G\n"))).toEqual([]);
    expect(diff(TWO_ROOM, TWO_ROOM.replace("s-A\n", "A-s\n"))).toEqual([]);
  });

  test("reports a reversed edge, or an edge with another label, as different", () => {
    expect(diff(TWO_ROOM, TWO_ROOM.replace("C>G\n", "G>C\n")).map(({ change, name }) => [change, name])).toEqual([
      ["removed", "C>G"],
      ["added", "G>C"],
    ]);
    expect(diff(TWO_ROOM, TWO_ROOM.replace("s-A\n", "A-s:cue\n")).map(({ change, name }) => [change, name])).toEqual([
      ["removed", "s-A"],
      ["added", "A-s:cue"],
    ]);
  });

  test("uses the first declaration of a variable that is declared twice", () => {
    const twice = TWO_ROOM.replace("u[1,type=int]\n", "u[1,type=int]\nu[7,type=int]\n");
    expect(diff(TWO_ROOM, twice)).toEqual([]);
  });
});

describe("tools", () => {
  let yard: string;
  let hub: Awaited<ReturnType<typeof openService>>;

  beforeEach(async () => {
    yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-helpers-")));
    writeFileSync(join(yard, "two_room.md"), TWO_ROOM);
    hub = await openService(gnn, {
      environment: { GNN_ROOTS: yard, TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error" },
    });
  });
  afterEach(async () => {
    await hub.close();
    rmSync(yard, { recursive: true, force: true });
  });

  async function call(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const outcome = await hub.call(tool, args);
    expect(outcome).toMatchObject({ ok: true });
    return (outcome as unknown as { result: { structuredContent: Record<string, unknown> } }).result.structuredContent;
  }

  test("writes a new model into a file, and compares it with another", async () => {
    await call("gnn.new", { template: "hmm", name: "Weather", states: 3, output_file_path: "weather.md" });
    expect(await call("gnn.check", { file_path: "weather.md" })).toMatchObject({ is_valid: true });
    expect(await call("gnn.diff", { before_path: "weather.md", after_path: "weather.md" })).toEqual({
      same: true,
      differences: [],
    });
    expect(await call("gnn.diff", { before_text: TWO_ROOM, after_path: "weather.md" })).toMatchObject({ same: false });
    expect(await hub.call("gnn.diff", { before_text: TWO_ROOM })).toMatchObject({ ok: false });
  });

  test("G55: without a language model, explanations are made by rules and name every variable", async () => {
    const { explanation, by } = await call("gnn.explain", { text: TWO_ROOM });
    expect(by).toBe("rules");
    for (const name of ["A[2,2]", "s_prime[2,1]", "π[2]", "D acts on s", "in discrete time t, without an end"])
      expect(explanation).toContain(name);
    for (const tool of ["llm.explain_gnn_file", "llm.summarize_gnn_file", "llm.generate_professional_summary"])
      expect(await call(tool, { file_path: "two_room.md" })).toMatchObject({ success: true, by: "rules" });
    expect(await hub.call("summarize_gnn_file", { file_path: "none.md" })).toMatchObject({
      ok: false,
      message: expect.stringContaining("Input GNN file not found: none.md"),
    });
  });

  test("creates folders, finds models and names standard folders, only inside the roots", async () => {
    expect(await call("setup.ensure_directory_exists", { directory_path: "a/b" })).toEqual({
      success: true,
      path: join(yard, "a/b"),
      created: true,
    });
    expect(await call("ensure_directory_exists", { directory_path: "a/b" })).toMatchObject({ created: false });
    expect(await hub.call("ensure_directory_exists", { directory_path: "../out" })).toMatchObject({ kind: "denied" });
    writeFileSync(join(yard, "a/b/more.gnn"), TWO_ROOM);
    expect(await call("find_project_gnn_files", { search_directory: ".", recursive: true })).toEqual({
      success: true,
      files: [join(yard, "a/b/more.gnn"), join(yard, "two_room.md")],
      count: 2,
    });
    expect(await call("setup.find_project_gnn_files", { search_directory: "." })).toMatchObject({ count: 1 });
    expect(await hub.call("find_project_gnn_files", { search_directory: "/" })).toMatchObject({ kind: "denied" });
    expect(await call("get_standard_output_paths", { base_output_directory: "out" })).toMatchObject({
      success: true,
      paths: { pictures: join("out", "visualization") },
    });
  });
});

test("gnn.explain uses the language model of the hub if there is one", async () => {
  await using models = await startModels([{ text: "It is about two rooms." }]);
  await using desk = await Desk.create({ "two_room.md": TWO_ROOM });
  await desk.write(
    "toolyard.toml",
    `[services]\ngnn = true\n[models]\nlanguage = "own/test"\n[models.providers.own]\nkind = "openai-compatible"\n` +
      `base_url = ${JSON.stringify(`${models.url}/compatible/v1`)}\n`,
  );
  const { stdout } = await desk.run(["call", "gnn.explain", `text=${TWO_ROOM}`]);
  expect(JSON.parse(stdout)).toEqual({ explanation: "It is about two rooms.", by: "model" });
});
