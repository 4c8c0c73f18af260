import { printDimension } from "../language/print.ts";
import type { GnnFile, Variable } from "../language/model.ts";
import { baseName, NameTable, timeShift } from "../language/names.ts";
import { edgesOf, viewOf, type Edge, type ModelView } from "../language/view.ts";

/** Graph of a file: a node for each variable and each name in a connection, and an edge for each pair. */
export interface Graph {
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  /** Name of the variable; if the file has several models, preceded by the model: `Two:s`. */
  readonly id: string;
  readonly name: string;
  /** Identifier or number of the model. */
  readonly model: string;
  readonly type: string;
  /** Dimensions as declared: `2,num_states`. */
  readonly dimensions: string;
  /** Ontology term, if the model states one. */
  readonly ontology: string;
  readonly declared: boolean;
  readonly comment: string;
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly directed: boolean;
  readonly label: string;
  readonly constraint: string;
  /** Number of steps that the endpoint is ahead: 1 for `s_t+1` at the node `s_t`. */
  readonly sourceShift: number;
  readonly targetShift: number;
  readonly comment: string;
}

export function graphOf({ models }: GnnFile): Graph {
  const views = models.map(viewOf);
  const taken = new Set<string>();
  const parts = views.map((view, index) => {
    const wanted = view.identifier ?? `model${index + 1}`;
    const name = taken.has(wanted) ? `${wanted}${index + 1}` : wanted;
    taken.add(name);
    return new ModelGraph(view, name, views.length > 1 ? `${name}:` : "");
  });
  return {
    name: views.map((view) => view.name ?? view.identifier ?? "GNN").join(", "),
    nodes: parts.flatMap(({ nodes }) => nodes),
    edges: parts.flatMap(({ edges }) => edges).map((edge, index) => ({ ...edge, id: `e${index}` })),
  };
}

class ModelGraph {
  readonly nodes: GraphNode[] = [];
  readonly edges: readonly Omit<GraphEdge, "id">[];
  readonly #model: string;
  readonly #prefix: string;
  readonly #names = new NameTable<string>();

  constructor(view: ModelView, model: string, prefix: string) {
    this.#model = model;
    this.#prefix = prefix;
    const terms = new NameTable<string>();
    for (const { name, term } of view.mappings) terms.add(name.text, term.text);
    for (const variable of view.variables)
      if (!this.#names.has(variable.name.text)) this.#declare(variable, terms.find(variable.name.text) ?? "");
    this.edges = edgesOf(view).edges.map((edge) => this.#edge(edge));
  }

  #declare({ name, type, dimensions, comment = "" }: Variable, ontology: string): void {
    this.#names.add(name.text, name.text);
    this.nodes.push({
      id: this.#prefix + name.text,
      name: name.text,
      model: this.#model,
      type: type?.text ?? "float",
      dimensions: dimensions.map(printDimension).join(","),
      ontology,
      declared: true,
      comment: comment.replace(/^#+\s*/, ""),
    });
  }

  #edge({ source, target, directed, label = "", constraint = "", comment = "" }: Edge): Omit<GraphEdge, "id"> {
    const [from, to] = [this.#endpoint(source), this.#endpoint(target)];
    return {
      source: this.#prefix + from,
      target: this.#prefix + to,
      directed,
      label,
      constraint,
      sourceShift: shiftBetween(from, source),
      targetShift: shiftBetween(to, target),
      comment: comment.replace(/^#+\s*/, ""),
    };
  }

  /** Returns the declared name of an endpoint; an undeclared name gets a separate node. */
  #endpoint(name: string): string {
    const known = this.#names.find(name);
    if (known !== undefined) return known;
    const id = baseName(name) === name ? name : `${baseName(name)}_t`;
    this.#names.add(id, id);
    const rest = { type: "", dimensions: "", ontology: "", declared: false, comment: "" };
    this.nodes.push({ id: this.#prefix + id, name: id, model: this.#model, ...rest });
    return id;
  }
}

function shiftBetween(node: string, name: string): number {
  return node === name ? 0 : timeShift(name) - timeShift(node);
}
