import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { gnn } from "../src/service.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { Desk } from "../../../test/cli/harness.ts";
import { LINEAR, TWO_AGENTS } from "./models.ts";

const TWO_ROOM = readFileSync(new URL("../../../test/fixtures/gnn/two_room.md", import.meta.url), "utf8");

describe("gnn.simulate", () => {
  let yard: string;
  let hub: Awaited<ReturnType<typeof openService>>;

  beforeEach(async () => {
    yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-gnn-")));
    vi.stubEnv("TOOLYARD_HOME", yard);
    hub = await openService(gnn, { environment: { TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error" } });
  });
  afterEach(async () => {
    await hub.close();
    vi.unstubAllEnvs();
    rmSync(yard, { recursive: true, force: true });
  });

  test("returns each step as data and as a table, with a plot, and reports progress", async () => {
    const seen: unknown[] = [];
    const outcome = await hub.call(
      "gnn.simulate",
      { text: TWO_ROOM, steps: 3 },
      { onNotice: (notification) => seen.push(notification) },
    );
    if (!outcome.ok) throw new Error(outcome.message);
    const { content, structuredContent } = outcome.result as unknown as {
      content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
      structuredContent: object;
    };
    expect(structuredContent).toMatchObject({
      title: "Two-Room Agent",
      library: "pymdp-1",
      agents: [{ steps: [{ step: 0, action: [expect.any(Number)] }, { step: 1 }, { step: 2 }] }],
    });
    expect(content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(content[0]!.text).toMatch(/^step {2}state {2}seen {2}believed/m);
    expect(Buffer.from(content[1]!.data!, "base64").toString()).toMatch(/^<svg /);
    expect(seen).toHaveLength(3);
  });

  test("replays several agents by name, runs a filter, and follows the settings of the model", async () => {
    const dataOf = async (args: object): Promise<object> => {
      const outcome = await hub.call("gnn.simulate", { ...args });
      if (!outcome.ok) throw new Error(outcome.message);
      return (outcome.result as unknown as { structuredContent: object }).structuredContent;
    };
    const observations = { agent1: [[0], [1]], agent2: [[1], [1]] };
    expect(await dataOf({ text: TWO_AGENTS, observations })).toMatchObject({
      steps: 2,
      agents: [
        { steps: [{ observation: [0], free_energy: expect.any(Number) }, {}] },
        { steps: [{ observation: [1], epistemic_value: expect.any(Array) }, {}] },
      ],
    });
    expect(await dataOf({ text: LINEAR, steps: 2 })).toMatchObject({
      library: "kalman-filter",
      agents: [{ steps: [{ mean: expect.any(Array), covariance: expect.any(Array) }, {}] }],
    });
    const stating = TWO_ROOM.replace("## Footer", "num_timesteps: 3\nrandom_seed: 8\npolicy_len: 2\n## Footer");
    expect(await dataOf({ text: stating })).toMatchObject({ steps: 3, seed: 8, policy_length: 2 });
  });

  test("refuses a model that cannot be simulated, with the reason", async () => {
    const outcome = await hub.call("gnn.simulate", { text: TWO_ROOM.replace("D>s\n", "D?s\n") });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "invalid_params",
      message: expect.stringContaining(
        "A part of the model could not be read, so it was neither run nor rendered. Line 23",
      ),
    });
    expect(await hub.call("gnn.simulate", { text: TWO_ROOM, steps: 1000, policy_length: 8 })).toMatchObject({
      ok: false,
      kind: "invalid_params",
      message: expect.stringContaining("The simulation needs"),
    });
  });
});

describe("toolyard gnn run", () => {
  test("prints a line for each step, with the same output for the same seed, and writes the plot", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM });
    const args = ["gnn", "run", "a.md", "--steps", "5", "--seed", "4"];
    const first = await desk.run([...args, "--plot", "a.svg"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout.trimEnd().split("\n")).toHaveLength(7);
    expect((await desk.run(args)).stdout).toBe(first.stdout);
    expect(readFileSync(desk.path("a.svg"), "utf8")).toMatch(/^<svg /);
    expect(JSON.parse((await desk.run([...args, "--json"])).stdout)).toMatchObject({ steps: 5, seed: 4 });
  });

  test("reports a model that cannot be run, and an invalid option, as usage errors", async () => {
    await using desk = await Desk.create({ "a.md": TWO_ROOM, "b.md": TWO_ROOM.replace(/A=\{[^}]*\}/, "A={ }") });
    expect(await desk.run(["gnn", "run", "b.md"])).toMatchObject({
      code: 2,
      stderr: "b.md: A has no numbers. Add A={…} to InitialParameterization.\n",
    });
    expect(await desk.run(["gnn", "run", "a.md", "--steps", "none"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--steps must be a whole number of at least 1"),
    });
  });
});
