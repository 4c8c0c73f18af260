import { LIMITS } from "../language/limits.ts";
import type { Name, Variable } from "../language/model.ts";
import { baseName, type NameTable } from "../language/names.ts";
import type { ModelView } from "../language/view.ts";
import type { CheckContext } from "./context.ts";

/** Endpoints that nobody declares, and edges that stand twice. */
export function checkConnections(context: CheckContext): void {
  const { view, variables, profile, reporter, suggestions } = context;
  for (const name of endsOf(view)) {
    if (variables.find(name.text)) continue;
    const near = suggestions.variable(name.text);
    reporter.report({
      code: "W002",
      ...(profile.declaredEndpoints ? { severity: "error" } : {}),
      span: name.span,
      message: `${name.text} is not declared in StateSpaceBlock.`,
      mend: near === undefined ? `Declare ${name.text}[…] there.` : `Write ${near}, or declare ${name.text}[…] there.`,
    });
  }
  checkRepeats(context);
}

function* endsOf({ connections }: ModelView): Generator<Name> {
  for (const { sources, targets } of connections) {
    yield* sources;
    yield* targets;
  }
}

/** Groups are taken apart here and not by `edgesOf`, since of a hundred thousand edges the names are enough. */
function checkRepeats({ view, reporter }: CheckContext): void {
  const seen = new Set<string>();
  for (const { sources, targets, directed, span } of view.connections)
    for (const { text: source } of sources)
      for (const { text: target } of targets) {
        if (seen.size >= LIMITS.edges) return;
        const sign = directed ? ">" : "-";
        const before = seen.size;
        seen.add(directed || source < target ? source + sign + target : target + sign + source);
        if (seen.size > before) continue;
        reporter.report({ code: "W007", span, message: `The edge ${source}${sign}${target} stands there already.` });
      }
}

/** Variables that nothing uses, and a graph in several parts. */
export function checkGraph(context: CheckContext): void {
  const used = usedVariables(context);
  for (const variable of new Set(context.view.variables)) {
    const { text, span } = variable.name;
    if (used.has(variable) || context.variables.find(text) !== variable) continue;
    const message = `${text} is used in no connection, dimension, equation or time.`;
    context.reporter.report({ code: "W001", span, message });
  }
  checkParts(context);
}

function usedVariables({ view, variables, time }: CheckContext): ReadonlySet<Variable> {
  const used = new Set<Variable>();
  const use = (name: string | undefined): void => {
    const variable = name === undefined ? undefined : variables.find(name);
    if (variable) used.add(variable);
  };
  for (const { text } of endsOf(view)) use(text);
  for (const { dimensions } of view.variables)
    for (const dimension of dimensions)
      if (dimension.kind === "reference" || dimension.kind === "length") use(dimension.name);
  // A line that cannot be read is told once; what it names is not told as unused besides.
  for (const { text } of [...view.equations, ...view.unread]) for (const [name] of text.matchAll(WORD)) use(name);
  for (const { name } of view.variables) if (/^dirichlet_[A-E]/.test(name.text)) use(name.text);
  use(time.variable);
  use(time.horizon);
  return used;
}

const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_^']*/gu;

/** Parts of the graph that no edge joins. A model of several agents may be meant so. */
function checkParts({ view, variables, reporter }: CheckContext): void {
  // A line that cannot be read may be what joins them.
  if (view.unread.length > 0) return;
  const parts = new Parts();
  const join = (one: Name, other: Name): void => parts.join(nodeOf(one, variables), nodeOf(other, variables));
  for (const { sources, targets } of view.connections) {
    for (const source of sources) join(sources[0]!, source);
    for (const target of targets) join(sources[0]!, target);
  }
  const first = view.connections[0]?.sources[0];
  const found = parts.all();
  if (found.length < 2 || !first) return;
  const named = found.slice(0, 5).map((names) => `{${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""}}`);
  reporter.report({
    code: "N004",
    span: first.span,
    message:
      `The graph has ${found.length} parts that no edge joins: ` +
      `${named.join(", ")}${found.length > 5 ? ", …" : ""}.`,
  });
}

/** A variable and the same one a step later are one part: `s` and `s_prime`, `s_next` or `s'`. */
function nodeOf({ text }: Name, variables: NameTable<Variable>): string {
  const name = variables.find(text)?.name.text ?? text;
  return baseName(name).replace(/(?:_prime|_next|'|′)$/, "") || name;
}

/** Sets of names that are joined one pair at a time. */
class Parts {
  readonly #parents = new Map<string, string>();

  join(one: string, other: string): void {
    this.#parents.set(this.#rootOf(one), this.#rootOf(other));
  }

  all(): readonly (readonly string[])[] {
    const parts = new Map<string, string[]>();
    for (const name of this.#parents.keys()) {
      const root = this.#rootOf(name);
      const part = parts.get(root);
      if (part) part.push(name);
      else parts.set(root, [name]);
    }
    return [...parts.values()];
  }

  #rootOf(name: string): string {
    let at = name;
    for (let parent = this.#parents.get(at); parent !== undefined && parent !== at; parent = this.#parents.get(at)) {
      const above = this.#parents.get(parent) ?? parent;
      this.#parents.set(at, above);
      at = above;
    }
    if (!this.#parents.has(at)) this.#parents.set(at, at);
    return at;
  }
}
