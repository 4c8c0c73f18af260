import { fitPrefix, fitSeparator, nameRules, READ_SEPARATORS, type McpNaming, type Surface } from "./names.ts";

/** Result of reading a spelling, independent of the current tools. */
export interface SpellingParts {
  /** Ids of the sources that own the spelling. The spelling never resolves to a tool of another source. */
  readonly owners: ReadonlySet<string>;
  /** Prefix as it is written in the spelling. */
  readonly prefix: string;
  /** Possible names after the prefix, one for each separator that may end the prefix. Empty for a shortened name. */
  readonly rests: readonly string[];
  /** Spelling without a client's prefix. */
  readonly name: string;
}

/** Parts of a source that determine names. */
export interface NamedSource {
  readonly id: string;
  readonly namespace: string;
}

export interface SpellingOptions {
  readonly naming: McpNaming;
  /** Prefixes inside the names of a source, such as those of modules, each with the source's id. */
  readonly carried?: readonly (readonly [prefix: string, id: string])[];
  /** Names without a prefix that are reserved for certain sources. */
  readonly reserved?: ReadonlySet<string>;
}

/**
 * Decides which source owns a spelling. The result depends only on the configuration and on the names of modules: a
 * server cannot change it by the tools that it lists, and it stays the same while a tool or a server is missing.
 *
 * 1. The longest namespace before a separator (`::`, `__`, `.`, `/`, or the configured one) owns the spelling.
 * 2. The id of a source counts as its namespace if no source has that namespace.
 * 3. Prefixes that only a surface creates (`my.server` is `my_server` for models) and prefixes of modules count if
 * neither of the first two rules applies.
 * 4. A spelling that begins with a client's prefix (`mcp__`, `mcp__hub__`) is read after that prefix.
 * 5. Every other spelling is a name without prefix, and belongs to no source.
 */
export class Spellings {
  readonly #configured: PrefixTable;
  readonly #derived: PrefixTable;
  /** Prefixes that end with the separator in its form for models, if that form differs. */
  readonly #forModels: PrefixTable;
  readonly #shortened = new Map<string, Set<string>>();
  readonly #reserved: ReadonlySet<string>;
  /**
   * Separators that end a part of a name without prefix. Excludes a configured separator of one character, because
   * names often contain that character.
   */
  readonly #partEnds: readonly string[];

  constructor(sources: Iterable<NamedSource>, { naming, carried = [], reserved = NO_NAMES }: SpellingOptions) {
    const separators = [...new Set([...READ_SEPARATORS, naming.separator])].toSorted((a, b) => b.length - a.length);
    this.#partEnds = separators.filter((one) => one.length > 1 || READ_SEPARATORS.includes(one));
    this.#configured = new PrefixTable(separators);
    this.#derived = new PrefixTable(separators);
    this.#forModels = new PrefixTable([fitSeparator("model", naming)]);
    this.#reserved = reserved;
    const all = [...sources];
    for (const { id, namespace } of all) this.#configured.add(namespace, id);
    const namespaces = new Set(all.map(({ namespace }) => namespace));
    for (const { id } of all) if (!namespaces.has(id)) this.#configured.add(id, id);
    for (const source of all) this.#addForms(source, naming);
    for (const [prefix, id] of carried) this.#derived.add(prefix, id);
  }

