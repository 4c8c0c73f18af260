import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkGnn } from "../src/checks/check.ts";
import { parseGnn } from "../src/language/parse.ts";
import { viewOf } from "../src/language/view.ts";
import type { DiscreteProgram } from "../src/programs/program.ts";
import { readProgram } from "../src/programs/read-program.ts";
import { renderWithNotes } from "../src/render/targets.ts";
import { simulate } from "../src/simulate/simulate.ts";

/** A model with three states, three actions and the given transitions. */
function modelWith(B: string, ...parameters: readonly string[]): string {
  return `## GNNSection
Orders
## GNNVersionAndFlags
GNN v1
## ModelName
Orders
## StateSpaceBlock
A[3,3,type=float]
B[3,3,3,type=float]
D[3,type=float]
## Connections
A-B
D>B
## InitialParameterization
A={(1,0,0),(0,1,0),(0,0,1)}
B=${B}
D={(1,0,0)}
## ModelParameters
${parameters.join("\n")}
`;
}

function programOf(text: string): DiscreteProgram {
  return readProgram(viewOf(parseGnn(text).file.models[0]!)) as DiscreteProgram;
}

/** Returns the transitions in GNN's own order: next × previous × action. */
function transitionsOf(text: string): readonly number[] {
  return [...programOf(text).agents[0]!.factors[0]!.B.data];
}

function written(shape: readonly number[], value: (at: readonly number[]) => number): string {
  const group = (at: readonly number[]): string =>
    at.length === shape.length
      ? String(value(at))
      : `(${Array.from({ length: shape[at.length]! }, (_, index) => group([...at, index])).join(",")})`;
  return `{${group([]).slice(1, -1)}}`;
}

/** Permutations, which are probabilities in every axis order. */
const CYCLES = written([3, 3, 3], ([one, two, three]) => (three === (one! + two!) % 3 ? 1 : 0));

describe("the axis order of B that a model states", () => {
  const ORDERS = [
    ["next", "previous", "action"],
    ["next", "action", "previous"],
    ["previous", "next", "action"],
    ["previous", "action", "next"],
    ["action", "next", "previous"],
    ["action", "previous", "next"],
  ] as const;
  const SIZES = { next: 3, previous: 3, action: 3 };

  test("results in the same transitions for every axis order", () => {
    const column = fc.tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(column, { minLength: 9, maxLength: 9 }), fc.constantFrom(...ORDERS), (columns, axes) => {
        const probability = (next: number, previous: number, action: number): number => {
          const counts = columns[previous * 3 + action]!;
          return counts[next]! / (counts[0] + counts[1] + counts[2]);
        };
        const B = written(
          axes.map((axis) => SIZES[axis]),
          (at) => {
            const [next, previous, action] = ["next", "previous", "action"].map(
              (axis) => at[axes.indexOf(axis as "next")]!,
            );
            return probability(next!, previous!, action!);
          },
        );
        const found = transitionsOf(modelWith(B, `b_tensor_order: ${axes.join("_")}`));
        for (const [at, value] of found.entries())
          expect(value).toBeCloseTo(probability(Math.floor(at / 9), Math.floor(at / 3) % 3, at % 3), 9);
      }),
      { numRuns: 60, seed: 34 },
    );
  });

  test.each([
    "b_tensor_order: previous_state_next_state_action",
    "B_tensor_order: previous-next-action",
    "transition_tensor_order: states_previous_states_next_actions",
    "B_tensor_order = prev, next, control",
    "b_tensor_order: Previous State, Next State, Action",
  ])("accepts any spelling of the order: %s", (line) => {
    const B = written([3, 3, 3], ([previous, next, action]) => (next === (previous! + action!) % 3 ? 1 : 0));
    const found = transitionsOf(modelWith(B, line));
    // From state 0, action 1 leads to state 1.
    expect(found[1 * 9 + 0 * 3 + 1]).toBe(1);
    expect(checkGnn(modelWith(B, line)).diagnostics.filter(({ code }) => /N002|W013|E011/.test(code))).toEqual([]);
  });

  test("the order decides which state an action leads to", async () => {
    const B = written([3, 3, 3], ([one, two, action]) => (two === (one! + action!) % 3 ? 1 : 0));
    const statesOf = async (order: string): Promise<unknown> => {
      const { agents } = await simulate(programOf(modelWith(B, `b_tensor_order: ${order}`)), {
        steps: 2,
        actions: [[1], [0]],
      });
      return agents[0]!.steps[1]!.states;
    };
    expect(await statesOf("previous_next_action")).toEqual([1]);
    expect(await statesOf("next_previous_action")).toEqual([2]);
  });

  test("the order of a single factor overrides the common order", () => {
    const text = modelWith(CYCLES, "b_tensor_order: action_next_previous", "B_tensor_order: next_previous_action");
    expect(transitionsOf(text)).toEqual(transitionsOf(modelWith(CYCLES, "b_tensor_order: next_previous_action")));
    const own = modelWith(CYCLES, "B_f0_tensor_order: action_next_previous", "b_tensor_order: next_previous_action");
    const renamed = own.replaceAll(/^B([[=])/gm, "B_f0$1").replaceAll("B\n", "B_f0\n");
    expect(transitionsOf(renamed)).toEqual(transitionsOf(modelWith(CYCLES, "b_tensor_order: action_next_previous")));
  });

  test("refuses an order in which the columns are not probabilities, with the order to write", () => {
    const B = written([3, 3, 3], ([, next]) => (next === 0 ? 1 : 0));
    const text = modelWith(B, "b_tensor_order: next_state_previous_state_action");
    expect(() => programOf(text)).toThrow(
      "B does not contain probabilities in the order that b_tensor_order states: the worst column sums to 3. " +
        "Write b_tensor_order: action_next_state_previous_state.",
    );
    expect(checkGnn(text).diagnostics.find(({ code }) => code === "E011")).toMatchObject({
      message:
        "The columns of B are not probabilities in the order that b_tensor_order states: the worst one sums to 3.",
      mend: "State the order in ModelParameters: b_tensor_order: action_next_state_previous_state.",
    });
  });

  test.each([
    "b_tensor_order: rows",
    "b_tensor_order: next_action",
    "b_tensor_order: next_next_previous",
    "b_tensor_order: 3",
  ])("refuses an unknown order: %s", (line) => {
    expect(() => programOf(modelWith(CYCLES, line))).toThrow(
      "b_tensor_order is not an index order. Write, for example,",
    );
    expect(checkGnn(modelWith(CYCLES, line)).diagnostics.map(({ code }) => code)).toContain("W013");
  });

  test("the order applies to the counts of B and to transitions without actions", () => {
    const passive = `## GNNSection
p
## StateSpaceBlock
A[2,2]
B[2,2]
dirichlet_B[2,2]
## Connections
A-B
## InitialParameterization
A={(1,0),(0,1)}
B={(0.5,0.5),(0.1,0.9)}
dirichlet_B={(1,2),(3,4)}
## ModelParameters
b_tensor_order: previous_state_next_state
`;
    const [factor] = programOf(passive).agents[0]!.factors;
    expect([...factor!.B.data]).toEqual([0.5, 0.1, 0.5, 0.9]);
    expect(factor!.B.shape).toEqual([2, 2, 1]);
    expect([...factor!.countsB!.data]).toEqual([1, 3, 2, 4]);
  });
});

