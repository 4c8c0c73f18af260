import { edgesOf, type ModelView } from "../language/view.ts";
import type { AgentParts, AgentSource } from "./agent-parts.ts";
import { PROGRAM_LIMITS } from "./limits.ts";
import { Neighbours } from "./neighbours.ts";
import type { Numbers } from "./numbers.ts";
import { arrange, partsOf, type Letter, type Part } from "./parts.ts";
import type { DiscreteAgent, DiscreteProgram } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import { readFactors } from "./read-factor.ts";
import { readModality } from "./read-modality.ts";
import {
  learningNotes,
  omegaNotes,
  remainingNotes,
  usableOrders,
  usableSettings,
  withoutIdleGain,
  withPolicyLength,
} from "./read-settings.ts";
import { vectorOf } from "./shapes.ts";
import { withLabels } from "./with-labels.ts";
import { firstChars } from "toolyard/text";

export function readDiscrete(view: ModelView, numbers: Numbers): DiscreteProgram {
  const parts = partsOf(numbers.names());
  refuseCounts(parts);
  const { arrangement, instances } = arrange(parts.filter(({ isCounts }) => !isCounts));
  if (instances.length === 0) throw noLikelihood("");
  if (instances.length > PROGRAM_LIMITS.agents)
    throw new ProgramError(instances.at(-1)!, `A program has at most ${PROGRAM_LIMITS.agents} agents or levels.`);
  const stated = usableSettings(view);
  const notes = [...stated.notes];
  const source: AgentSource = {
    neighbours: new Neighbours(view),
    numbers,
    orders: usableOrders(view),
    notes,
    omega: stated.settings.omega ?? 1,
  };
  const agents = instances.map((instance) => readAgent(agentParts(parts, instance), source));
  if (arrangement === "levels") expectLevels(agents);
  const window = windowOf(numbers);
  const ratios = arrangement === "levels" ? ratiosOf(numbers, instances) : [];
  if (arrangement === "agents") notes.push(...sharingNotes(view, instances));
  notes.push(...omegaNotes(agents, stated.settings), ...learningNotes(agents, stated.settings));
  const used = withoutIdleGain(stated.settings, agents);
  const settings = withPolicyLength(used, { view, agents, notes });
  const labelled = withLabels(view, agents, notes);
  notes.push(...remainingNotes(view, { numbers, stated, agents, settings, labels: labelled.used }));
  return {
    kind: "discrete",
    title: titleOf(view),
    notes,
    settings,
    arrangement,
    agents: labelled.agents,
    ratios,
    ...(window === undefined ? {} : { window }),
  };
}

export function titleOf(view: ModelView): string {
  return firstChars(view.name ?? view.identifier ?? "Model", 200);
}

function refuseCounts(parts: readonly Part[]): void {
  const strange = parts.find(({ isCounts, letter }) => isCounts && (letter === "C" || letter === "E"));
  if (!strange) return;
  throw new ProgramError(
    strange.name,
    `${strange.name}: A, B and D are learnt (dirichlet_A, dirichlet_B, dirichlet_D); no library for which ` +
      "programs are " +
      `rendered learns ${strange.letter}.`,
  );
}

/** Names in PyMDP of the fixed-point iteration, which programs use by default. */
const ITERATIONS = new Set(["FPI", "VANILLA"]);
/** Window of message passing if the model states none, in steps. */
const USUAL_WINDOW = 16;

/**
 * Returns the window of message passing, in steps. Throws for any other algorithm, because the beliefs would differ
 * from those that the model requires.
 */
function windowOf(numbers: Numbers): number | undefined {
  const name = ["inference_algo", "inference_algorithm"].find((one) => numbers.word(one) !== undefined);
  const wanted = name === undefined ? "FPI" : numbers.word(name)!;
  if (ITERATIONS.has(wanted.toUpperCase())) return undefined;
  if (wanted.toUpperCase() !== "MMP")
    throw new ProgramError(
      name!,
      `${name!} is ${JSON.stringify(firstChars(wanted, 40))}; programs infer by fixed-point iteration (FPI) or by ` +
        `marginal message passing (MMP). Write "${name!}: FPI", or remove the line.`,
    );
  const window = numbers.expectedParameter("inference_horizon") ?? USUAL_WINDOW;
  if (window <= PROGRAM_LIMITS.window) return window;
  throw new ProgramError(
    "inference_horizon",
    `inference_horizon is ${window}; message passing supports at most ${PROGRAM_LIMITS.window} steps.`,
  );
}

