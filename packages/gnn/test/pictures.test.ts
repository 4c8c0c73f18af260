import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { graphOf } from "../src/exports/graph.ts";
import { readXml } from "../src/exports/xml-reader.ts";
import { parseGnn } from "../src/language/parse.ts";
import { drawGnn, PictureError, toPng, type PictureName } from "../src/pictures/draw.ts";
import { inBlocks } from "../src/pictures/blocks.ts";
import type { Box, GraphLayout } from "../src/pictures/geometry.ts";
import { layOut } from "../src/pictures/layout.ts";
import { PICTURE_LIMITS } from "../src/pictures/limits.ts";
import { roleOf, ROLES } from "../src/pictures/roles.ts";
import { THEMES } from "../src/pictures/theme.ts";
import { gnn } from "../src/service.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { Desk } from "../../../test/cli/harness.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");
const HEAD = "## GNNSection\nM\n## GNNVersionAndFlags\nGNN v1\n## ModelName\nM\n";

/** A model with its variables connected as a tree, and with edges across. */
function tree(variables: number): string {
  const indices = Array.from({ length: variables }, (_, at) => at);
  const names = indices.map((at) => `${"ABCDsoπuGγ"[at % 10]}_${at}`);
  const edges = indices.slice(1).map((at) => `${names[Math.floor(at / 3)]}>${names[at]}`);
  const across = indices.filter((at) => at > 11 && at % 4 === 0).map((at) => `${names[at - 11]}-${names[at]}:why`);
  const declared = names.map((name) => `${name}[2,2,type=float]\n`).join("");
  return `${HEAD}## StateSpaceBlock\n${declared}## Connections\n${[...edges, ...across].join("\n")}\n`;
}

const draw = (text: string, picture: PictureName = "graph") => drawGnn(parseGnn(text).file, { picture });

function texts(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);
}

/** Returns the number of pairs of overlapping boxes. */
function overlaps(boxes: readonly Box[], { boxes: places }: GraphLayout): number {
  let count = 0;
  for (const [at, one] of boxes.entries())
    for (const other of boxes.slice(at + 1)) {
      const [a, b] = [places.get(one.id)!, places.get(other.id)!];
      const isApart =
        Math.abs(a.x - b.x) >= (one.width + other.width) / 2 - 0.5 ||
        Math.abs(a.y - b.y) >= (one.height + other.height) / 2 - 0.5;
      if (!isApart) count += 1;
    }
  return count;
}

