import {
  identityOf,
  MAX_NAME_LENGTH,
  nameRules,
  type McpNaming,
  READ_SEPARATORS,
  renderBindingName,
  renderMcpName,
  renderModelName,
  renderQualifiedName,
  visibleName,
  withDigest,
  type Named,
  type Surface,
} from "./names.ts";

export interface NameBookOptions<T> {
  /** Between namespace and name on the MCP surface. */
  readonly naming: McpNaming;
  /** What a record's names are made of. */
  readonly namedOf: (record: T) => Named;
  /** What `renderMcpName` gives for a record, where somebody has it already. */
  readonly mcpNameOf?: (record: T) => string;
}

/**
 * Names of many records on all surfaces, and the way back. A name belongs to one record on every surface at once: what
 * one surface shows is understood on all of them and never means another record. Among records that want one name the
 * earlier one gets it; the others are shown with their namespace, and if that is taken too with a digest of their
 * identity.
 */
export class NameBook<T> {
  readonly records: readonly T[];
  readonly #naming: McpNaming;
  readonly #namedOf: (record: T) => Named;
  readonly #mcpNameOf: (record: T) => string;
  readonly #owners = new Map<string, T>();
  /** For each surface looked at so far, the records that are not shown under the name they want. */
  readonly #renamed = new Map<Surface, ReadonlyMap<T, string>>();
  #index: NamespaceIndex<T> | undefined;

  /** `records` come in order of precedence. */
  constructor(records: readonly T[], { naming, namedOf, mcpNameOf }: NameBookOptions<T>) {
    this.records = records;
    this.#naming = naming;
    this.#namedOf = namedOf;
    this.#mcpNameOf = mcpNameOf ?? ((record) => renderMcpName(namedOf(record), naming));
    this.#settle("mcp");
  }

  /** The record's name on a surface. The record must be one of the book's. */
  nameOf(record: T, surface: Surface = "mcp"): string {
    this.#settle(surface);
    return this.#renamed.get(surface)!.get(record) ?? this.#wantedName(record, surface);
  }

  /** The records that are shown on the MCP surface under another name than they want, with that name. */
  get renamed(): ReadonlyMap<T, string> {
    return this.#renamed.get("mcp")!;
  }

  /** Who wanted the same name on the MCP surface and has it. */
  shadowerOf(record: T): T | undefined {
    const owner = this.#owners.get(this.#mcpNameOf(record));
    return owner === record ? undefined : owner;
  }

  /**
   * The records that a spelling may mean: none, one, or several when it is ambiguous. A name as any surface shows it
   * comes first, then hidden names, then `namespace` + `::`, `__`, `.` or `/` + name by the longest known namespace,
   * and bare names; last the same after a client's own prefix (`mcp__`, `mcp__hub__`).
   */
  candidates(name: string): readonly T[] {
    if (name.length === 0 || name.length > MAX_NAME_LENGTH) return [];
    const direct = this.#read(name);
    return direct.length > 0 || !name.startsWith(CLIENT_PREFIX) ? direct : this.#readPrefixed(name);
  }

  /** Makes what `candidates` needs, bit by bit; without it, the first name that is asked for makes it in one go. */
  *steps(): Generator<void, void> {
    for (const surface of SURFACE_ORDER)
      if (!this.#renamed.has(surface)) this.#renamed.set(surface, yield* this.#assignment(surface));
    this.#index ??= yield* NamespaceIndex.steps(this.records, this.#namedOf, this.#naming.separator);
  }

  #read(name: string): readonly T[] {
    const owner = this.#owners.get(name) ?? this.#ownerElsewhere(name);
    if (owner) return [owner];
    this.#index ??= atOnce(NamespaceIndex.steps(this.records, this.#namedOf, this.#naming.separator));
    return this.#index.find(name);
  }