function agentParts(all: readonly Part[], instance: string): AgentParts {
  const own = all.filter((part) => part.instance === instance);
  const find = (letter: Letter, index: number, isCounts: boolean): Part | undefined => {
    const found = own.filter((part) => part.letter === letter && part.index === index && part.isCounts === isCounts);
    if (found.length < 2) return found[0];
    const [one, other] = found;
    throw new ProgramError(other!.name, `${one!.name} and ${other!.name} are both ${letter} number ${index}.`);
  };
  return {
    instance,
    of: (letter, index) => find(letter, index, false),
    counts: (letter, index) => find(letter, index, true),
    size: (...letters) =>
      own.reduce((size, { letter, index }) => (letters.includes(letter) ? Math.max(size, index + 1) : size), 0),
  };
}

function readAgent(parts: AgentParts, source: AgentSource): DiscreteAgent {
  const count = parts.size("B", "D");
  const modalities = parts.size("A", "C");
  const where = parts.instance === "" ? "" : ` of ${parts.instance}`;
  if (modalities === 0) throw noLikelihood(where);
  if (count > PROGRAM_LIMITS.factors || modalities > PROGRAM_LIMITS.modalities)
    throw new ProgramError(
      `A${where}`,
      `A program has at most ${PROGRAM_LIMITS.factors} factors and ${PROGRAM_LIMITS.modalities} modalities.`,
    );
  const factors = readFactors(parts, Math.max(count, 1), source);
  const agent = {
    name: parts.instance,
    factors,
    modalities: Array.from({ length: modalities }, (_, index) => readModality(parts, index, { ...source, factors })),
  };
  const habit = parts.of("E", 0);
  if (!habit) return agent;
  const given = source.numbers.given(habit.name);
  const length = given.tensor?.data.length ?? given.shape?.reduce((product, one) => product * one, 1) ?? 0;
  const E = vectorOf(given, length, source.numbers);
  return E ? { ...agent, E } : agent;
}

function noLikelihood(where: string): ProgramError {
  return new ProgramError("A", `The model has no likelihood A${where}, which programs require.`);
}

/**
 * Checks that the outcomes of a level are the states of the level below, because a level observes the most probable
 * state of the level below.
 */
function expectLevels(agents: readonly DiscreteAgent[]): void {
  for (const [index, upper] of agents.entries()) {
    const lower = agents[index - 1];
    if (!lower) continue;
    const [modality] = upper.modalities;
    const [factor] = lower.factors;
    if (upper.modalities.length > 1 || lower.factors.length > 1)
      throw new ProgramError(
        upper.modalities.length > 1 ? upper.modalities[1]!.name : lower.factors[1]!.name,
        `Between ${lower.name} and ${upper.name} only one modality and one factor are supported.`,
      );
    if (modality!.outcomes !== factor!.states)
      throw new ProgramError(
        modality!.name,
        `${modality!.name} has ${modality!.outcomes} outcomes, and ${lower.name}, which it observes, has ` +
          `${factor!.states} states.`,
      );
  }
}

function ratiosOf(numbers: Numbers, instances: readonly string[]): readonly number[] {
  const ratios = instances.slice(1).map((_, level) => ratioOf(numbers, instances, level));
  const period = ratios.reduce((product, ratio) => product * ratio, 1);
  if (period <= PROGRAM_LIMITS.period) return ratios;
  throw new ProgramError(
    "timescale_ratio",
    `timescale_ratio gives the highest level one step in ${period.toLocaleString("en")}; at most ` +
      `${PROGRAM_LIMITS.period.toLocaleString("en")} are possible.`,
  );
}

/** Returns the ratio of two levels: `timescale_ratio`, or that of a pair of levels, such as `timescale_ratio_2_1`. */
function ratioOf(numbers: Numbers, instances: readonly string[], level: number): number {
  const [lower, upper] = [instances[level]!, instances[level + 1]!].map((name) => name.replace(/\D/g, ""));
  return (
    numbers.expectedParameter(`timescale_ratio_${upper}_${lower}`) ?? numbers.expectedParameter("timescale_ratio") ?? 1
  );
}

/** Returns notes about edges between agents. They state that something is shared, but no number states how. */
function sharingNotes(view: ModelView, instances: readonly string[]): readonly string[] {
  const suffixes = instances.map((instance) => `_${instance}`);
  const ownerOf = (name: string): string => suffixes.find((suffix) => name.includes(suffix)) ?? "";
  const shared = edgesOf(view).edges.find(({ source, target }) => {
    const ends = [ownerOf(source), ownerOf(target)];
    return ends[0] !== ends[1] && ends.some((owner) => owner !== "");
  });
  if (!shared) return [];
  const edge = `${shared.source}${shared.directed ? ">" : "-"}${shared.target}`;
  return [`The agents share nothing in the program, because edges such as ${edge} have no numbers.`];
}