describe("graphs", () => {
  test.each(["graph", "roles"] as const)("G55: %s names every variable and draws every edge", async (picture) => {
    const svg = await draw(TWO_ROOM, picture);
    expect(texts(svg)).toEqual(expect.arrayContaining(["A", "B", "C", "D", "s", "s_prime", "o", "π", "u", "G", "t"]));
    expect(svg.match(/<path [^>]*fill="none"/g)).toHaveLength(8);
    expect(readXml(svg.trim()).name).toBe("svg");
  });

  test("directed edges have an arrowhead, undirected ones none", async () => {
    const arrows = async (sign: string) =>
      (await draw(`${HEAD}## StateSpaceBlock\na[1]\nb[1]\n## Connections\na${sign}b\n`)).match(/<path [^>]*Z"/g) ?? [];
    expect((await arrows(">")).length).toBe(1);
    expect((await arrows("-")).length).toBe(0);
  });

  test("edges show labels, constraints and time steps; an undeclared name has a dashed outline", async () => {
    const svg = await draw(
      `${HEAD}## StateSpaceBlock\ns_t[2]\nγ[1]\n## Connections\nγ>s_t:precision=1\ns_t>s_t+1\nx>γ\n`,
    );
    expect(texts(svg)).toEqual(expect.arrayContaining(["precision  = 1", "t+1", "not declared", "γ"]));
    expect(svg.match(/stroke-dasharray/g)).toHaveLength(1);
  });

  test("a model's text is text in the picture, never markup", async () => {
    const head = HEAD.replace("ModelName\nM", 'ModelName\n<script>"&');
    const body = "## StateSpaceBlock\na[1] # <b onload=x>\n## Connections\na>b:<i>\n";
    const svg = await draw(head + body);
    expect(svg).not.toMatch(/<script|<b |<i>/);
    expect(readXml(svg.trim()).name).toBe("svg");
  });

  test.each([5, 60, 200, 400])(
    "%i variables do not overlap, and the picture has balanced proportions",
    async (count) => {
      const { nodes, edges } = graphOf(parseGnn(tree(count)).file);
      const boxes = nodes.map(({ id }, at) => ({ id, width: 54 + (at % 3) * 20, height: 46 }));
      const lines = edges.map(({ id, source, target, directed }) => ({ id, from: source, to: target, directed }));
      const layout = await layOut(boxes, lines);
      expect(overlaps(boxes, layout)).toBe(0);
      expect(layout.boxes.size).toBe(count);
      expect(layout.lines.size).toBe(lines.length);
      expect(layout.width / layout.height).toBeLessThan(4);
    },
  );

  test("role blocks contain only the variables of their role", () => {
    const boxes = Array.from({ length: 90 }, (_, at) => ({
      id: `v${at}`,
      width: 60,
      height: 46,
      group: at % 2 ? "state" : "prior",
    }));
    const layout = inBlocks(boxes, []);
    expect(overlaps(boxes, layout)).toBe(0);
    for (const [group, { from, to }] of layout.groups)
      for (const { id, group: own } of boxes) {
        const { x, y } = layout.boxes.get(id)!;
        expect(x > from.x && x < to.x && y > from.y && y < to.y).toBe(own === group);
      }
  });

  test("refuses a graph of more than 400 variables, and names other formats", async () => {
    await expect(draw(tree(401))).rejects.toThrow(/has 401 variables .* at most 400 .* GraphML or DOT/);
    await expect(draw(HEAD)).rejects.toThrow(PictureError);
  });

  test("determines a role from the ontology term, or else from the name", () => {
    expect(roleOf({ name: "x", ontology: "PriorOverHiddenStatesFactor0" })).toBe("prior");
    expect(roleOf({ name: "A_m0", ontology: "" })).toBe("likelihood");
    expect(roleOf({ name: "s_t", ontology: "" })).toBe("state");
    expect(roleOf({ name: "zebra", ontology: "" })).toBe("other");
  });

  test.each(["light", "dark"] as const)("names have a contrast above 4.5 against every background, %s", (theme) => {
    const { text, background, fill } = THEMES[theme];
    for (const behind of [background, ...Object.values(fill)]) expect(contrast(text, behind)).toBeGreaterThan(4.5);
    expect(Object.keys(fill)).toEqual(expect.arrayContaining(Object.keys(ROLES)));
  });
});

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)].toSorted((x, y) => y - x);
  return (a! + 0.05) / (b! + 0.05);
}

function luminance(color: string): number {
  const parts = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return parts[0]! * 0.2126 + parts[1]! * 0.7152 + parts[2]! * 0.0722;
}

