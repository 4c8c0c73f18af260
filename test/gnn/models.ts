import { readFileSync } from "node:fs";

/** One small model of each family. */
export const TWO_ROOM = readFileSync(new URL("../fixtures/gnn/two_room.md", import.meta.url), "utf8");

function model(name: string, tensors: Readonly<Record<string, readonly [string, string]>>, more = ""): string {
  const all = Object.entries(tensors);
  return [
    `## GNNSection\nModel\n## GNNVersionAndFlags\nGNN v1\n## ModelName\n${name}\n## StateSpaceBlock`,
    ...all.map(([tensor, [shape]]) => `${tensor}[${shape},type=float]`),
    "## Connections",
    "s-o",
    "## InitialParameterization",
    ...all.map(([tensor, [, value]]) => `${tensor}={${value}}`),
    more,
  ].join("\n");
}

const A = ["2,2", "(0.9,0.2),(0.1,0.8)"] as const;
const B = ["2,2,2", "((0.9,0.1),(0.2,0.3)),((0.1,0.9),(0.8,0.7))"] as const;
const C = ["2", "(0,1.5)"] as const;
const D = ["2", "(0.7,0.3)"] as const;

export const TWO_FACTORS = model("Two factors", {
  A_m0: ["2,2,2", "((0.9,0.6),(0.2,0.1)),((0.1,0.4),(0.8,0.9))"],
  A_m1: ["2,3", "(0.7,0.2,0.5),(0.3,0.8,0.5)"],
  B_f0: B,
  B_f1: ["2,2,1", "((0.8),(0.1)),((0.2),(0.9))"],
  C_m0: C,
  C_m1: ["2", "(0.5,0)"],
  D_f0: D,
  D_f1: ["2", "(0.4,0.6)"],
  // The third factor has its own size, so A_m1 can be over no other.
  B_f2: ["3,3,2", "((1,0),(0,1),(0,0)),((0,0),(1,0),(0,1)),((0,1),(0,0),(1,0))"],
  D_f2: ["3", "(0.2,0.3,0.5)"],
});

export const TWO_AGENTS = model("Two agents", {
  A_agent1: A,
  B_agent1: B,
  C_agent1: C,
  D_agent1: D,
  A_agent2: A,
  B_agent2: B,
  D_agent2: D,
});

export const TWO_LEVELS = model(
  "Two levels",
  { A_level1: A, B_level1: B, C_level1: C, D_level1: D, A_level2: A, B_level2: B, C_level2: C, D_level2: D },
  "## ModelParameters\ntimescale_ratio: 3",
);

export const LEARNING = model("Learning", {
  A,
  B,
  C,
  D,
  dirichlet_A: ["2,2", "(2,1),(1,2)"],
  dirichlet_B: ["2,2,2", "((2,1),(1,2)),((1,2),(2,1))"],
});

export const LINEAR = model("Drift", {
  F: ["2,2", "(1,0.1),(0,0.95)"],
  H: ["1,2", "(1,0)"],
  Q: ["2,2", "(0.01,0),(0,0.02)"],
  R: ["1,1", "(0.1)"],
  prior_mean: ["2", "(0,1)"],
  prior_cov: ["2,2", "(1,0),(0,1)"],
});
