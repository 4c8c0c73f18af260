import type { Connection, Variable } from "../language/model.ts";
import { baseName, type NameTable } from "../language/names.ts";

/** A name in connections, with the nodes that it represents. */
export interface EndName {
  readonly text: string;
  readonly variable: Variable | undefined;
  /** Number of its node. A variable and its value at the next step have the same node. */
  readonly node: number;
}

/**
 * Endpoints of connections as numbers of names. There may be a hundred thousand endpoints; each name is looked up once.
 */
export class EndIndex {
  readonly names: readonly EndName[];
  /** Names of the nodes, by number. */
  readonly nodes: readonly string[];
  /** Number of edges after expanding groups. */
  readonly edges: number;
  readonly #ids: readonly number[];
  /** Number of sources, then number of targets, of each connection. */
  readonly #counts: readonly number[];

  constructor(connections: readonly Connection[], variables: NameTable<Variable>) {
    const table = new EndTable(variables);
    const ids: number[] = [];
    const counts: number[] = [];
    let edges = 0;
    for (const { sources, targets } of connections) {
      for (let index = 0; index < sources.length; index += 1) ids.push(table.idOf(sources[index]!.text));
      for (let index = 0; index < targets.length; index += 1) ids.push(table.idOf(targets[index]!.text));
      counts.push(sources.length, targets.length);
      edges += sources.length * targets.length;
    }
    this.names = table.names;
    this.nodes = table.nodes;
    this.edges = edges;
    this.#ids = ids;
    this.#counts = counts;
  }

  /** Returns the number of the name at an end. Ends are in text order, sources before targets. */
  id(end: number): number {
    return this.#ids[end]!;
  }

  node(end: number): number {
    return this.names[this.id(end)]!.node;
  }

  sourcesOf(connection: number): number {
    return this.#counts[2 * connection]!;
  }

  targetsOf(connection: number): number {
    return this.#counts[2 * connection + 1]!;
  }
}

class EndTable {
  readonly names: EndName[] = [];
  readonly nodes: string[] = [];
  readonly #variables: NameTable<Variable>;
  readonly #ids = new Map<string, number>();
  readonly #nodes = new Map<string, number>();

  constructor(variables: NameTable<Variable>) {
    this.#variables = variables;
  }

  idOf(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const variable = this.#variables.find(text);
    const id = this.names.push({ text, variable, node: this.#nodeOf(variable?.name.text ?? text) }) - 1;
    this.#ids.set(text, id);
    return id;
  }

  #nodeOf(text: string): number {
    // Endings that denote the next step: `s_prime`, `s_next` or `s'` for `s`.
    const name = baseName(text).replace(/(?:_prime|_next|'|′)$/, "") || text;
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node = this.nodes.push(name) - 1;
    this.#nodes.set(name, node);
    return node;
  }
}