  // The other surfaces' names are made when somebody first needs them; most calls use the MCP name.
  #ownerElsewhere(name: string): T | undefined {
    this.#settle("model");
    return this.#owners.get(name);
  }

  #readPrefixed(name: string): readonly T[] {
    let from = CLIENT_PREFIX.length;
    for (let tries = 0; tries < MAX_CLIENT_PREFIXES; tries += 1) {
      const found = from < name.length ? this.#read(name.slice(from)) : [];
      if (found.length > 0) return found;
      const next = name.indexOf("__", from);
      if (next === -1) return [];
      from = next + 2;
    }
    return [];
  }

  #wantedName(record: T, surface: Surface): string {
    if (surface === "mcp") return this.#mcpNameOf(record);
    return surface === "binding"
      ? renderBindingName(this.#namedOf(record))
      : renderModelName(this.#namedOf(record), this.nameOf(record));
  }

  /**
   * Gives out the names of a surface and of those before it: whatever is asked for first, the order is the same, and so
   * are the names.
   */
  #settle(upTo: Surface): void {
    for (const surface of SURFACE_ORDER) {
      if (!this.#renamed.has(surface)) this.#renamed.set(surface, atOnce(this.#assignment(surface)));
      if (surface === upTo) return;
    }
  }

  /** Who took a name keeps it, so a second one that begins before the first is over comes to the same. */
  *#assignment(surface: Surface): Generator<void, ReadonlyMap<T, string>> {
    const late: T[] = [];
    for (let at = 0; at < this.records.length; at += 1) {
      const record = this.records[at]!;
      if (!this.#take(this.#wantedName(record, surface), record)) late.push(record);
      if (at % STEP_RECORDS === 0) yield;
    }
    return new Map(late.map((record) => [record, this.#otherName(record, surface)]));
  }

  #otherName(record: T, surface: Surface): string {
    const named = this.#namedOf(record);
    const qualified = renderQualifiedName(named, this.#naming, surface);
    if (this.#take(qualified, record)) return qualified;
    const wanted = this.#wantedName(record, surface);
    let identity = identityOf(named);
    for (;;) {
      const name = withDigest(wanted, nameRules(surface, this.#naming), identity);
      if (this.#take(name, record)) return name;
      identity += "+";
    }
  }

  #take(name: string, record: T): boolean {
    const owner = this.#owners.get(name);
    if (owner === undefined) this.#owners.set(name, record);
    return owner === undefined || owner === record;
  }
}

const SURFACE_ORDER: readonly Surface[] = ["mcp", "binding", "model"];
/** Records of one step. */
const STEP_RECORDS = 64;
const CLIENT_PREFIX = "mcp__";
/** A hub's name in a client may itself hold the separator; so many places are tried. */
const MAX_CLIENT_PREFIXES = 8;

function atOnce<V>(steps: Generator<void, V>): V {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

type ByName<T> = Map<string, T[]>;

/** Reads `namespace + separator + name` and bare names. */
class NamespaceIndex<T> {
  readonly #present: NameTable<T>;
  readonly #former: NameTable<T>;
  readonly #hidden: ByName<T> = new Map();

  private constructor(separator: string) {
    const separators = [...new Set([...READ_SEPARATORS, separator])].toSorted((a, b) => b.length - a.length);
    this.#present = new NameTable(separators);
    this.#former = new NameTable(separators);
  }

  static *steps<T>(
    records: readonly T[],
    namedOf: (record: T) => Named,
    separator: string,
  ): Generator<void, NamespaceIndex<T>> {
    const index = new NamespaceIndex<T>(separator);
    for (let at = 0; at < records.length; at += 1) {
      const record = records[at]!;
      index.#add(record, namedOf(record));
      if (at % STEP_RECORDS === 0) yield;
    }
    return index;
  }

  find(name: string): readonly T[] {
    const hidden = this.#hidden.get(name);
    if (hidden) return hidden;
    const found = this.#present.find(name);
    return found.length > 0 ? found : this.#former.find(name);
  }

  #add(record: T, named: Named): void {
    const visible = visibleName(named);
    this.#present.add(record, { ...named, name: visible });
    // What configuration renamed is still found under its old name, when nothing else is meant.
    if (visible !== named.name) this.#former.add(record, named);
    for (const name of named.hiddenNames ?? []) push(this.#hidden, name, record);
  }
}

class NameTable<T> {
  readonly #namespaces = new Map<string, ByName<T>>();
  readonly #bare: ByName<T> = new Map();
  /** Longest first. */
  readonly #separators: readonly string[];
  #longest = 0;

  constructor(separators: readonly string[]) {
    this.#separators = separators;
  }

  add(record: T, { source, name, qualified }: Named): void {
    push(this.#bare, name, record);
    for (const namespace of new Set([source.id, source.namespace])) this.#addTo(namespace, name, record);
    if (!qualified) return;
    // `module.tool` carries its namespace: the cut may be at its first or at its last dot.
    for (const cut of new Set([name.indexOf("."), name.lastIndexOf(".")])) {
      if (cut <= 0 || cut === name.length - 1) continue;
      this.#addTo(name.slice(0, cut), name.slice(cut + 1), record);
      push(this.#bare, name.slice(cut + 1), record);
    }
  }

  find(name: string): readonly T[] {
    return [...new Set([...this.#split(name), ...(this.#bare.get(name) ?? [])])];
  }

  #addTo(namespace: string, name: string, record: T): void {
    if (namespace === "") return;
    let names = this.#namespaces.get(namespace);
    if (!names) this.#namespaces.set(namespace, (names = new Map()));
    push(names, name, record);
    this.#longest = Math.max(this.#longest, namespace.length);
  }

  #split(name: string): readonly T[] {
    for (let at = Math.min(this.#longest, name.length - 1); at > 0; at -= 1) {
      const separators = this.#separators.filter((separator) => name.startsWith(separator, at));
      const names = separators.length > 0 ? this.#namespaces.get(name.slice(0, at)) : undefined;
      if (!names) continue;
      for (const separator of separators) {
        const found = names.get(name.slice(at + separator.length));
        if (found) return found;
      }
    }
    return [];
  }
}

function push<T>(map: ByName<T>, key: string, record: T): void {
  const list = map.get(key);
  if (!list) map.set(key, [record]);
  else if (!list.includes(record)) list.push(record);
}
