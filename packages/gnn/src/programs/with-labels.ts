import type { ModelView } from "../language/view.ts";
import { assignLabels, labelsOf } from "../settings/labels.ts";
import type { LabelKind } from "../settings/names.ts";
import type { DiscreteAgent } from "./program.ts";

/** Agents with the labels that the model states. */
interface LabelledAgents {
  readonly agents: readonly DiscreteAgent[];
  /** Names of the parameters with labels. */
  readonly used: readonly string[];
}

type Labels = readonly string[] | undefined;

/** Adds labels to factors and modalities, and notes labels that match none. */
export function withLabels(view: ModelView, agents: readonly DiscreteAgent[], notes: string[]): LabelledAgents {
  const reader = new LabelReader(view, notes);
  const actions = reader.find(
    "actions",
    lengthsOf(agents, ({ factors }) => factors.map((factor) => factor.actions)),
  );
  const states = reader.find(
    "states",
    lengthsOf(agents, ({ factors }) => factors.map((factor) => factor.states)),
  );
  const outcomes = reader.find(
    "outcomes",
    lengthsOf(agents, (agent) => agent.modalities.map((one) => one.outcomes)),
  );
  const labelled = agents.map((agent, at) => ({
    ...agent,
    factors: agent.factors.map((factor, index) => ({
      ...factor,
      ...member("actionLabels", actions[at]![index]),
      ...member("stateLabels", states[at]![index]),
    })),
    modalities: agent.modalities.map((modality, index) => ({
      ...modality,
      ...member("labels", outcomes[at]![index]),
    })),
  }));
  return { agents: labelled, used: reader.used };
}

function lengthsOf(
  agents: readonly DiscreteAgent[],
  lengths: (agent: DiscreteAgent) => readonly number[],
): readonly (readonly number[])[] {
  return agents.map(lengths);
}

function member<K extends string>(key: K, labels: Labels): { readonly [P in K]?: readonly string[] } {
  return labels ? ({ [key]: labels } as { [P in K]: readonly string[] }) : {};
}

class LabelReader {
  readonly used: string[] = [];
  readonly #view: ModelView;
  readonly #notes: string[];

  constructor(view: ModelView, notes: string[]) {
    this.#view = view;
    this.#notes = notes;
  }

  /** Returns the labels of each length of each agent. */
  find(kind: LabelKind, lengths: readonly (readonly number[])[]): readonly (readonly Labels[])[] {
    const stated = labelsOf(this.#view, kind);
    const found = lengths.map((one) => assignLabels(stated, one));
    if (!stated) return found;
    this.used.push(stated.parameter);
    if (!found.flat().some((labels) => labels))
      this.#notes.push(
        `${stated.parameter}: the number of labels is ${stated.lists.map(({ length }) => length).join(" and ")}, and ` +
          `the tensors have ${lengths.flat().join(" and ")} ${kind}; the program shows numbers.`,
      );
    return found;
  }
}
