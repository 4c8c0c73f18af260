import { carriedBy, NameIndex, STEP_RECORDS } from "./name-index.ts";
import {
  digestName,
  fitPrefix,
  fitSeparator,
  identityOf,
  isUnprefixed,
  MAX_NAME_LENGTH,
  nameRules,
  type McpNaming,
  renderBindingName,
  renderMcpName,
  renderModelName,
  renderQualifiedName,
  visibleName,
  withDigest,
  withDigestInside,
  type NameParts,
  type Surface,
} from "./names.ts";
import { CLIENT_PREFIX, Spellings, type SpellingParts } from "./spelling.ts";

/** Rules for the names of records. */
export interface NamePolicy<T> {
  readonly spellings: Spellings;
  /**
   * Returns true if a record may have this exact name, considering names that are reserved for other records. A record
   * with a configured name (`alias`) may have every other name. A name that only the record's server lists must not
   * look like a name of another source.
   */
  readonly mayHave: (record: T, name: string) => boolean;
}

export interface NameBookOptions<T> {
  /** Form of MCP names. */
  readonly naming: McpNaming;
  /** Returns the parts from which the names of a record are built. */
  readonly namedOf: (record: T) => NameParts;
  /** Result of `renderMcpName` for a record, if the caller already has it. */
  readonly mcpNameOf?: (record: T) => string;
  /** Absent: the owner of the hub chose all names, so each record may have every name. */
  readonly policy?: NamePolicy<T>;
}

/** Reason why a record is not shown under the name that it would have without conflicts. */
export type RenameReason<T> =
  | { readonly type: "shadowed"; readonly owner: T }
  | { readonly type: "belongs"; readonly owners: ReadonlySet<string> }
  | { readonly type: "reserved" };

/**
 * Names of many records on all surfaces, and the lookup from names to records. A name belongs to one record: every
 * surface understands a name that any surface shows, with the same meaning. If several records would have the same
 * name, the first record gets it. The others are shown with their namespace, and if that name is taken too, with a
 * digest of their identity. A name that reads as a name of another source is not shown, and resolves only to that
 * source.
 */
export class NameBook<T> {
  readonly records: readonly T[];
  readonly #naming: McpNaming;
  readonly #namedOf: (record: T) => NameParts;
  readonly #mcpNameOf: (record: T) => string;
  readonly #policy: NamePolicy<T> | undefined;
  readonly #spellings: Spellings;
  readonly #owners = new Map<string, T>();
  /** For each surface used so far: the records whose name differs from the name without conflicts. */
  readonly #renamed = new Map<Surface, ReadonlyMap<T, string>>();
  /** Results of `Spellings.isUnrivalled`, by `<prefix>\0<id>`. */
  readonly #unrivalled = new Map<string, boolean>();
  #index: NameIndex<T> | undefined;

  /** `records` are in order of precedence. */
  constructor(records: readonly T[], { naming, namedOf, mcpNameOf, policy }: NameBookOptions<T>) {
    this.records = records;
    this.#naming = naming;
    this.#namedOf = namedOf;
    this.#mcpNameOf = mcpNameOf ?? ((record) => renderMcpName(namedOf(record), naming));
    this.#policy = policy;
    this.#spellings = policy?.spellings ?? spellingsOf(records.map(namedOf), naming);
    this.#settle("mcp");
  }

  /** Returns the name of a record on a surface. The record must be in the book. */
  nameOf(record: T, surface: Surface = "mcp"): string {
    this.#settle(surface);
    return this.#renamed.get(surface)!.get(record) ?? this.#wantedName(record, surface);
  }

  /** Records whose MCP name differs from the name without conflicts, with their MCP name. */
  get renamed(): ReadonlyMap<T, string> {
    return this.#renamed.get("mcp")!;
  }

