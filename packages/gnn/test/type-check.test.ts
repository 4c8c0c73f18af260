import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readGnnFile, reportOf, typeCheckDirectory, writeReports } from "../src/directory-check.ts";
import { typeCheck } from "../src/type-check.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");
const SPOILT = TWO_ROOM.replace("D>s\n", "D?s\n").replace("G>π\n", "G>policy\n");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-gnn-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("type check", () => {
  test("the result for a valid file has the members of the published example, and no others", () => {
    expect(typeCheck("models/two_room.md", TWO_ROOM)).toEqual({
      file_path: "models/two_room.md",
      is_valid: true,
      errors: [],
      warnings: [],
      resource_estimates: { memory_estimate_kb: 108 / 1024, inference_estimate_units: expect.closeTo(68.4616, 4) },
    });
  });

  test("errors and warnings are lines with position, code and message", () => {
    const { is_valid, errors, warnings } = typeCheck("two_room.md", SPOILT);
    expect(is_valid).toBe(false);
    expect(errors).toEqual([
      '23:1 error E005: "?s" does not begin with > or -. Write one connection per line: a>b, a-b, or (a,b)>c.',
    ]);
    expect(warnings).toContain(
      "28:3 warning W002: policy is not declared in StateSpaceBlock. Declare policy[…] there.",
    );
  });

  test("adds up estimates of several models in a file", () => {
    const one = typeCheck("x", TWO_ROOM).resource_estimates;
    const two = typeCheck("x", `${TWO_ROOM}\n---\n\n${TWO_ROOM}`);
    expect(two.is_valid).toBe(true);
    expect(two.resource_estimates.memory_estimate_kb).toBe(2 * one.memory_estimate_kb);
  });
});

describe("type check of a folder", () => {
  beforeEach(() => {
    writeFileSync(join(folder, "a.md"), TWO_ROOM);
    writeFileSync(join(folder, "b.gnn"), SPOILT);
    writeFileSync(join(folder, "README.md"), "# Models\n");
    writeFileSync(join(folder, "bytes.md"), Buffer.from([0xff, 0xfe, 0x41]));
    writeFileSync(join(folder, "notes.txt"), TWO_ROOM);
    mkdirSync(join(folder, "deeper"));
    writeFileSync(join(folder, "deeper", "c.csv"), "GNNSection,C\nStateSpaceBlock,s[1]\n");
  });

  test("counts files with GNN, and lists the others with the reason", async () => {
    const check = await typeCheckDirectory(folder);
    expect(check).toMatchObject({
      success: true,
      directory_path: folder,
      results_summary: { total_files: 2, valid_count: 1, invalid_count: 1 },
      skipped: [
        { file_path: join(folder, "README.md"), reason: "The file contains no GNN section." },
        { file_path: join(folder, "bytes.md"), reason: "bytes.md is not UTF-8. Save it as UTF-8." },
      ],
    });
    expect(check.results_detail.map(({ file_path, is_valid }) => [file_path, is_valid])).toEqual([
      [join(folder, "a.md"), true],
      [join(folder, "b.gnn"), false],
    ]);
    expect(Date.parse(check.report_generated_at)).toBeGreaterThan(0);
  });

  test("searches subfolders if `recursive` is set, and follows no links", async () => {
    symlinkSync(folder, join(folder, "deeper", "round"));
    symlinkSync(join(folder, "a.md"), join(folder, "link.md"));
    const { results_detail } = await typeCheckDirectory(folder, { recursive: true });
    expect(results_detail.map(({ file_path }) => file_path)).toEqual(
      ["a.md", "b.gnn", join("deeper", "c.csv")].map((name) => join(folder, name)),
    );
  });

  test("writes the report as Markdown and as JSON, without temporary files", async () => {
    const check = await typeCheckDirectory(folder);
    const out = join(folder, "out");
    const written = await writeReports(check, join(out, "report.md"));
    expect(readFileSync(written.markdown, "utf8")).toBe(reportOf(check));
    expect(readFileSync(written.markdown, "utf8")).toContain("| b.gnn | invalid | 1 |");
    expect(JSON.parse(readFileSync(written.json, "utf8"))).toEqual(check);
    expect(readdirSync(out)).toEqual(["report.json", "report.md"]);
  });

  test("an aborted check stops between two files", async () => {
    const stop = new AbortController();
    const check = typeCheckDirectory(folder, { signal: stop.signal, onFile: () => stop.abort() });
    await expect(check).rejects.toThrow("aborted");
  });

  test("rejects for a missing folder", async () => {
    await expect(typeCheckDirectory(join(folder, "none"))).rejects.toThrow("ENOENT");
  });

  test("does not read a file that is not UTF-8", async () => {
    await expect(readGnnFile(join(folder, "a.md"))).resolves.toBe(TWO_ROOM);
    await expect(readGnnFile(join(folder, "bytes.md"))).rejects.toThrow("bytes.md is not UTF-8.");
  });
});