describe("matrices", () => {
  test("cells contain their numbers; transitions have one matrix for each action, for every axis order", async () => {
    const next = "## InitialParameterization\nB={((0.9,0.2),(0.6,0.3)),((0.1,0.8),(0.4,0.7))}\n";
    const acted = "## InitialParameterization\nB={((0.9,0.6),(0.1,0.4)),((0.2,0.3),(0.8,0.7))}\n";
    const cells = [
      "B, action 0",
      "2 × 2: next state × previous state",
      "0.9",
      "0.6",
      "0.1",
      "0.4",
      "B, action 1",
      "2 × 2: next state × previous state",
      "0.2",
      "0.3",
      "0.8",
      "0.7",
    ];
    for (const values of [next, acted]) expect(texts(await draw(HEAD + values, "matrices")).slice(1)).toEqual(cells);
  });

  test.each([
    ["A={(0.9,0.2),(0.1,0.8)}", "2 × 2: observation × state"],
    ["A={(0.9,0.1,0),(0.2,0.8,0)}", "3 × 2: observation × state"],
    ["C={(0,1,2)}", "1 × 3: observation"],
    ["D_f1={(0.5,0.5)}", "1 × 2: state"],
    ["B={(0.9,0.2),(0.1,0.8)}", "2 × 2: next state × previous state"],
    ["dirichlet_A={(1,2),(3,4)}", "2 × 2: observation × state"],
    ["A_m0={((0.9,0.1),(0.5,0.5)),((0.1,0.9),(0.5,0.5))}", "2 × 2: state, dimension 2 × state, dimension 3"],
    ["x={(1,2),(3,4)}", "2 × 2"],
  ])("names the axes of a matrix: %s", async (value, axes) => {
    const declared = value.startsWith("dirichlet") ? "A[2,2]\n" : "";
    const text = `${HEAD}## StateSpaceBlock\n${declared}## InitialParameterization\n${value}\n`;
    expect(texts(await draw(text, "matrices"))).toContain(axes);
  });

  test("draws B in the order that the model states, with the labels of its actions", async () => {
    const B = "B={((0,1),(0,1)),((1,0),(1,0))}";
    const text = `${HEAD}## InitialParameterization\n${B}\n## ModelParameters\n`;
    const drawn = texts(
      await draw(`${text}b_tensor_order: action_previous_next\naction_labels: stay,go\n`, "matrices"),
    );
    expect(drawn).toEqual([
      "M",
      "B, action stay",
      "2 × 2: next state × previous state",
      "0",
      "0",
      "1",
      "1",
      "B, action go",
      "2 × 2: next state × previous state",
      "1",
      "1",
      "0",
      "0",
    ]);
  });

  test("draws a part of a large matrix and marks it; refuses a model without values", async () => {
    const row = `(${Array.from({ length: 100 }, () => 0.01).join(",")})`;
    const svg = await draw(`${HEAD}## InitialParameterization\nA={${`${row},`.repeat(99)}${row}}\n`, "matrices");
    expect(texts(svg)).toContain("100 × 100: observation × state, the first 64 × 64");
    await expect(draw(HEAD, "matrices")).rejects.toThrow("M has no values in InitialParameterization");
  });

  test("shows the number of omitted values below the title", async () => {
    const values = (count: number): string =>
      `${HEAD}## InitialParameterization\n${Array.from({ length: count }, (_, at) => `M${at}={(1,0)}`).join("\n")}\n`;
    expect(texts(await draw(values(40), "matrices"))).not.toContainEqual(expect.stringContaining("not drawn"));
    const told = texts(await draw(values(43), "matrices"));
    expect(told).toContain("3 further values are not drawn.");
    expect(told).toContain("M39");
    expect(told).not.toContain("M40");
  });

  test("limits the number of cells in a picture of large values", async () => {
    const group = (count: number, item: string): string => `(${Array.from({ length: count }, () => item).join(",")})`;
    const tensor = `{${group(16, group(64, group(64, "1")))}}`;
    const values = Array.from({ length: 5 }, (_, at) => `M${at}=${tensor}`).join("\n");
    const svg = await draw(`${HEAD}## InitialParameterization\n${values}\n`, "matrices");
    expect(svg.match(/<rect /g)!.length).toBeLessThanOrEqual(PICTURE_LIMITS.allCells + 1);
    expect(texts(svg)).toContain("4 further values are not drawn.");
  });
});

