import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromCbor, toCbor } from "../src/exports/cbor.ts";
import { type EXPORT_FORMATS, exportGnn, importGnn } from "../src/exports/formats.ts";
import { graphOf } from "../src/exports/graph.ts";
import { readXml, type XmlElement } from "../src/exports/xml-reader.ts";
import { fromData, toData } from "../src/language/data.ts";
import { parseGnn } from "../src/language/parse.ts";
import { file } from "./arbitrary.ts";

const RUNS = Number(process.env["GNN_RUNS"] ?? 60);

function sample(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/gnn/${name}`, import.meta.url), "utf8");
}

function all(element: XmlElement, name: string): XmlElement[] {
  return [...(element.name === name ? [element] : []), ...element.children.flatMap((child) => all(child, name))];
}

function write(text: string, format: keyof typeof EXPORT_FORMATS): string {
  return String(exportGnn(parseGnn(text).file, format));
}

describe("the graph", () => {
  test("keeps all 6 edges of hard_syntax.md, with names of any script and steps of time", () => {
    const { nodes, edges } = graphOf(parseGnn(sample("hard_syntax.md")).file);
    expect(nodes.map(({ id }) => id)).toEqual(["s_t", "o_t", "A", "B", "D", "γ"]);
    expect(edges.map(({ source, target, targetShift, label }) => [source, target, targetShift, label])).toEqual([
      ["D", "s_t", 0, ""],
      ["s_t", "o_t", 0, ""],
      ["A", "o_t", 0, ""],
      ["B", "s_t", 1, ""],
      ["γ", "A", 0, "precision"],
      ["s_t", "B", 0, ""],
    ]);
  });

  test("has a node for an undeclared name, and prefixes names with their model", () => {
    const text = "## GNNSection\nM\n## StateSpaceBlock\ns[1]\n## Connections\ns>x\n";
    const { nodes } = graphOf(parseGnn(`${text}---\n${text}`).file);
    expect(nodes.map(({ id, declared }) => [id, declared])).toEqual([
      ["M:s", true],
      ["M:x", false],
      ["M2:s", true],
      ["M2:x", false],
    ]);
  });
});

describe("exports", () => {
  test("every export contains every node and every edge", () => {
    fc.assert(
      fc.property(file, (data) => {
        const model = fromData(data);
        const { nodes, edges } = graphOf(model);
        const graphml = readXml(String(exportGnn(model, "graphml")));
        expect(all(graphml, "node").map(({ attributes }) => attributes["id"])).toEqual(nodes.map(({ id }) => id));
        const gexf = readXml(String(exportGnn(model, "gexf")));
        for (const graph of [graphml, gexf])
          expect(all(graph, "edge").map(({ attributes: { source, target } }) => [source, target])).toEqual(
            edges.map(({ source, target }) => [source, target]),
          );
        const adjacency = JSON.parse(String(exportGnn(model, "json_adjacency_list")));
        expect(adjacency.adjacency.flat()).toHaveLength(edges.length);
        expect(String(exportGnn(model, "dot")).match(/ -> /g)?.length ?? 0).toBe(edges.length);
        expect(String(exportGnn(model, "mermaid")).match(/^ {2}n\d+ (?:-->|---)/gm)?.length ?? 0).toBe(edges.length);
      }),
      { numRuns: RUNS },
    );
  });

  test("JSON, XML and CBOR read back without loss", () => {
    fc.assert(
      fc.property(file, (data) => {
        for (const format of ["json", "xml", "cbor"] as const)
          expect(toData(importGnn(exportGnn(fromData(data), format)).file), format).toEqual(data);
      }),
      { numRuns: RUNS },
    );
  });

  test("S16: every export escapes the model's text", () => {
    const text = '## ModelName\n<b>"&\n## StateSpaceBlock\ns[1] # <i>&"\n## Connections\ns>x:a"]<b>&\n';
    for (const format of ["xml", "graphml", "gexf"] as const)
      expect(() => readXml(write(text, format)), format).not.toThrow();
    expect(write(text, "graphml")).toContain("&lt;i&gt;&amp;&quot;");
    expect(write(text, "dot")).toContain(String.raw`label="a\"]<b>&"`);
    expect(write(text, "mermaid")).toContain('|"a#34;]#60;b#62;#38;"|');
  });

  test("the summary is readable text, and the DSL is GNN", () => {
    expect(write(sample("two_room.md"), "plaintext_summary")).toMatch(
      /^Model: Two-Room Agent\nVersion: GNN v1\n[^]*Variables \(11\):\n {2}A\[2,2,type=float\] = LikelihoodMatrix \(cue given room\)\n/,
    );
    const dsl = write(sample("two_room.md"), "plaintext_dsl");
    expect(toData(parseGnn(dsl).file)).toEqual(toData(parseGnn(sample("two_room.md")).file));
  });

  test("JSON contains the sections, and the values and parameters that a program needs", () => {
    expect(JSON.parse(write(sample("two_room.md"), "json"))).toMatchObject({
      format: "gnn-json",
      models: [
        {
          identifier: "TwoRoomAgent",
          values: {
            A: [
              [0.9, 0.1],
              [0.1, 0.9],
            ],
          },
          ontology: { A: "LikelihoodMatrix" },
          time: { kind: "Dynamic", variable: "t" },
          parameters: { num_actions: 2 },
        },
      ],
    });
  });
});

describe("imports", () => {
  test.each([
    ["{", "This is not JSON"],
    ["{}", '"format" and "version" must be "gnn-json" and 1.'],
    ['{"format":"gnn-json","version":1,"form":"markdown"}', "models must be a list, got nothing."],
    [
      '{"format":"gnn-json","version":1,"form":"markdown","models":[{"header":[],"sections":[{"name":"Time","statements":[{"kind":"x"}]}]}]}',
      "models[0].sections[0].statements[0].kind must be blank or comment or raw",
    ],
    [
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><gnn/>',
      "Document type declarations and CDATA are not supported.",
    ],
    ["<gnn/>", 'The document must be <gnn version="1">, got <gnn>.'],
    ["<gnn version='1'><model>", "<model> is never closed."],
    ["<gnn version='1'>&bomb;</gnn>", "&bomb; is not a predefined XML entity."],
  ])("refuses %s with an error message", (text, message) => {
    expect(() => importGnn(text)).toThrow(message);
  });

  test("refuses bytes that are neither CBOR nor UTF-8, and CBOR that ends too early", () => {
    expect(() => importGnn(new Uint8Array([0xff, 0xfe]))).toThrow("neither CBOR nor UTF-8 text");
    const bytes = toCbor({ a: [1, 2, 3] });
    expect(() => fromCbor(bytes.subarray(0, -1))).toThrow("ends too early");
    expect(() => fromCbor(new Uint8Array([0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))).toThrow("too early");
    expect(() => fromCbor(new Uint8Array(1000).fill(0x81))).toThrow("nested deeper than");
  });

  test("CBOR preserves every JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fromCbor(toCbor(value))).toEqual(value);
      }),
      { numRuns: RUNS },
    );
  });
});
