import { LIMITS } from "../language/limits.ts";
import type { Variable } from "../language/model.ts";
import type { CheckContext } from "./context.ts";
import { EndIndex } from "./ends.ts";
import { NumberSet } from "./number-set.ts";

/** Reports undeclared endpoints, repeated edges, unused variables, and a graph with disconnected parts. */
export function checkConnections(context: CheckContext): void {
  const ends = new EndIndex(context.view.connections, context.variables);
  if (ends.edges > LIMITS.edges) checkCount(context);
  if (context.declares) checkDeclared(context, ends);
  checkRepeats(context, ends);
  checkUse(context, ends);
  checkParts(context, ends);
}

/** Reports the first edge above the limit. Further edges are not added to the graph. */
function checkCount({ view, reporter }: CheckContext): void {
  let count = 0;
  for (const { sources, targets, span } of view.connections) {
    count += sources.length * targets.length;
    if (count <= LIMITS.edges) continue;
    const message = `The model has more than ${LIMITS.edges} edges; from here on, edges are not in any graph.`;
    reporter.report({ code: "E008", span, message, mend: "Split the model, or write smaller groups." });
    return;
  }
}

function checkDeclared({ view, profile, reporter, suggestions }: CheckContext, ends: EndIndex): void {
  if (ends.names.every(({ variable }) => variable)) return;
  const severity = profile.declaredEndpoints ? "error" : "warning";
  let end = 0;
  for (const { sources, targets } of view.connections)
    for (const names of [sources, targets])
      for (const { text, span } of names) {
        const { variable } = ends.names[ends.id(end++)]!;
        if (variable || reporter.leavesOut("W002", severity)) continue;
        const near = suggestions.variable(text);
        reporter.report({
          code: "W002",
          severity,
          span,
          message: `${text} is not declared in StateSpaceBlock.`,
          mend:
            near === undefined
              ? `Declare ${text}[…] there.`
              : `Write ${near}, or declare ${text}[…] in StateSpaceBlock.`,
        });
      }
}

/**
 * Groups are expanded here instead of by `edgesOf`: for up to a hundred thousand edges, two numbers per edge are
 * enough.
 */
function checkRepeats({ view, reporter }: CheckContext, ends: EndIndex): void {
  const seen = new NumberSet(Math.min(ends.edges, LIMITS.edges));
  const count = ends.names.length;
  let first = 0;
  let looked = 0;
  for (let index = 0; index < view.connections.length; index += 1) {
    const connection = view.connections[index]!;
    const { directed } = connection;
    const second = first + ends.sourcesOf(index);
    const behind = second + ends.targetsOf(index);
    for (let from = first; from < second; from += 1)
      for (let to = second; to < behind; to += 1) {
        if (looked >= LIMITS.edges) return;
        looked += 1;
        const source = ends.id(from);
        const target = ends.id(to);
        const isTurned = !directed && source > target;
        const pair = isTurned ? target * count + source : source * count + target;
        if (seen.add(2 * pair + (directed ? 1 : 0)) || reporter.leavesOut("W007")) continue;
        const edge = `${ends.names[source]!.text}${directed ? ">" : "-"}${ends.names[target]!.text}`;
        reporter.report({ code: "W007", span: connection.span, message: `The edge ${edge} is a duplicate.` });
      }
    first = behind;
  }
}

function checkUse(context: CheckContext, ends: EndIndex): void {
  const used = usedVariables(context, ends);
  for (const variable of context.view.variables) {
    const { text, span } = variable.name;
    if (used.has(variable) || context.variables.find(text) !== variable) continue;
    if (context.reporter.leavesOut("W001")) continue;
    const message = `${text} is used in no connection, dimension, equation or time.`;
    context.reporter.report({ code: "W001", span, message });
  }
}

function usedVariables({ view, variables, time }: CheckContext, ends: EndIndex): ReadonlySet<Variable> {
  const used = new Set<Variable>();
  const use = (name: string | undefined): void => {
    const variable = name === undefined ? undefined : variables.find(name);
    if (variable) used.add(variable);
  };
  for (const { variable } of ends.names) if (variable) used.add(variable);
  for (const { dimensions } of view.variables)
    for (const dimension of dimensions)
      if (dimension.kind === "reference" || dimension.kind === "length") use(dimension.name);
  // An unreadable line is reported once; the names in it are not also reported as unused.
  for (const { text } of [...view.equations, ...view.unread]) for (const [name] of text.matchAll(WORD)) use(name);
  for (const { name } of view.variables) if (/^dirichlet_[A-E]/.test(name.text)) use(name.text);
  use(time.variable);
  use(time.horizon);
  return used;
}

const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_^']*/gu;

/** Reports parts of the graph that are not connected. This may be intended in a model of several agents. */
function checkParts({ view, reporter }: CheckContext, ends: EndIndex): void {
  const first = view.connections[0]?.sources[0];
  // An unreadable line may be the connection between two parts.
  if (!first || view.unread.length > 0) return;
  const parts = new ConnectedSets(ends.nodes.length);
  let from = 0;
  for (let index = 0; index < view.connections.length; index += 1) {
    const behind = from + ends.sourcesOf(index) + ends.targetsOf(index);
    for (let end = from + 1; end < behind; end += 1) parts.join(ends.node(from), ends.node(end));
    from = behind;
  }
  const found = parts.all();
  if (found.length < 2) return;
  const named = found.slice(0, 5).map((nodes) => {
    const names = nodes.slice(0, 4).map((node) => ends.nodes[node]);
    return `{${names.join(", ")}${nodes.length > 4 ? ", …" : ""}}`;
  });
  reporter.report({
    code: "N004",
    span: first.span,
    message:
      `The graph has ${found.length} parts that no edge connects: ` +
      `${named.join(", ")}${found.length > 5 ? ", …" : ""}.`,
  });
}

/** Disjoint sets of nodes (union-find). */
class ConnectedSets {
  readonly #parents: Int32Array;

  constructor(count: number) {
    this.#parents = Int32Array.from({ length: count }, (_, node) => node);
  }

  join(one: number, other: number): void {
    this.#parents[this.#rootOf(one)] = this.#rootOf(other);
  }

  all(): readonly (readonly number[])[] {
    const parts = new Map<number, number[]>();
    for (const node of this.#parents.keys()) {
      const root = this.#rootOf(node);
      const part = parts.get(root);
      if (part) part.push(node);
      else parts.set(root, [node]);
    }
    return [...parts.values()];
  }

  #rootOf(node: number): number {
    let at = node;
    while (this.#parents[at] !== at) {
      const above = this.#parents[this.#parents[at]!]!;
      this.#parents[at] = above;
      at = above;
    }
    return at;
  }
}
