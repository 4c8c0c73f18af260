import { nearest } from "../language/nearest.ts";
import type { Name, Raw, Variable } from "../language/model.ts";
import { baseName } from "../language/names.ts";
import type { ModelView } from "../language/view.ts";
import type { CheckContext } from "./context.ts";

/** Suggestions are looked for so many times in a model: each looks at every name. */
const MAX_SUGGESTIONS = 100;

/** Endpoints that nobody declares, and edges that stand twice. */
export function checkConnections(context: CheckContext): void {
  const { view, variables, profile, reporter } = context;
  let suggestions = 0;
  for (const connection of view.connections)
    for (const name of [...connection.sources, ...connection.targets]) {
      if (variables.find(name.text)) continue;
      suggestions += 1;
      const near = suggestions > MAX_SUGGESTIONS ? undefined : nearest(name.text, variables.names());
      reporter.report({
        code: "W002",
        ...(profile.declaredEndpoints ? { severity: "error" } : {}),
        span: name.span,
        message: `${name.text} is not declared in StateSpaceBlock.`,
        mend:
          near === undefined ? `Declare ${name.text}[…] there.` : `Write ${near}, or declare ${name.text}[…] there.`,
      });
    }
  checkRepeats(context);
}

function checkRepeats({ edges, reporter }: CheckContext): void {
  const seen = new Set<string>();
  for (const { source, target, directed, connection } of edges) {
    const ends = directed || source < target ? `${source} ${target}` : `${target} ${source}`;
    const key = `${directed ? ">" : "-"} ${ends}`;
    if (seen.has(key)) {
      const message = `The edge ${source}${directed ? ">" : "-"}${target} stands there already.`;
      reporter.report({ code: "W007", span: connection.span, message });
    }
    seen.add(key);
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
  for (const { sources, targets } of view.connections) for (const { text } of [...sources, ...targets]) use(text);
  for (const { dimensions } of view.variables)
    for (const dimension of dimensions)
      if (dimension.kind === "reference" || dimension.kind === "length") use(dimension.name);
  for (const { text } of [...view.equations, ...unreadLines(view)]) for (const [name] of text.matchAll(WORD)) use(name);
  for (const { name } of view.variables) if (/^dirichlet_[A-E]/.test(name.text)) use(name.text);
  use(time.variable);
  use(time.horizon);
  return used;
}

/** A line that cannot be read is told once; what it names is not told as unused besides. */
function unreadLines({ model }: ModelView): readonly Raw[] {
  const statements = model.sections.flatMap((section) => (section.kind === "statements" ? section.statements : []));
  return statements.filter((statement): statement is Raw => statement.kind === "raw");
}

const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_^']*/gu;

/** Parts of the graph that no edge joins. A model of several agents may be meant so. */
function checkParts({ view, variables, reporter }: CheckContext): void {
  // A line that cannot be read may be what joins them.
  if (unreadLines(view).length > 0) return;
  const parts = new Parts();
  let first: Name | undefined;
  for (const { sources, targets } of view.connections) {
    first ??= sources[0]!;
    const names = [...sources, ...targets].map(({ text }) => variables.find(text)?.name.text ?? text);
    for (const name of names) parts.join(sliceName(names[0]!), sliceName(name));
  }
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
function sliceName(name: string): string {
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
      parts.set(root, [...(parts.get(root) ?? []), name]);
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