describe("PNG", () => {
  test("draws Greek letters into a PNG", async () => {
    const png = await toPng(await draw(TWO_ROOM));
    expect(Array.from(png.subarray(0, 8))).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
    const one = (sign: string) =>
      toPng(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><text y="30">${sign}</text></svg>`);
    const [pi, gamma, none] = await Promise.all([one("π"), one("γ"), one("")]);
    expect(Buffer.compare(pi, gamma)).not.toBe(0);
    expect(Buffer.compare(pi, none)).not.toBe(0);
  });
});

describe("tools, resources and the command", () => {
  let yard: string;
  let hub: Awaited<ReturnType<typeof openService>>;

  beforeEach(async () => {
    yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-pictures-")));
    writeFileSync(join(yard, "two_room.md"), TWO_ROOM);
    writeFileSync(join(yard, "notes.md"), "# Notes\n");
    hub = await openService(gnn, {
      environment: { GNN_ROOTS: yard, TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error" },
    });
  });
  afterEach(async () => {
    await hub.close();
    rmSync(yard, { recursive: true, force: true });
  });

  test("gnn.draw returns an image and the address of the SVG, or the SVG itself", async () => {
    const drawn = await hub.call("gnn.draw", { file_path: "two_room.md" });
    expect(drawn).toMatchObject({
      ok: true,
      result: {
        content: [
          { type: "image", mimeType: "image/png" },
          { type: "resource_link", uri: "gnn://model/two_room.md/graph.svg", mimeType: "image/svg+xml" },
        ],
      },
    });
    const svg = await hub.call("gnn.draw", { text: TWO_ROOM, format: "svg", picture: "matrices", theme: "dark" });
    expect(svg).toMatchObject({ ok: true, result: { content: [{ text: expect.stringMatching(/^<svg /) }] } });
    expect(await hub.call("gnn.draw", { text: TWO_ROOM, model: 2 })).toMatchObject({
      ok: false,
      message: expect.stringContaining('There is no model "2" among 1: TwoRoomAgent.'),
    });
  });

  test("gnn://model/…/graph.svg and …/roles.png return pictures of files inside the roots only", async () => {
    expect(await hub.read("gnn://model/two_room.md/graph.svg")).toMatchObject({
      ok: true,
      result: { contents: [{ mimeType: "image/svg+xml", text: expect.stringMatching(/^<svg /) }] },
    });
    expect(await hub.read("gnn://model/two_room.md/roles.png")).toMatchObject({
      ok: true,
      result: { contents: [{ mimeType: "image/png", blob: expect.any(String) }] },
    });
    expect((await hub.read("gnn://model/none.md/graph.svg")).ok).toBe(false);
  });

  test("visualize_gnn_file writes all pictures into a folder, and returns a resource that lists them", async () => {
    const outcome = await hub.call("visualize_gnn_file", { file_path: "two_room.md", output_dir: "out" });
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { success: true } } });
    const names = ["graph", "matrices", "roles"].flatMap((name) => [`${name}.png`, `${name}.svg`]);
    expect(readdirSync(join(yard, "out"))).toEqual(names);
    const listed = await hub.read("visualization://out");
    expect(JSON.stringify(listed)).toContain("roles.svg");
    expect(await hub.call("visualize_gnn_file", { file_path: "notes.md" })).toMatchObject({ ok: false });
  });

  test("visualize_gnn_directory creates a folder for each file, and lists files without a model", async () => {
    const outcome = await hub.call("visualize_gnn_directory", { dir_path: ".", output_dir: "out" });
    expect(outcome).toMatchObject({
      ok: true,
      result: {
        structuredContent: {
          success: true,
          skipped: [{ file_path: "notes.md", reason: "notes.md contains no GNN section." }],
        },
      },
    });
    expect(readdirSync(join(yard, "out"))).toEqual(["two_room"]);
    writeFileSync(join(yard, "two_room.gnn"), TWO_ROOM);
    expect(await hub.call("visualize_gnn_directory", { dir_path: ".", output_dir: "both" })).toMatchObject({
      ok: true,
    });
    expect(readdirSync(join(yard, "both"))).toEqual(["two_room.gnn", "two_room.md"]);
    expect(await hub.call("visualize_gnn_directory", { dir_path: "none" })).toMatchObject({
      ok: false,
      message: expect.stringContaining("Directory not found: none"),
    });
  });

  test("toolyard gnn draw selects the format by the file's extension, and refuses an unknown extension", async () => {
    await using desk = await Desk.create({ "m.md": TWO_ROOM });
    expect(await desk.run(["gnn", "draw", "m.md"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^<svg /) });
    expect(await desk.run(["gnn", "draw", "m.md", "--picture", "roles", "-o", "m.png"])).toMatchObject({ code: 0 });
    expect(readFileSync(desk.path("m.png")).subarray(1, 4).toString()).toBe("PNG");
    expect(await desk.run(["gnn", "draw", "m.md", "-o", "m.gif"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--output must end in .svg or .png"),
    });
  });
});
