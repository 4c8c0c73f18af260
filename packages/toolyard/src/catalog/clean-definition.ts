import { truncate } from "../core/text/truncate.ts";
import { endOfString } from "../core/json/json-depth.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/** Definition without secrets and within the limits (S12). Hidden characters were removed before. */
export interface CleanedDefinition {
  readonly definition: JsonObject;
  /** Short descriptions of the changes. Never empty. */
  readonly notes: readonly string[];
}

/**
 * Members that users and models read. All other members are data: they are not truncated, but secrets are removed from
 * them too.
 */
const TEXT_MEMBERS: ReadonlySet<string> = new Set(["description", "title"]);
/** Members that the hub needs for calls to the source, so they stay unchanged. */
const IDENTITY_MEMBERS: ReadonlySet<string> = new Set(["name", "uri", "uriTemplate"]);
/** Members that contain only data, whatever the names of their own members are. */
const DATA_MEMBERS: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "_meta"]);
const MAX_DEPTH = 64;

/**
 * Cleans the texts of a definition. Returns `undefined` if nothing must change; a check of the JSON text is sufficient
 * for almost all definitions. Other members keep their exact text.
 */
export function cleanDefinition(
  definition: JsonObject,
  json: string,
  rules: CleaningRules,
): CleanedDefinition | undefined {
  if (!holdsLongText(json, rules.maxChars) && rules.hide(json) === json) return undefined;
  const cleaner = new DefinitionCleaner(rules);
  const cleaned = cleaner.object(definition, 0);
  return cleaner.notes.size > 0 ? { definition: cleaned, notes: [...cleaner.notes] } : undefined;
}

/**
 * Returns true if JSON text contains a string that may exceed the limit. Walking a large value would take many times as
 * long.
 */
function holdsLongText(json: string, maxChars: number): boolean {
  if (json.length <= maxChars) return false;
  for (let start = json.indexOf('"'); start !== -1;) {
    const end = endOfString(json, start);
    if (end - start - 1 > maxChars) return true;
    start = json.indexOf('"', end + 1);
  }
  return false;
}

export interface CleaningRules {
  /** Maximum length of a description, in characters. */
  readonly maxChars: number;
  /** Removes the source's own secrets, which its server may repeat. */
  readonly hide: (text: string) => string;
}

/** Cleans one definition and records the changes. */
class DefinitionCleaner {
  readonly notes = new Set<string>();
  readonly #rules: CleaningRules;
  #isData = false;

  constructor(rules: CleaningRules) {
    this.#rules = rules;
  }

  object(object: JsonObject, depth: number): JsonObject {
    let changed: [string, unknown][] | undefined;
    for (const [at, key] of Object.keys(object).entries()) {
      const value = object[key];
      const clean = this.#clean({ key, isName: depth === 0 && isResource(object) }, value, depth);
      if (clean === value) continue;
      changed ??= Object.entries(object);
      changed[at] = [key, clean];
    }
    return changed ? Object.fromEntries(changed) : object;
  }

  /**
   * Cleans the member `key` of an object. `isName`: true if the object's `name` is only shown to users, not used for
   * calls.
   */
  #clean({ key, isName }: { readonly key: string; readonly isName: boolean }, value: unknown, depth: number): unknown {
    const isProseName = isName && key === "name";
    if (depth === 0 && IDENTITY_MEMBERS.has(key) && !isProseName) return value;
    if (typeof value === "string" && !this.#isData && (TEXT_MEMBERS.has(key) || isProseName)) return this.#text(value);
    return this.#inside(value, depth + 1, DATA_MEMBERS.has(key));
  }

  /** Cleans a value. With `isData`, the value contains only data, no text to truncate. */
  #inside(value: unknown, depth: number, isData: boolean): unknown {
    const before = this.#isData;
    this.#isData ||= isData;
    const clean = this.#member(value, depth);
    this.#isData = before;
    return clean;
  }

  #member(value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return value;
    if (typeof value === "string") return this.#visible(value);
    if (Array.isArray(value)) return this.#list(value, depth);
    return isJsonObject(value) ? this.object(value, depth) : value;
  }

  #list(list: readonly unknown[], depth: number): readonly unknown[] {
    const cleaned = list.map((item) => this.#member(item, depth + 1));
    return cleaned.some((item, at) => item !== list[at]) ? cleaned : list;
  }

  #visible(text: string): string {
    const visible = this.#rules.hide(text);
    if (visible !== text) this.notes.add("a secret of its configuration was removed from its definition");
    return visible;
  }

  #text(text: string): string {
    const { maxChars } = this.#rules;
    const visible = this.#visible(text);
    if (visible.length <= maxChars) return visible;
    this.notes.add(`its description was truncated to ${maxChars} characters`);
    return truncate(visible, maxChars);
  }
}

/** Returns true for a resource. It is read by its URI, so its name is only shown to users. */
function isResource(object: JsonObject): boolean {
  return "uri" in object || "uriTemplate" in object;
}
