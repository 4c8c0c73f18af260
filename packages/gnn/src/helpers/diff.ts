import { printConnection, printVariable } from "../language/print.ts";
import { toValueData } from "../language/data.ts";
import { edgesOf, viewOf, type Edge, type ModelView } from "../language/view.ts";
import type { GnnFile } from "../language/model.ts";

/** A difference between two models. */
export interface Difference {
  /** Name of the section. */
  readonly section: string;
  readonly change: "added" | "removed" | "changed";
  readonly name: string;
  readonly before?: string;
  readonly after?: string;
}

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;

/** Returns the difference as one line of text: `~ StateSpaceBlock A: A[2,2] → A[3,2]`. */
export function formatDifference({ section, change, name, before, after }: Difference): string {
  const told = [before, after].filter((text) => text !== undefined && text !== name);
  return `${SIGNS[change]} ${section} ${name}${told.length === 0 ? "" : `: ${told.join(" → ")}`}`;
}

/** A statement of a section: its name, its text, and the normalised form that is compared. */
interface Fact {
  readonly name: string;
  readonly text: string;
  readonly meaning?: string;
}

type Facts = ReadonlyMap<string, Fact>;

/**
 * Returns the differences between the models of two files. Layout, comments and order are ignored.
 *
 * @example
 * ```ts
 * import { diffGnn, parseGnn } from "@toolyard/gnn";
 *
 * const before = parseGnn("## Connections\ns>o\n").file;
 * const after = parseGnn("## Connections\ns-o\n").file;
 * for (const difference of diffGnn(before, after)) console.log(difference);
 * ```
 */
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
  const gone = [...old].filter(([key]) => !now.has(key));
  const changed = [...now].filter(([key, fact]) => meaningOf(old.get(key)) !== meaningOf(fact));
  return [
    ...gone.map(([, { name, text: before }]) => ({ section, change: "removed" as const, name, before })),
    ...changed.map(([key, { name, text: after }]) => {
      const before = old.get(key)?.text;
      return before === undefined
        ? { section, change: "added" as const, name, after }
        : { section, change: "changed" as const, name, before, after };
    }),
  ];
}

function meaningOf(fact: Fact | undefined): string | undefined {
  return fact?.meaning ?? fact?.text;
}

function factsOf(view: ModelView | undefined): ReadonlyMap<string, Facts> {
  return new Map(Object.entries(FACTS).map(([section, read]) => [section, view ? read(view) : new Map()]));
}

type FactsReader = (view: ModelView) => Facts;

/** Returns the facts by name. If a name occurs repeatedly, the last fact applies, as in values. */
function named(pairs: readonly (readonly [string, string])[]): Facts {
  return new Map(pairs.map(([name, text]) => [name, { name, text }]));
}

/** Returns the declarations by name. If a name is declared repeatedly, the first declaration applies. */
function variableFacts({ variables }: ModelView): Facts {
  const facts = new Map<string, Fact>();
  for (const variable of variables) {
    const name = variable.name.text;
    if (!facts.has(name)) facts.set(name, { name, text: printVariable(variable) });
  }
  return facts;
}

/**
 * Returns single edges, so that groups, and the direction in which an undirected edge is written, make no difference.
 */
function edgeFacts(view: ModelView): Facts {
  const facts = new Map<string, Fact>();
  const { edges, isWhole } = edgesOf(view);
  if (!isWhole) return named(view.connections.map((one) => [printConnection(one), printConnection(one)]));
  for (const edge of edges) {
    const name = printEdge(edge);
    const isTurned = !edge.directed && edge.source > edge.target;
    const key = isTurned ? printEdge({ ...edge, source: edge.target, target: edge.source }) : name;
    if (!facts.has(key)) facts.set(key, { name, text: name, meaning: key });
  }
  return facts;
}

function printEdge({ source, target, directed, label, constraint }: Edge): string {
  const notes = `${label === undefined ? "" : `:${label}`}${constraint === undefined ? "" : `=${constraint}`}`;
  return `${source}${directed ? ">" : "-"}${target}${notes}`;
}

/** Functions that return the statements of each section by name. The name of an edge is the edge itself. */
const FACTS: Readonly<Record<string, FactsReader>> = {
  GNNSection: ({ identifier }) => named(identifier === undefined ? [] : [["identifier", identifier]]),
  GNNVersionAndFlags: ({ version }) => named(version === undefined ? [] : [["version", version]]),
  ModelName: ({ name }) => named(name === undefined ? [] : [["name", name]]),
  StateSpaceBlock: variableFacts,
  Connections: edgeFacts,
  InitialParameterization: ({ values }) =>
    named(values.map(({ name, value }) => [name.text, JSON.stringify(toValueData(value))])),
  Equations: ({ equations }) => named(equations.map(({ text }) => [text, text])),
  Time: ({ time }) => named(time.map(({ key, value }) => [key, value ? `${key}=${value.text}` : key])),
  ActInfOntologyAnnotation: ({ mappings }) => named(mappings.map(({ name, term }) => [name.text, term.text])),
  ModelParameters: ({ parameters }) =>
    named(parameters.map(({ key, value }) => [key.text, JSON.stringify(toValueData(value))])),
};
