import type { DiscreteAgent } from "../programs/program.ts";

/** Number of iterations if factors, or a factor and its learnt parameters, are inferred jointly. */
const ITERATIONS = 16;

/** Graph of one step. Indices start at 1, as in Julia. */
interface StepGraph {
  /** Observations, with the states on which they depend. */
  readonly seen: readonly { readonly at: number; readonly on: readonly number[]; readonly isLearnt: boolean }[];
  /** Factors on which an observation depends. */
  readonly inferred: readonly { readonly at: number; readonly states: number }[];
}

function graphOf({ factors, modalities }: DiscreteAgent): StepGraph {
  const seen = modalities
    .map(({ factors: on, countsA }, index) => ({
      at: index + 1,
      on: on.map((factor) => factor + 1),
      isLearnt: countsA !== undefined,
    }))
    .filter(({ on }) => on.length > 0);
  const inferred = factors
    .map(({ states }, index) => ({ states, at: index + 1 }))
    .filter(({ at }) => seen.some(({ on }) => on.includes(at)));
  return { seen, inferred };
}

/**
 * Returns the graph of one agent at one step, and the code that queries RxInfer for its beliefs. With one factor and
 * without learning, the graph is a tree and the messages are exact. Otherwise each factor and each learnt likelihood
 * has its own marginal.
 */
export function agentGraph(agent: DiscreteAgent, number: number, iterations = ITERATIONS): string {
  const graph = graphOf(agent);
  if (graph.inferred.length === 0)
    return `# No observation depends on a state.\ninfer_${number}(mind, seen) = copy(mind.prior)\n`;
  const names = [
    ...graph.inferred.map(({ at }) => `s_${at}`),
    ...graph.seen.filter(({ isLearnt }) => isLearnt).map(({ at }) => `A_${at}`),
  ];
  const isTree = names.length === 1;
  const beliefs = agent.factors.map((_, index) =>
    names.includes(`s_${index + 1}`) ? `probvec(result.posteriors[:s_${index + 1}])` : `mind.prior[${index + 1}]`,
  );
  return [
    ...modelLines(graph, number),
    ...(isTree ? [] : constraintLines(names, number)),
    `function infer_${number}(mind, seen)`,
    ...(isTree ? [] : startLines(graph)),
    "    result = infer(",
    `        model = step_${number}(${given(graph).join(", ")}),`,
    `        data = (${graph.seen.map(({ at }) => `o_${at} = seen[${at}],`).join(" ")}),`,
    ...(isTree ? [] : [`        constraints = constraints_${number},`, "        initialization = start,"]),
    ...(isTree ? [] : [`        iterations = ${iterations},`]),
    "        returnvars = KeepLast(),",
    "    )",
    `    return [${beliefs.join(", ")}]`,
    "end",
    "",
  ].join("\n");
}

function modelLines({ seen, inferred }: StepGraph, number: number): readonly string[] {
  const names = [
    ...seen.map(({ at }) => `o_${at}`),
    ...seen.map(({ at, isLearnt }) => `${isLearnt ? "counts" : "A"}_${at}`),
    ...inferred.map(({ at }) => `D_${at}`),
  ];
  return [
    `@model function step_${number}(${names.join(", ")})`,
    ...seen.filter(({ isLearnt }) => isLearnt).map(({ at }) => `    A_${at} ~ DirichletCollection(counts_${at})`),
    ...inferred.map(({ at }) => `    s_${at} ~ Categorical(D_${at})`),
    ...seen.map(({ at, on: [first, ...others] }) => {
      const ends = [`s_${first}`, `A_${at}`, ...others.map((factor) => `s_${factor}`)];
      return `    o_${at} ~ DiscreteTransition(${ends.join(", ")})`;
    }),
    "end",
    "",
  ];
}

function constraintLines(names: readonly string[], number: number): readonly string[] {
  return [
    `const constraints_${number} = @constraints begin`,
    `    q(${names.join(", ")}) = ${names.map((name) => `q(${name})`).join(" * ")}`,
    "end",
    "",
  ];
}

/** Returns the code that initialises marginals which depend on one another. */
function startLines({ seen, inferred }: StepGraph): readonly string[] {
  return [
    "    start = @initialization begin",
    ...inferred.map(({ at, states }) => `        q(s_${at}) = vague(Categorical, ${states})`),
    ...seen
      .filter(({ isLearnt }) => isLearnt)
      .map(({ at }) => `        q(A_${at}) = DirichletCollection(mind.counts_A[${at}])`),
    "    end",
  ];
}

function given({ seen, inferred }: StepGraph): readonly string[] {
  return [
    ...seen.map(({ at, isLearnt }) => (isLearnt ? `counts_${at} = mind.counts_A[${at}]` : `A_${at} = mind.A[${at}]`)),
    ...inferred.map(({ at }) => `D_${at} = mind.prior[${at}]`),
  ];
}
