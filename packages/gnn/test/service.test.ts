import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { gnn } from "../src/service.ts";
import { EXPORT_FORMATS, importGnn } from "../src/exports/formats.ts";
import { LIMITS } from "../src/language/limits.ts";
import { parseGnn } from "../src/language/parse.ts";
import { toData } from "../src/language/data.ts";
import { openService, startService } from "../../toolyard/servers/shared/service.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");

let yard: string;
let root: string;
let hub: Awaited<ReturnType<typeof openService>>;

const environment = (): Record<string, string> => ({
  GNN_ROOTS: root,
  TOOLYARD_HOME: yard,
  TOOLYARD_LOGGING_LEVEL: "error",
});

beforeEach(async () => {
  yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-")));
  root = join(yard, "models");
  mkdirSync(root);
  vi.stubEnv("TOOLYARD_HOME", yard);
  writeFileSync(join(root, "two_room.md"), TWO_ROOM);
  writeFileSync(join(yard, "secret.md"), TWO_ROOM);
  hub = await openService(gnn, { environment: environment() });
});
afterEach(async () => {
  await hub.close();
  vi.unstubAllEnvs();
  rmSync(yard, { recursive: true, force: true });
});

/** Returns the structured content of a successful call. */
async function call(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const outcome = await hub.call(tool, args);
  expect(outcome).toMatchObject({ ok: true });
  return (outcome as unknown as { result: { structuredContent: Record<string, unknown> } }).result.structuredContent;
}

/** Returns error code and message of a failed call. */
async function refused(tool: string, args: Record<string, unknown>): Promise<readonly [string, string]> {
  const outcome = await hub.call(tool, args);
  if (outcome.ok) throw new Error(`${tool} was not refused.`);
  return [outcome.kind, outcome.message];
}

describe("type checks", () => {
  test("G56: the result of a type check has the members of the published example, and no others", async () => {
    expect(await call("gnn_type_checker.type_check_gnn_file", { file_path: "two_room.md" })).toEqual({
      file_path: "two_room.md",
      is_valid: true,
      errors: [],
      warnings: [],
      resource_estimates: { memory_estimate_kb: 0.10546875, inference_estimate_units: expect.closeTo(68.4616, 4) },
    });
  });

  test("G56: errors of an invalid file have line numbers", async () => {
    writeFileSync(join(root, "spoilt.md"), TWO_ROOM.replace("D>s\n", "D?s\n"));
    expect(await call("type_check_gnn_file", { file_path: join(root, "spoilt.md") })).toMatchObject({
      is_valid: false,
      errors: [expect.stringMatching(/^23:1 error E005: /)],
    });
  });

  test("checks a folder, and writes its report to the given folder", async () => {
    const args = { dir_path: ".", output_dir_base: "reports", recursive: true };
    const result = await call("type_check_gnn_directory", args);
    expect(result).toMatchObject({
      success: true,
      results_summary: { total_files: 1, valid_count: 1, invalid_count: 0 },
      results_detail: [{ file_path: "./two_room.md" }],
      reports: ["md", "json"].map((end) => pathToFileURL(join(root, `reports/type_check_report.${end}`)).href),
    });
    expect(readFileSync(join(root, "reports/type_check_report.md"), "utf8")).toContain("| two_room.md | valid |");
    expect(await refused("type_check_gnn_directory", { dir_path: "none" })).toEqual([
      "invalid_params",
      expect.stringContaining("Directory not found: none"),
    ]);
    expect(await refused("type_check_gnn_directory", { ...args, report_md_filename: "../x.md" })).toEqual([
      "invalid_params",
      expect.stringContaining("must be a file name"),
    ]);
  });

  test("checks and formats a text without a file", async () => {
    expect(await call("gnn.check", { text: "## Connections\nA>>b\n" })).toMatchObject({
      is_valid: false,
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ code: "E005", start: { line: 2, column: 1 }, mend: expect.any(String) }),
      ]),
    });
    expect(await call("gnn.format", { text: "## Connections\nA  ->  b # x\n" })).toEqual({
      text: "## Connections\nA>b  # x\n",
    });
    expect((await refused("gnn.check", {}))[1]).toContain("Give either `text` or `file_path`.");
  });
});

