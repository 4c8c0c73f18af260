import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { modelCosts } from "../src/estimates/model-costs.ts";
import { seedEraEstimates } from "../src/estimates/seed-era.ts";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import { gnn } from "../src/service.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { LEARNING, LINEAR, TWO_AGENTS, TWO_ROOM } from "./models.ts";

test("counts the bytes of all tensors and counts, and the operations of one step", () => {
  const costs = (text: string): object => modelCosts(parseGnn(text).file)[0]!;
  // A 4, B 8, C 2, D 2 numbers; one factor, so one update; two policies of 8 + 16 + 6 operations.
  expect(costs(TWO_ROOM)).toMatchObject({ tensor_bytes: 16 * 8, operations_per_step: 6 + 2 * 30, policies: 2 });
  expect(costs(LEARNING)).toMatchObject({ tensor_bytes: (16 + 12) * 8, operations_per_step: 6 + 2 * 30 + 2 * 12 });
  expect(costs(TWO_AGENTS)).toMatchObject({ tensor_bytes: 2 * 16 * 8, policies: 4 });
  expect(costs(LINEAR)).toMatchObject({ tensor_bytes: (4 + 2 + 4 + 1 + 2 + 4) * 8, policies: 0 });
});

test("for a model that no program can run, returns the estimates of the 2025 tools and the reason", () => {
  const text = TWO_ROOM.replace(/^A=.*$/m, "A={ }");
  const [model] = parseGnn(text).file.models;
  expect(modelCosts({ form: "markdown", models: [model!] })).toEqual([
    {
      name: "Two-Room Agent",
      ...seedEraEstimates(viewOf(model!)),
      no_program: "A has no numbers. Add A={…} to InitialParameterization.",
    },
  ]);
});

test("G55: estimates files and folders, also with the older tool names", async () => {
  const yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-")));
  vi.stubEnv("TOOLYARD_HOME", yard);
  writeFileSync(join(yard, "a.md"), TWO_ROOM);
  const environment = { GNN_ROOTS: yard, TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error" };
  const hub = await openService(gnn, { environment });
  try {
    const file = {
      success: true,
      estimates: { memory_estimate_kb: 0.10546875, models: [{ name: "Two-Room Agent", tensor_bytes: 128 }] },
    };
    expect(await hub.call("estimate_resources_for_gnn_file", { file_path: "a.md" })).toMatchObject({
      result: { structuredContent: { ...file, file_path: "a.md" } },
    });
    expect(await hub.call("estimate_resources_for_gnn_directory", { dir_path: "." })).toMatchObject({
      result: { structuredContent: { success: true, results: [{ ...file, file_path: "./a.md" }] } },
    });
    expect(await hub.call("estimate_resources_for_gnn_directory", { dir_path: "none" })).toMatchObject({
      kind: "invalid_params",
      message: expect.stringContaining("Directory not found: none"),
    });
  } finally {
    await hub.close();
    vi.unstubAllEnvs();
    rmSync(yard, { recursive: true, force: true });
  }
});
