import {
  MAX_NAME_LENGTH,
  NAME_RULES,
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

export interface NameBookOptions {
  /** Between namespace and name on the MCP surface. */
  readonly separator: string;
}

/**
 * Names of many records on all surfaces, and the way back. A name belongs to one record on every surface at once: what one surface
 * shows is understood on all of them and never means another record. Among records that want one name the earlier one gets it;
 * the others are shown with their namespace, and if that is taken too with a digest of their identity.
 */
export class NameBook<T extends Named> {
  readonly #records: readonly T[];
  readonly #separator: string;
  readonly #owners = new Map<string, T>();
  readonly #names: { [S in Surface]?: ReadonlyMap<T, string> } = {};
  #index: NamespaceIndex<T> | undefined;

  /** `records` come in order of precedence. */
  constructor(records: readonly T[], options: NameBookOptions) {
    this.#records = records;
    this.#separator = options.separator;
    const { separator } = options;
    this.#names.mcp = this.#assign("mcp", separator, (record) => renderMcpName(record, separator));
  }

  /** The record's name on a surface. The record must be one of the book's. */
  nameOf(record: T, surface: Surface = "mcp"): string {
    return this.#namesOn(surface).get(record)!;
  }

  /** Who wanted the same name on the MCP surface and has it. */
  shadowerOf(record: T): T | undefined {
    const owner = this.#owners.get(renderMcpName(record, this.#separator));
    return owner === record ? undefined : owner;
  }

  /**
   * The records that a spelling may mean: none, one, or several when it is ambiguous. A name as any surface shows it comes first, then
   * hidden names, then `namespace` + `::`, `__`, `.` or `/` + name by the longest known namespace, and bare names; last the same
   * after a client's own prefix (`mcp__`, `mcp__hub__`).
   */
  candidates(name: string): readonly T[] {
    if (name.length === 0 || name.length > MAX_NAME_LENGTH) return [];
    const direct = this.#read(name);
    return direct.length > 0 || !name.startsWith(CLIENT_PREFIX) ? direct : this.#readPrefixed(name);
  }

  #read(name: string): readonly T[] {
    const owner = this.#owners.get(name) ?? this.#ownerElsewhere(name);
    if (owner) return [owner];
    this.#index ??= new NamespaceIndex(this.#records, this.#separator);
    return this.#index.find(name);
  }

  // The other surfaces' names are made when somebody first needs them; most calls use the MCP name.
  #ownerElsewhere(name: string): T | undefined {
    this.#namesOn("model");
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

  #namesOn(surface: Surface): ReadonlyMap<T, string> {
    // Whatever is asked for first, the order of the surfaces is the same, and so are the names.
    this.#names.binding ??= surface === "mcp" ? undefined! : this.#assign("binding", "::", renderBindingName);
    if (surface === "model") this.#names.model ??= this.#assign("model", "__", (record) => renderModelName(record, this.nameOf(record)));
    return this.#names[surface]!;
  }

  #assign(surface: Surface, separator: string, render: (record: T) => string): ReadonlyMap<T, string> {
    const names = new Map<T, string>();
    const late: T[] = [];
    for (const record of this.#records) {
      if (!this.#take(render(record), record, names)) late.push(record);
    }
    for (const record of late) {
      if (this.#take(renderQualifiedName(record, separator, surface), record, names)) continue;
      this.#takeDigest(render(record), record, surface, names);
    }
    return names;
  }

  #take(name: string, record: T, names: Map<T, string>): boolean {
    const owner = this.#owners.get(name);
    if (owner !== undefined && owner !== record) return false;
    this.#owners.set(name, record);
    names.set(record, name);
    return true;
  }

  #takeDigest(name: string, record: T, surface: Surface, names: Map<T, string>): void {
    let identity = JSON.stringify([record.source.id, record.name]);
    while (!this.#take(withDigest(name, NAME_RULES[surface], identity), record, names)) identity += "+";
  }
}

const CLIENT_PREFIX = "mcp__";
/** A hub's name in a client may itself hold the separator; so many places are tried. */
const MAX_CLIENT_PREFIXES = 8;

type ByName<T> = Map<string, T[]>;

/** Reads `namespace + separator + name` and bare names. */
class NamespaceIndex<T extends Named> {
  readonly #namespaces = new Map<string, ByName<T>>();
  readonly #former = new Map<string, ByName<T>>();
  readonly #bare: ByName<T> = new Map();
  readonly #formerBare: ByName<T> = new Map();
  readonly #hidden: ByName<T> = new Map();
  readonly #separators: readonly string[];
  #longest = 0;

  constructor(records: readonly T[], separator: string) {
    const separators = new Set([...READ_SEPARATORS, separator]);
    this.#separators = [...separators].toSorted((a, b) => b.length - a.length);
    for (const record of records) this.#add(record);
  }

  find(name: string): readonly T[] {
    const hidden = this.#hidden.get(name);
    if (hidden) return hidden;
    const found = new Set([...this.#split(name, this.#namespaces), ...(this.#bare.get(name) ?? [])]);
    if (found.size > 0) return [...found];
    const former = new Set([...this.#split(name, this.#former), ...(this.#formerBare.get(name) ?? [])]);
    return [...former];
  }

  #add(record: T): void {
    const visible = visibleName(record);
    this.#addTo(this.#namespaces, this.#bare, record, visible);
    // What configuration renamed is still found under its old name, when nothing else is meant.
    if (record.alias !== undefined && record.alias !== record.name) this.#addTo(this.#former, this.#formerBare, record, record.name);
    for (const name of record.hiddenNames ?? []) push(this.#hidden, name, record);
  }

  #addTo(namespaces: Map<string, ByName<T>>, bare: ByName<T>, record: T, name: string): void {
    push(bare, name, record);
    const { id, namespace } = record.source;
    for (const prefix of new Set([id, namespace])) this.#addSplit(namespaces, record, prefix, name);
    if (!record.qualified) return;
    // `module.tool` carries its namespace: the cut may be at its first or at its last dot.
    for (const cut of new Set([name.indexOf("."), name.lastIndexOf(".")])) {
      if (cut <= 0 || cut === name.length - 1) continue;
      this.#addSplit(namespaces, record, name.slice(0, cut), name.slice(cut + 1));
      push(bare, name.slice(cut + 1), record);
    }
  }

  #addSplit(namespaces: Map<string, ByName<T>>, record: T, namespace: string, name: string): void {
    if (namespace === "") return;
    let names = namespaces.get(namespace);
    if (!names) namespaces.set(namespace, (names = new Map()));
    push(names, name, record);
    this.#longest = Math.max(this.#longest, namespace.length);
  }

  #split(name: string, namespaces: Map<string, ByName<T>>): readonly T[] {
    for (let at = Math.min(this.#longest, name.length - 1); at > 0; at -= 1) {
      const separators = this.#separators.filter((separator) => name.startsWith(separator, at));
      const names = separators.length > 0 ? namespaces.get(name.slice(0, at)) : undefined;
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