describe("exports", () => {
  test("G54: exports a file to JSON, and returns status, message and address of the written file", async () => {
    const to = join(root, "out/two room.json");
    const args = { gnn_file_path: "two_room.md", output_file_path: to };
    expect(await call("export.export_gnn_to_json_mcp", args)).toEqual({
      status: "success",
      message: `GNN data from two_room.md exported to ${to} in JSON format.`,
      output_uri: pathToFileURL(to).href,
    });
    expect(toData(importGnn(readFileSync(to)).file)).toEqual(toData(parseGnn(TWO_ROOM).file));
  });

  test("G54: reports a missing file as an invalid parameter, with the message that clients expect", async () => {
    const args = { gnn_file_path: "none.md", output_file_path: "x.json" };
    expect(await refused("export.export_gnn_to_json_mcp", args)).toEqual([
      "invalid_params",
      expect.stringContaining("Input GNN file not found: none.md"),
    ]);
    expect(existsSync(join(root, "x.json"))).toBe(false);
  });

  test("G54: for any other failure, returns that the export failed, and the reason", async () => {
    mkdirSync(join(root, "folder.json"));
    writeFileSync(join(root, "notes.md"), "# Notes\n");
    for (const [from, to, reason] of [
      ["two_room.md", "folder.json", "folder.json is not a regular file"],
      ["notes.md", "x.json", "notes.md contains no GNN section."],
    ])
      expect(
        (await refused("export.export_gnn_to_json_mcp", { gnn_file_path: from, output_file_path: to }))[1],
      ).toContain(`Failed to export GNN to JSON: ${reason}`);
  });

  test.each(Object.keys(EXPORT_FORMATS))(
    "G54: %s has a tool with its current name and one with its name of 2025",
    async (name) => {
      for (const tool of [`export.export_gnn_to_${name}_mcp`, `export_gnn_to_${name}`]) {
        const to = `out/${tool}`;
        await call(tool, { gnn_file_path: "two_room.md", output_file_path: to });
        expect(readFileSync(join(root, to)).length).toBeGreaterThan(100);
      }
    },
  );

  test("S16: refuses a pickle with the reason and an alternative", async () => {
    const args = { gnn_file_path: "two_room.md", output_file_path: "x.pkl" };
    expect(await refused("export_gnn_to_python_pickle", args)).toEqual([
      "denied",
      expect.stringMatching(/because loading a pickle runs the code in it. Use JSON, or CBOR/),
    ]);
    expect(existsSync(join(root, "x.pkl"))).toBe(false);
  });

  test("refuses a text above the size limit, and writes nothing", async () => {
    writeFileSync(join(root, "big.md"), `${TWO_ROOM}${"#".repeat(LIMITS.characters)}`);
    const sentence = ["invalid_params", expect.stringContaining("at most 16777216 are read. Split the file.")];
    for (const tool of ["gnn.format", "gnn.draw", "gnn.parse_gnn_file", "estimate_resources_for_gnn_file"])
      expect(await refused(tool, { file_path: "big.md" })).toEqual(sentence);
    const args = { gnn_file_path: "big.md", output_file_path: "big.json" };
    expect(await refused("export_gnn_to_json", args)).toEqual(sentence);
    expect(existsSync(join(root, "big.json"))).toBe(false);
    expect(await call("gnn.check", { file_path: "big.md" })).toMatchObject({ diagnostics: [{ code: "E008" }] });
  });

  test("parses, type-checks, estimates and exports a text like a file", async () => {
    const parsed = await call("gnn.parse_gnn_file", { text: TWO_ROOM });
    expect(parsed).toMatchObject({ file_path: "(text)", parsed_data: { models: [{ name: "Two-Room Agent" }] } });
    const { file_path: _, ...ofFile } = await call("type_check_gnn_file", { file_path: "two_room.md" });
    const { file_path: name, ...ofText } = await call("type_check_gnn_file", { text: TWO_ROOM });
    expect([name, ofText]).toEqual(["(text)", ofFile]);
    expect(await call("estimate_resources_for_gnn_file", { text: TWO_ROOM })).toMatchObject({ success: true });
    const exported = await call("export_gnn_to_dot", { text: TWO_ROOM });
    expect(exported["content"]).toMatch(/^digraph/);
    expect(exported["output_uri"]).toBeUndefined();
    const cbor = await call("export_gnn_to_cbor", { text: TWO_ROOM });
    expect(toData(importGnn(Buffer.from(cbor["content_base64"] as string, "base64")).file)).toEqual(
      toData(parseGnn(TWO_ROOM).file),
    );
    await call("export_gnn_to_json", { text: TWO_ROOM, output_file_path: "text.json" });
    expect(existsSync(join(root, "text.json"))).toBe(true);
  });

  test("lists a README.md in the estimates of a folder as a file without a model", async () => {
    writeFileSync(join(root, "README.md"), "# Models\n\n## Usage\n");
    expect(await call("estimate_resources_for_gnn_directory", { dir_path: "." })).toMatchObject({
      results: [
        { success: false, error: "The file contains no GNN section." },
        { success: true, estimates: { models: [{}] } },
      ],
    });
  });

  test.each([
    ["gnn.parse_gnn_file", {}],
    ["gnn.parse_gnn_file", { text: TWO_ROOM, file_path: "two_room.md" }],
    ["type_check_gnn_file", {}],
    ["estimate_resources_for_gnn_file", { text: TWO_ROOM, file_path: "two_room.md" }],
    ["export_gnn_to_json", { output_file_path: "x.json" }],
    ["export_gnn_to_json", { text: TWO_ROOM, gnn_file_path: "two_room.md" }],
  ])("%s refuses both or neither of a text and a file", async (tool, args) => {
    expect(await refused(tool, args)).toEqual(["invalid_params", expect.stringMatching(/^Give either `text` or/)]);
  });

  test("limits parsed data and exported content to one mebibyte each", async () => {
    const size = 360;
    const row = `(${Array.from({ length: size }, () => "0.25").join(",")})`;
    const values = `A={${Array.from({ length: size }, () => row).join(",")}}`;
    const edges = Array.from({ length: 30_000 }, (_, index) => `a${index}>b${index}`).join("\n");
    const large = TWO_ROOM.replace("## Connections", `## Connections\n${edges}`).replace(/A=\{[^}]*\}/, values);
    for (const text of [large, TWO_ROOM.replace(/A=\{[^}]*\}/, values)]) {
      const parsed = await call("gnn.parse_gnn_file", { text });
      expect(JSON.stringify(parsed).length).toBeLessThan(1024 * 1024 + 1000);
      expect(parsed["omitted"]).toContain("sections");
      expect(parsed).toMatchObject({ parsed_data: { models: [{ name: "Two-Room Agent" }] } });
    }
    expect((await refused("export_gnn_to_json", { text: large }))[1]).toMatch(/but a result has at most 1048576/);
  });

  test("names unreadable lines, because the written file omits them", async () => {
    writeFileSync(join(root, "spoilt.md"), TWO_ROOM.replace("D>s\n", "D?s\n"));
    const { message } = await call("export_gnn_to_dot", { gnn_file_path: "spoilt.md", output_file_path: "x.dot" });
    expect(message).toContain("Parts could not be read: see line 23 with gnn.check.");
  });
});

