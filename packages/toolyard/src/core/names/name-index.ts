import { visibleName, type NameParts } from "./names.ts";
import type { SpellingParts } from "./spelling.ts";

type ByName<T> = Map<string, T[]>;

export interface NameIndexOptions<T> {
  readonly namedOf: (record: T) => NameParts;
  /** Returns true if a record may be found by a name without a prefix. */
  readonly answersTo: (record: T, name: string) => boolean;
}

/** Number of records per step. */
export const STEP_RECORDS = 64;

/** Index of records by prefix and name, by name without prefix, and by hidden name. */
export class NameIndex<T> {
  readonly #options: NameIndexOptions<T>;
  readonly #present = new NameTable<T>();
  readonly #former = new NameTable<T>();
  readonly #hidden: ByName<T> = new Map();

  private constructor(options: NameIndexOptions<T>) {
    this.#options = options;
  }

  /** Builds the index, one batch of records per step. */
  static *steps<T>(records: readonly T[], options: NameIndexOptions<T>): Generator<void, NameIndex<T>> {
    const index = new NameIndex<T>(options);
    for (let at = 0; at < records.length; at += 1) {
      const record = records[at]!;
      index.#add(record, options.namedOf(record));
      if (at % STEP_RECORDS === 0) yield;
    }
    return index;
  }

  /** Returns the records of a spelling's owners whose name follows the prefix. */
  within({ owners, prefix, rests, name }: SpellingParts): readonly T[] {
    const isOwn = (record: T): boolean => owners.has(this.#options.namedOf(record).source.id);
    const hidden = this.#hidden.get(name)?.filter(isOwn) ?? [];
    if (hidden.length > 0) return hidden;
    for (const table of [this.#present, this.#former]) {
      for (const rest of rests) {
        const found = table.within(prefix, rest).filter(isOwn);
        if (found.length > 0) return found;
      }
    }
    return [];
  }

  /**
   * Returns the records that a name without prefix may mean: those with this hidden name; if there are none, those that
   * are shown under this name; otherwise those that had this name before they were renamed.
   */
  bare(name: string): readonly T[] {
    const { answersTo } = this.#options;
    for (const records of [this.#hidden.get(name), this.#present.bare(name), this.#former.bare(name)]) {
      const found = records?.filter((record) => answersTo(record, name)) ?? [];
      if (found.length > 0) return found;
    }
    return [];
  }

  #add(record: T, named: NameParts): void {
    const visible = visibleName(named);
    this.#present.add(record, { ...named, name: visible });
    // A renamed tool is still found by its previous name if no other tool has that name.
    if (visible !== named.name) this.#former.add(record, named);
    for (const name of named.hiddenNames ?? []) push(this.#hidden, name, record);
  }
}

class NameTable<T> {
  readonly #prefixes = new Map<string, ByName<T>>();
  readonly #bare: ByName<T> = new Map();

  add(record: T, { source, name, qualified }: NameParts): void {
    push(this.#bare, name, record);
    for (const prefix of new Set([source.id, source.namespace])) this.#addTo(prefix, name, record);
    if (!qualified) return;
    for (const dot of prefixEnds(name)) {
      const rest = name.slice(dot + 1);
      this.#addTo(name.slice(0, dot), rest, record);
      push(this.#bare, rest, record);
    }
  }

  within(prefix: string, name: string): readonly T[] {
    return this.#prefixes.get(prefix)?.get(name) ?? [];
  }

  bare(name: string): readonly T[] | undefined {
    return this.#bare.get(name);
  }

  #addTo(prefix: string, name: string, record: T): void {
    if (prefix === "") return;
    let names = this.#prefixes.get(prefix);
    if (!names) this.#prefixes.set(prefix, (names = new Map()));
    push(names, name, record);
  }
}

/** Returns the prefixes that are part of records' own names, each with the id of the source. */
export function carriedBy(records: Iterable<NameParts>): readonly (readonly [prefix: string, id: string])[] {
  const owners = new Map<string, Set<string>>();
  for (const record of records) {
    if (record.qualified !== true) continue;
    const name = visibleName(record);
    for (const dot of prefixEnds(name)) {
      const prefix = name.slice(0, dot);
      const ids = owners.get(prefix);
      if (ids) ids.add(record.source.id);
      else owners.set(prefix, new Set([record.source.id]));
    }
  }
  return Array.from(owners).flatMap(([prefix, ids]) => Array.from(ids, (id) => [prefix, id] as const));
}

/** Returns the possible ends of the prefix in a name such as `module.tool`: its first and its last dot. */
function prefixEnds(name: string): readonly number[] {
  const first = name.indexOf(".");
  const last = name.lastIndexOf(".");
  const dots = first === last ? [first] : [first, last];
  return dots.filter((dot) => dot > 0 && dot < name.length - 1);
}

function push<T>(map: ByName<T>, key: string, record: T): void {
  const list = map.get(key);
  if (!list) map.set(key, [record]);
  else if (!list.includes(record)) list.push(record);
}
