import { printConnection, printVariable } from "../language/print.ts";
import { toValueData } from "../language/data.ts";
import { viewOf, type ModelView } from "../language/view.ts";
import type { GnnFile } from "../language/model.ts";

/** One thing that is not the same in two models. */
export interface Difference {
  /** The section that it belongs to. */
  readonly section: string;
  readonly change: "added" | "removed" | "changed";
  readonly name: string;
  readonly before?: string;
  readonly after?: string;
}

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;

/** One line for people: `~ StateSpaceBlock A: A[2,2] → A[3,2]`. */
export function formatDifference({ section, change, name, before, after }: Difference): string {
  const told = [before, after].filter((text) => text !== undefined && text !== name);
  return `${SIGNS[change]} ${section} ${name}${told.length === 0 ? "" : `: ${told.join(" → ")}`}`;
}

type Facts = ReadonlyMap<string, string>;

/** What differs between the models of two files, whatever the layout, the comments and the order of their texts. */
export function diffGnn(before: GnnFile, after: GnnFile): readonly Difference[] {
  const count = Math.max(before.models.length, after.models.length);
  return Array.from({ length: count }, (_, at) => {
    const [one, other] = [before.models[at], after.models[at]];
    const prefix = count > 1 ? `model ${at + 1}: ` : "";
    return diffViews(one && viewOf(one), other && viewOf(other)).map((difference) => ({
      ...difference,
      name: prefix + difference.name,
    }));
  }).flat();
}

function diffViews(before: ModelView | undefined, after: ModelView | undefined): readonly Difference[] {
  const [old, now] = [factsOf(before), factsOf(after)];
  return Object.keys(FACTS).flatMap((section) => compare(section, old.get(section)!, now.get(section)!));
}

function compare(section: string, old: Facts, now: Facts): readonly Difference[] {
  const gone = [...old].filter(([name]) => !now.has(name));
  const changed = [...now].filter(([name, text]) => old.get(name) !== text);
  return [
    ...gone.map(([name, before]) => ({ section, change: "removed" as const, name, before })),
    ...changed.map(([name, after]) => {
      const before = old.get(name);
      return before === undefined
        ? { section, change: "added" as const, name, after }
        : { section, change: "changed" as const, name, before, after };
    }),
  ];
}

function factsOf(view: ModelView | undefined): ReadonlyMap<string, Facts> {
  return new Map(Object.entries(FACTS).map(([section, read]) => [section, new Map(view ? read(view) : [])]));
}

type Read = (view: ModelView) => readonly (readonly [string, string])[];

/** What each section states, by name. Connections have none, so they are named by themselves. */
const FACTS: Readonly<Record<string, Read>> = {
  GNNSection: ({ identifier }) => (identifier === undefined ? [] : [["identifier", identifier]]),
  GNNVersionAndFlags: ({ version }) => (version === undefined ? [] : [["version", version]]),
  ModelName: ({ name }) => (name === undefined ? [] : [["name", name]]),
  StateSpaceBlock: ({ variables }) => variables.map((variable) => [variable.name.text, printVariable(variable)]),
  Connections: ({ connections }) => connections.map((one) => [printConnection(one), printConnection(one)]),
  InitialParameterization: ({ values }) =>
    values.map(({ name, value }) => [name.text, JSON.stringify(toValueData(value))]),
  Equations: ({ equations }) => equations.map(({ text }) => [text, text]),
  Time: ({ time }) => time.map(({ key, value }) => [key, value ? `${key}=${value.text}` : key]),
  ActInfOntologyAnnotation: ({ mappings }) => mappings.map(({ name, term }) => [name.text, term.text]),
  ModelParameters: ({ parameters }) =>
    parameters.map(({ key, value }) => [key.text, JSON.stringify(toValueData(value))]),
};