describe("confinement", () => {
  test.each(["../secret.md", "link.md", "link/secret.md", "../none.md"])("S6: does not read %s", async (path) => {
    symlinkSync(join(yard, "secret.md"), join(root, "link.md"));
    symlinkSync(yard, join(root, "link"));
    expect(await refused("gnn.check", { file_path: path })).toEqual([
      "denied",
      expect.stringContaining(`${path} is outside the folders that are open to these tools (models).`),
    ]);
  });

  test.each(["../out.json", "link/out.json", "link/new/out.json"])("S6: does not write %s", async (path) => {
    symlinkSync(yard, join(root, "link"));
    const args = { gnn_file_path: "two_room.md", output_file_path: path };
    expect((await refused("export_gnn_to_json", args))[0]).toBe("denied");
    expect(existsSync(join(yard, "out.json")) || existsSync(join(yard, "new"))).toBe(false);
  });

  test("without an open folder, the error names the setting to add", async () => {
    await using closed = await openService(gnn, { environment: { ...environment(), GNN_ROOTS: "" } }).then((own) =>
      Object.assign(own, { [Symbol.asyncDispose]: () => own.close() }),
    );
    expect(await closed.call("gnn.check", { file_path: "two_room.md" })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^No folder is open .* Add the line `roots = .* set GNN_ROOTS\.$/),
    });
    expect(await closed.call("gnn.check", { text: TWO_ROOM })).toMatchObject({ ok: true });
  });

  test("refuses a relative root at the start", async () => {
    await expect(openService(gnn, { environment: { GNN_ROOTS: "models" } })).rejects.toThrow(
      'GNN_ROOTS must be absolute paths with : between them, such as /home/me/models, got "models".',
    );
  });
});

describe("over MCP", () => {
  test("lists tools, a page of the documentation and the prompt to a client", async () => {
    await using running = await startService(gnn, { environment: environment(), port: 0 });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.served.endpoint)));
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("export.export_gnn_to_json_mcp");
      const { contents } = await client.readResource({ uri: "gnn://documentation/punctuation" });
      expect(contents).toMatchObject([
        { mimeType: "text/markdown", text: expect.stringContaining("an undirected edge") },
      ]);
      await expect(client.readResource({ uri: "gnn://documentation/none" })).rejects.toThrow();
      const { messages } = await client.getPrompt({ name: "gnn.write_model", arguments: { subject: "a thermostat" } });
      expect(messages[0]).toMatchObject({ content: { text: expect.stringContaining("a GNN model of a thermostat") } });
      const parsed = await client.callTool({ name: "gnn.parse_gnn_file", arguments: { file_path: "two_room.md" } });
      expect(parsed.structuredContent).toMatchObject({
        success: true,
        parsed_data: { models: [{ identifier: "TwoRoomAgent" }] },
      });
    } finally {
      await client.close();
    }
  });
});
