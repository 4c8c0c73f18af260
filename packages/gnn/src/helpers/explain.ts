import { graphOf, type Graph, type GraphNode } from "../exports/graph.ts";
import type { GnnFile } from "../language/model.ts";
import { timeOf, viewOf, type ModelView } from "../language/view.ts";
import { ROLES, roleOf, type RoleName } from "../pictures/roles.ts";

/** Maximum number of names in a list. Of a longer list, only the number is given. */
const MAX_NAMES = 12;
const MAX_EDGES = 40;

/** Returns a rule-based description of a file. */
export function explainGnn(file: GnnFile): string {
  return inSentences(file, (graph) => (graph.edges.length === 0 ? [] : [edgesText(graph)]));
}

/** Describes a file in a few lines, with the number of edges. */
export function summarizeGnn(file: GnnFile): string {
  return inSentences(file, () => []);
}

function inSentences(file: GnnFile, tellEdges: (graph: Graph) => readonly string[]): string {
  return file.models
    .map((model) => {
      const [view, graph] = [viewOf(model), graphOf({ ...file, models: [model] })];
      return [...introduction(view, graph), ...tellEdges(graph), valuesText(view)].join("\n\n");
    })
    .join("\n\n");
}

function introduction(view: ModelView, { nodes, edges }: Graph): readonly string[] {
  const roles = (Object.keys(ROLES) as RoleName[]).flatMap((role) => {
    const own = nodes.filter((node) => roleOf(node) === role);
    return own.length === 0 ? [] : [`- ${ROLES[role].title}: ${listed(own.map(nodeText))}.`];
  });
  return [
    `${view.name ?? view.identifier ?? "The model"} has ${count(nodes.length, "variable")} and ` +
      `${count(edges.length, "edge")}. ${timeText(view)}`,
    ...(view.annotation === undefined ? [] : [view.annotation]),
    ...(roles.length === 0 ? [] : [roles.join("\n")]),
  ];
}

function nodeText({ name, dimensions, comment }: GraphNode): string {
  return `${name}${dimensions === "" ? "" : `[${dimensions}]`}${comment === "" ? "" : ` (${comment})`}`;
}

function edgesText({ edges }: Graph): string {
  const lines = edges
    .slice(0, MAX_EDGES)
    .map(
      ({ source, target, directed, label }) =>
        `- ${source} ${directed ? "acts on" : "goes together with"} ${target}${label === "" ? "" : `: ${label}`}`,
    );
  const more = edges.length > MAX_EDGES ? [`- and ${edges.length - MAX_EDGES} more`] : [];
  return [...lines, ...more].join("\n");
}

function timeText(view: ModelView): string {
  const { kind, domain, variable, horizon } = timeOf(view);
  if (kind === "Static") return "It is static: nothing changes with time.";
  if (kind === undefined && variable === undefined) return "It does not state its time.";
  const steps = horizon === undefined ? "" : horizon === "Unbounded" ? ", without an end" : `, over ${horizon} steps`;
  return `It is dynamic, in ${(domain ?? "Discrete").toLowerCase()} time${variable ? ` ${variable}` : ""}${steps}.`;
}

function valuesText({ values, equations }: ModelView): string {
  const named =
    values.length === 0
      ? "It contains no values"
      : `It contains values of ${listed(values.map(({ name }) => name.text))}`;
  return `${named}${equations.length === 0 ? "." : `, and ${count(equations.length, "equation")}.`}`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(", ");
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
