import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseGnn } from "../src/language/parse.ts";
import { chooseModels, pathOf, UnknownModel } from "../src/language/choose-models.ts";
import { drawGnn, PictureError } from "../src/pictures/draw.ts";
import { gnn } from "../src/service.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { Desk } from "../../../test/cli/harness.ts";
import { LINEAR, TWO_FACTORS, TWO_ROOM } from "./models.ts";

/** Two models in one text, with different identifiers. */
function together(models: Readonly<Record<string, string>>): string {
  const named = Object.entries(models).map(([name, text]) =>
    text.replace(/## GNNSection\n.*/, `## GNNSection\n${name}`),
  );
  return named.join("\n---\n");
}

const ROOM = "Room";
const FACTORS = "Factors";
const BOTH = together({ [ROOM]: TWO_ROOM, [FACTORS]: TWO_FACTORS });
/** The second model is not discrete. */
const MIXED = together({ Room: TWO_ROOM, Drift: LINEAR });

describe("selection of a model in a file", () => {
  const { models } = parseGnn(BOTH).file;

  test("accepts an identifier, a name in any case, or a number", () => {
    for (const wanted of [FACTORS, FACTORS.toLowerCase(), "2"])
      expect(chooseModels(models, wanted)).toEqual([{ ...chooseModels(models)[1]!, names: expect.anything() }]);
    expect(chooseModels(models)).toHaveLength(2);
  });

  test("lists the models of the file if none matches", () => {
    for (const wanted of ["3", "Nobody", ""]) expect(() => chooseModels(models, wanted)).toThrow(UnknownModel);
    expect(() => chooseModels(models, "3")).toThrow(`There is no model "3" among 2: ${ROOM}, ${FACTORS}.`);
  });

  test("models of the same name have different labels and files", () => {
    const { models: same } = parseGnn(Array.from({ length: 3 }, () => TWO_ROOM).join("\n---\n")).file;
    const named = chooseModels(same);
    expect(new Set(named.map((one) => pathOf("out/a.py", one, 3))).size).toBe(3);
    expect(pathOf("out/a.py", named[0]!, 1)).toBe("out/a.py");
    expect(pathOf(".hidden/a", { ...named[0]!, label: "Ein Haus/2" }, 2)).toBe(".hidden/a_ein_haus_2");
  });
});

describe("pictures of several models", () => {
  const { file } = parseGnn(BOTH);

  test("the picture contains all matrices, or those of the selected model", async () => {
    const all = await drawGnn(file, { picture: "matrices" });
    expect(all).toContain(`${ROOM}: A`);
    expect(all).toContain(`${FACTORS}: `);
    const one = await drawGnn(file, { picture: "matrices", model: FACTORS });
    expect(one).not.toContain(ROOM);
    await expect(drawGnn(file, { model: 3 })).rejects.toThrow(PictureError);
  });
});

describe("toolyard gnn, of several models", () => {
  test("runs each model in order, or the selected one", async () => {
    await using desk = await Desk.create({ "both.md": BOTH });
    const args = ["gnn", "run", "both.md", "--steps", "2", "--json"];
    const all = await desk.run([...args, "--plot", "run.svg"]);
    expect(all).toMatchObject({ code: 0, stderr: "" });
    const runs = all.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly title: string });
    expect(runs).toHaveLength(2);
    for (const plot of ["run_room.svg", "run_factors.svg"]) expect(existsSync(desk.path(plot))).toBe(true);
    const one = await desk.run([...args, "--model", FACTORS]);
    expect(JSON.parse(one.stdout)).toEqual(runs[1]);
  });

  test("writes the program of each model into a separate file", async () => {
    await using desk = await Desk.create({ "both.md": BOTH });
    expect(await desk.run(["gnn", "render", "both.md", "--to", "numpy", "-o", "out.py"])).toMatchObject({ code: 0 });
    const [room, factors] = ["out_room.py", "out_factors.py"].map((name) => readFileSync(desk.path(name), "utf8"));
    expect(room).not.toBe(factors);
    const chosen = await desk.run(["gnn", "render", "both.md", "--to", "numpy", "--model", "2"]);
    expect(chosen.stdout.trimEnd()).toBe(factors!.trimEnd());
  });

  test("reports several programs on standard output as a usage error that names the models", async () => {
    await using desk = await Desk.create({ "both.md": BOTH });
    expect(await desk.run(["gnn", "render", "both.md", "--to", "numpy"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(`both.md has 2 models: ${ROOM}, ${FACTORS}. Choose one with --model`),
    });
  });

  test("names the model that a target cannot express, and then writes no file", async () => {
    await using desk = await Desk.create({ "mixed.md": MIXED });
    const { code, stderr } = await desk.run(["gnn", "render", "mixed.md", "--to", "pymdp", "-o", "out.py"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("mixed.md: Drift: F, H, Q and R")]);
    expect(existsSync(desk.path("out_room.py"))).toBe(false);
  });

  test("exports and explains the selected model", async () => {
    await using desk = await Desk.create({ "both.md": BOTH });
    const { stdout } = await desk.run(["gnn", "export", "both.md", "--to", "json", "--model", ROOM]);
    expect((JSON.parse(stdout) as { models: readonly object[] }).models).toHaveLength(1);
    expect(await desk.run(["gnn", "explain", "both.md", "--model", "9"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('both.md: There is no model "9" among 2'),
    });
  });
});

describe("tools, of several models", () => {
  let yard: string;
  let hub: Awaited<ReturnType<typeof openService>>;

  beforeAll(async () => {
    yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-")));
    vi.stubEnv("TOOLYARD_HOME", yard);
    vi.stubEnv("GNN_ROOTS", yard);
    writeFileSync(join(yard, "both.md"), BOTH);
    hub = await openService(gnn, {
      environment: { TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error", GNN_ROOTS: yard },
    });
  });
  afterAll(async () => {
    await hub.close();
    vi.unstubAllEnvs();
    rmSync(yard, { recursive: true, force: true });
  });

  async function call(name: string, args: Record<string, string | number>): Promise<Record<string, unknown>> {
    const outcome = await hub.call(name, args);
    if (!outcome.ok) return { failed: outcome.message };
    return (outcome.result as { readonly structuredContent: Record<string, unknown> }).structuredContent;
  }

  test("gnn.simulate runs each model, or the selected one", async () => {
    const { models } = (await call("gnn.simulate", { text: BOTH, steps: 2 })) as { models: readonly object[] };
    expect(models).toHaveLength(2);
    expect(await call("gnn.simulate", { text: BOTH, steps: 2, model: FACTORS })).toEqual(models[1]);
    expect(await call("gnn.simulate", { text: BOTH, model: "Nobody" })).toEqual({
      failed: expect.stringContaining('There is no model "Nobody" among 2'),
    });
  });

  test("gnn.render returns a program for each model, or for the selected one", async () => {
    const args = { text: BOTH, target_format: "numpy" };
    const { models } = (await call("gnn.render", args)) as { models: readonly { program: string }[] };
    expect(models).toMatchObject([{ model: ROOM }, { model: FACTORS }]);
    expect(await call("gnn.render", { ...args, model: "2" })).toMatchObject({ program: models[1]!.program });
  });

  test("render.render_gnn_to_numpy_mcp writes a file for each model and names the files", async () => {
    const args = { gnn_file_path: "both.md", output_file_path: "both.py" };
    const { output_uris: uris } = (await call("render.render_gnn_to_numpy_mcp", args)) as { output_uris: string[] };
    expect(uris).toHaveLength(2);
    for (const uri of uris) expect(readFileSync(fileURLToPath(uri), "utf8")).toContain("import numpy");
  });
});