  /** Returns the reason why a record in `renamed` does not have its name without conflicts. */
  renameReason(record: T): RenameReason<T> {
    const wanted = this.#mcpNameOf(record);
    if (this.#policy?.mayHave(record, wanted) === false) return { type: "reserved" };
    const reading = this.#spellings.read(wanted);
    if (reading?.owners.has(this.#namedOf(record).source.id) === false)
      return { type: "belongs", owners: reading.owners };
    const owner = this.#owners.get(wanted);
    return owner !== undefined && owner !== record ? { type: "shadowed", owner } : { type: "reserved" };
  }

  /**
   * Returns the records that a spelling may mean: none, one, or several if it is ambiguous. A name that any surface
   * shows comes first. A spelling that belongs to a source according to `Spellings` means a record of that source or
   * none. All other spellings are names without prefix, with or without a client's prefix (`mcp__`, `mcp__hub__`).
   */
  candidates(name: string): readonly T[] {
    if (name.length === 0 || name.length > MAX_NAME_LENGTH) return [];
    const shown = this.#shownAs(name);
    if (shown) return [shown];
    const reading = this.#spellings.read(name);
    const index = this.#indexed();
    if (!reading) return this.#bare(name, index);
    const found = this.#within(reading, index);
    return this.#policy ? found : [...new Set([...found, ...this.#bare(name, index)])];
  }

  /**
   * Prepares in steps the tables that `candidates` needs. Without this, the first call of `candidates` prepares them
   * synchronously.
   */
  *steps(): Generator<void, void> {
    for (const surface of SURFACE_ORDER)
      if (!this.#renamed.has(surface)) this.#renamed.set(surface, yield* this.#assignment(surface));
    this.#index ??= yield* this.#indexSteps();
  }

  #within(reading: SpellingParts, index: NameIndex<T>): readonly T[] {
    const { name, owners } = reading;
    const shown = this.#shownAs(name);
    if (shown !== undefined && owners.has(this.#namedOf(shown).source.id)) return [shown];
    return index.within(reading).filter((record) => this.#policy?.mayHave(record, name) !== false);
  }

  #bare(name: string, index: NameIndex<T>): readonly T[] {
    const names = this.#spellings.bareNames(name);
    const shown = names.flatMap((one) => this.#shownAs(one) ?? []);
    return [...new Set(shown.length > 0 ? shown : names.flatMap((one) => index.bare(one)))];
  }

  // The names on the other surfaces are computed here only if no MCP name matches, because most calls use the MCP name.
  #shownAs(name: string): T | undefined {
    const owner = this.#owners.get(name);
    if (owner !== undefined) return owner;
    this.#settle("model");
    return this.#owners.get(name);
  }

  #indexed(): NameIndex<T> {
    return (this.#index ??= atOnce(this.#indexSteps()));
  }

  #indexSteps(): Generator<void, NameIndex<T>> {
    return NameIndex.steps(this.records, {
      namedOf: this.#namedOf,
      answersTo: (record, name) => this.#answersTo(record, name),
    });
  }

  #answersTo(record: T, name: string): boolean {
    const policy = this.#policy;
    if (!policy) return true;
    const named = this.#namedOf(record);
    const isConfigured = named.alias === name;
    if (name.startsWith(CLIENT_PREFIX) && !isConfigured) return false;
    if (this.#spellings.read(name) !== undefined || !policy.mayHave(record, name)) return false;
    return isConfigured || !this.#isForeignInside(named, name);
  }

  #isForeignInside({ source }: NameParts, name: string): boolean {
    return this.#spellings.ownersInside(name)?.has(source.id) === false;
  }

  #wantedName(record: T, surface: Surface): string {
    if (surface === "mcp") return this.#mcpNameOf(record);
    return surface === "binding"
      ? renderBindingName(this.#namedOf(record))
      : renderModelName(this.#namedOf(record), this.nameOf(record));
  }

  /**
   * Assigns the names of a surface and of the surfaces before it in `SURFACE_ORDER`, so that the names do not depend on
   * which surface is used first.
   */
  #settle(upTo: Surface): void {
    for (const surface of SURFACE_ORDER) {
      if (!this.#renamed.has(surface)) this.#renamed.set(surface, atOnce(this.#assignment(surface)));
      if (surface === upTo) return;
    }
  }

  /**
   * Assigns the names of one surface. A record that has a name keeps it, so a second run that starts before the first
   * one ends gives the same names.
   */
  *#assignment(surface: Surface): Generator<void, ReadonlyMap<T, string>> {
    const late: T[] = [];
    // The owner of the hub configured these names, even if they look like names of another source. They have precedence
    // over names that this other source lists.
    for (const record of this.#configuredForeign(surface)) this.#take(this.#wantedName(record, surface), record);
    for (let at = 0; at < this.records.length; at += 1) {
      const record = this.records[at]!;
      const wanted = this.#wantedName(record, surface);
      if (!this.#mayShow(record, wanted, this.#prefixOf(record, surface)) || !this.#take(wanted, record))
        late.push(record);
      if (at % STEP_RECORDS === 0) yield;
    }
    return new Map(late.map((record) => [record, this.#otherName(record, surface)]));
  }

  #configuredForeign(surface: Surface): readonly T[] {
    if (!this.#policy) return [];
    return this.records.filter((record) => {
      const named = this.#namedOf(record);
      if (named.alias === undefined || !isUnprefixed(named)) return false;
      const wanted = this.#wantedName(record, surface);
      return this.#policy!.mayHave(record, wanted) && this.#spellings.read(wanted) !== undefined;
    });
  }

  #otherName(record: T, surface: Surface): string {
    const named = this.#namedOf(record);
    const rules = nameRules(surface, this.#naming);
    const wanted = this.#wantedName(record, surface);
    const qualified = renderQualifiedName(named, this.#naming, surface);
    const prefix = this.#qualifiedPrefix(named, surface);
    if (this.#mayShow(record, qualified, prefix) && this.#take(qualified, record)) return qualified;
    const separator = fitSeparator(surface, this.#naming);
    const own = this.#prefixOf(record, surface);
    let identity = identityOf(named);
    for (;;) {
      const forms = [
        [withDigest(wanted, rules, identity), own],
        [withDigestInside([`${prefix}${separator}`, visibleName(named)], rules, identity), prefix],
        [digestName(identity), ""],
      ] as const;
      for (const [name, used] of forms) if (this.#mayShow(record, name, used) && this.#take(name, record)) return name;
      identity += "+";
    }
  }

  /** Returns the prefix that the hub adds to a record's name, without the separator; empty if there is none. */
  #prefixOf(record: T, surface: Surface): string {
    const named = this.#namedOf(record);
    return isUnprefixed(named) ? "" : fitPrefix(named.source.namespace, surface, this.#naming);
  }

  #qualifiedPrefix({ source: { id, namespace }, qualified = false }: NameParts, surface: Surface): string {
    return fitPrefix(namespace !== "" && qualified ? namespace : id, surface, this.#naming);
  }

  /**
   * Returns true if a record may be shown under this name: the policy permits the name, and it reads as a name of the
   * record's own source. `prefix`: prefix that the hub adds to the name.
   */
  #mayShow(record: T, name: string, prefix: string): boolean {
    const policy = this.#policy;
    if (!policy) return true;
    if (!policy.mayHave(record, name)) return false;
    const named = this.#namedOf(record);
    const { source, alias } = named;
    if (prefix !== "" && this.#isUnrivalled(prefix, source.id)) return true;
    const reading = this.#spellings.read(name);
    if (prefix !== "") return reading !== undefined && isOwn(reading, { name, prefix, id: source.id });
    if (alias !== undefined && name === alias) return true;
    if (!reading) return !name.startsWith(CLIENT_PREFIX) && !this.#isForeignInside(named, name);
    return reading.owners.has(source.id) && reading.name === name;
  }

  #isUnrivalled(prefix: string, id: string): boolean {
    const key = `${prefix}\0${id}`;
    let known = this.#unrivalled.get(key);
    if (known === undefined) this.#unrivalled.set(key, (known = this.#spellings.isUnrivalled(prefix, id)));
    return known;
  }

  #take(name: string, record: T): boolean {
    const owner = this.#owners.get(name);
    if (owner === undefined) this.#owners.set(name, record);
    return owner === undefined || owner === record;
  }
}

/**
 * Returns true if the name was read as one of the source `id` with exactly this prefix. A shortened name has a
 * shortened prefix.
 */
function isOwn(
  { owners, prefix: read, rests, name: from }: SpellingParts,
  { name, prefix, id }: { readonly name: string; readonly prefix: string; readonly id: string },
): boolean {
  return owners.has(id) && from === name && (read === prefix || rests.length === 0);
}

function spellingsOf(records: readonly NameParts[], naming: McpNaming): Spellings {
  const sources = new Map(records.map(({ source: { id, namespace } }) => [`${id}\0${namespace}`, { id, namespace }]));
  return new Spellings(sources.values(), { naming, carried: carriedBy(records) });
}

const SURFACE_ORDER: readonly Surface[] = ["mcp", "binding", "model"];

function atOnce<V>(steps: Generator<void, V>): V {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