  /** Returns the parts of a spelling that belongs to a source, or `undefined` for a name without prefix. */
  read(spelling: string): SpellingParts | undefined {
    for (const start of startsOf(spelling)) {
      const name = start === 0 ? spelling : spelling.slice(start);
      if (this.#reserved.has(name)) return undefined;
      const found =
        this.#configured.find(name) ??
        this.#readShortened(name) ??
        this.#derived.find(name) ??
        this.#forModels.find(name);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * Returns the owners of a configured prefix that occurs inside a name, after another part: `good` in `hub__good__pay`
   * and in `tools.good.pay`. Such a name does not resolve to that source, and no other source may use it.
   */
  ownersInside(name: string): ReadonlySet<string> | undefined {
    for (let at = 0, tries = 0; at < name.length && tries < MAX_CLIENT_PREFIXES; at += 1) {
      const end = this.#partEnds.find((separator) => name.startsWith(separator, at));
      if (end === undefined) continue;
      const found = this.#configured.find(name.slice(at + end.length));
      if (found) return found.owners;
      at += end.length - 1;
      tries += 1;
    }
    return undefined;
  }

  /**
   * Returns the names that a spelling without prefix may mean: the spelling itself, and the rest after a client's
   * prefix. If one of them is reserved, returns only that name.
   */
  bareNames(spelling: string): readonly string[] {
    const names = startsOf(spelling).map((start) => spelling.slice(start));
    const reserved = names.find((name) => this.#reserved.has(name));
    return reserved === undefined ? names : [reserved];
  }

  /** Returns true if the source `id` has this prefix, and no other prefix of any source begins with it. */
  isUnrivalled(prefix: string, id: string): boolean {
    return this.#configured.isUnrivalled(prefix, id);
  }

  /**
   * Adds the forms that a source's prefixes have on each surface: unsupported characters are replaced, and a long
   * prefix is shortened like a long name.
   */
  #addForms({ id, namespace }: NamedSource, naming: McpNaming): void {
    for (const text of new Set([namespace, id])) {
      for (const surface of FITTED_SURFACES) {
        const rules = nameRules(surface, naming);
        const fitted = fitPrefix(text, surface, naming);
        const separator = fitSeparator(surface, naming);
        if (fitted !== text) this.#derived.add(fitted, id);
        if (separator !== naming.separator) this.#forModels.add(fitted, id);
        const start = `${fitted}${separator}`.slice(0, rules.maxLength - DIGEST_SUFFIX_CHARS);
        if (text !== "" && start.length < fitted.length + separator.length) this.#addShortened(`${start}_`, id);
      }
    }
  }

  #addShortened(start: string, id: string): void {
    const ids = this.#shortened.get(start);
    if (ids) ids.add(id);
    else this.#shortened.set(start, new Set([id]));
  }

  #readShortened(name: string): SpellingParts | undefined {
    if (this.#shortened.size === 0 || !DIGEST_SUFFIX.test(name)) return undefined;
    const prefix = name.slice(0, 1 - DIGEST_SUFFIX_CHARS);
    const owners = this.#shortened.get(prefix);
    return owners && { owners, prefix, rests: [], name };
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();
const FITTED_SURFACES: readonly Surface[] = ["mcp", "model"];
/** End of a shortened name: `_` and eight hexadecimal digits. */
const DIGEST_SUFFIX = /_[0-9a-f]{8}$/;
const DIGEST_SUFFIX_CHARS = 9;

/** Prefix that clients and models add to the names of a server's tools: `mcp__` or `mcp__<server>__`. */
export const CLIENT_PREFIX = "mcp__";
/** Separator at the end of each part of a client's prefix. */
const PART_END = "__";
/**
 * Maximum number of start positions that are tried. There can be several, because the hub's name in a client may
 * contain the separator.
 */
const MAX_CLIENT_PREFIXES = 8;

/**
 * Returns the positions at which the name in a spelling may start: 0, and the end of each part of a client's prefix.
 */
function startsOf(spelling: string): readonly number[] {
  if (!spelling.startsWith(CLIENT_PREFIX)) return AT_START;
  const starts = [0];
  let from = CLIENT_PREFIX.length;
  while (starts.length <= MAX_CLIENT_PREFIXES && from < spelling.length) {
    starts.push(from);
    const next = spelling.indexOf(PART_END, from);
    if (next === -1) break;
    from = next + PART_END.length;
  }
  return starts;
}

const AT_START: readonly number[] = [0];

/** Prefixes with their owners. Finds the longest prefix that a separator follows. */
class PrefixTable {
  readonly #owners = new Map<string, Set<string>>();
  readonly #separators: readonly string[];
  /** First characters of the separators. Positions with other characters are skipped. */
  readonly #starts: ReadonlySet<number>;
  /** Lengths of the prefixes, the longest first. */
  #lengths: readonly number[] = [];

  /** `separators` must be sorted by length, the longest first. */
  constructor(separators: readonly string[]) {
    this.#separators = separators;
    this.#starts = new Set(separators.map((separator) => separator.charCodeAt(0)));
  }

  add(prefix: string, id: string): void {
    if (prefix === "") return;
    const owners = this.#owners.get(prefix);
    if (owners) owners.add(id);
    else this.#owners.set(prefix, new Set([id]));
    if (!this.#lengths.includes(prefix.length))
      this.#lengths = [...this.#lengths, prefix.length].toSorted((a, b) => b - a);
  }

  find(name: string): SpellingParts | undefined {
    for (const length of this.#lengths) {
      if (!this.#starts.has(name.charCodeAt(length))) continue;
      const prefix = name.slice(0, length);
      const owners = this.#owners.get(prefix);
      if (!owners) continue;
      for (const separator of this.#separators)
        if (endsAt(name, separator, length)) return new PrefixedName({ owners, prefix, name }, this.#separators);
    }
    return undefined;
  }

  isUnrivalled(prefix: string, id: string): boolean {
    if (this.#owners.get(prefix)?.has(id) !== true) return false;
    for (const other of this.#owners.keys()) if (other.length > prefix.length && other.startsWith(prefix)) return false;
    return true;
  }
}

/**
 * Spelling that begins with a prefix. `rests` is computed when it is read, because most readers need only the owners.
 */
class PrefixedName implements SpellingParts {
  readonly owners: ReadonlySet<string>;
  readonly prefix: string;
  readonly name: string;
  readonly #separators: readonly string[];

  constructor({ owners, prefix, name }: Omit<SpellingParts, "rests">, separators: readonly string[]) {
    this.owners = owners;
    this.prefix = prefix;
    this.name = name;
    this.#separators = separators;
  }

  get rests(): readonly string[] {
    const { name, prefix } = this;
    return this.#separators
      .filter((separator) => endsAt(name, separator, prefix.length))
      .map((separator) => name.slice(prefix.length + separator.length));
  }
}

/** Returns true if the separator is at this position and is followed by text. */
function endsAt(name: string, separator: string, at: number): boolean {
  return name.length > at + separator.length && name.startsWith(separator, at);
}