describe("a tensor that fits several orders", () => {
  test("adds a note with the chosen order and the setting to write, in a run, a program and a check", async () => {
    const text = modelWith(written([3, 3, 3], ([one, two, three]) => (two === (one! + 2 * three!) % 3 ? 1 : 0)));
    const program = programOf(text);
    const [note] = program.notes;
    expect(note).toMatch(
      /^B is read as next × previous × action; .* would also fit\. State the order in ModelParameters: /,
    );
    expect(note).toContain("b_tensor_order: next_state_previous_state_action");
    expect((await simulate(program, { steps: 1 })).notes).toContain(note);
    const rendered = renderWithNotes(program, "numpy");
    expect(rendered.notes).toContain(note);
    expect(rendered.text).toContain("B is read as next");
    const found = checkGnn(text).diagnostics.find(({ code }) => code === "N002");
    expect(`${found!.message} ${found!.mend}`).toBe(note);
  });

  test("adds no note if the order is stated, or if all orders are the same", () => {
    expect(programOf(modelWith(CYCLES, "b_tensor_order: next_previous_action")).notes).toEqual([]);
    expect(programOf(modelWith("identity")).notes).toEqual([]);
    const uniform = written([3, 3, 3], () => 1 / 3);
    expect(programOf(modelWith(uniform)).notes).toEqual([]);
  });

  test("adds the note for likelihoods too", () => {
    const turned = modelWith("identity").replace(
      "A={(1,0,0),(0,1,0),(0,0,1)}",
      "A={(0.5,0.5,0),(0,0.5,0.5),(0.5,0,0.5)}",
    );
    expect(programOf(turned).notes[0]).toContain(
      "A is read as observation × state; state × observation would also fit",
    );
    const stated = turned.replace("## ModelParameters", "## ModelParameters\na_tensor_order: state_observation");
    expect(programOf(stated).notes).toEqual([]);
    expect(Array.from(programOf(stated).agents[0]!.modalities[0]!.A.data.subarray(0, 3))).toEqual([0.5, 0, 0.5]);
  });
});
