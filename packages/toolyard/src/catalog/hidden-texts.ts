import { stringifyExact } from "../core/json/exact-json.ts";
import { HINT_META_KEY } from "../core/calls/hint.ts";
import { holdsHidden, holdsInvisible, mayHoldHidden, withoutHidden } from "../core/text/hidden-text.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { ProblemDetails } from "../core/sources/records.ts";

/**
 * Definition without hidden text (S12). Invisible and control characters are removed from prose. Names, choices,
 * defaults and other values that are sent back to the source are never changed: `hiddenIn` names the first value with
 * such characters, and the definition must not be offered.
 */
export interface VisibleDefinition {
  /** The given object if nothing was removed. */
  readonly definition: JsonObject;
  /** Readable path of the first value with hidden characters that cannot be removed. */
  readonly hiddenIn?: string;
}

/** Members that contain text for users and models. */
const PROSE: ReadonlySet<string> = new Set(["description", "title", "$comment"]);
/** Members that contain only data, whatever the names of their own members are. */
const DATA: ReadonlySet<string> = new Set(["default", "const", "enum", "examples"]);
/** Members of the definition itself that users and models do not read: data for programs, and icons. */
const UNREAD: ReadonlySet<string> = new Set(["_meta", "icons"]);

/**
 * Returns true if there may be text to remove or to refuse. For almost all definitions, one scan of the JSON text is
 * sufficient.
 */
export function mayHideText(definition: JsonObject): boolean {
  return mayHoldHidden(jsonOf(definition));
}

export function revealDefinition(definition: JsonObject): VisibleDefinition {
  if (!mayHideText(definition)) return { definition };
  const walk = new Walk(isResource(definition));
  const revealed = walk.object(definition, { path: undefined, isData: false });
  return walk.hiddenIn === undefined ? { definition: revealed } : { definition, hiddenIn: walk.hiddenIn };
}

/** Removes hidden text from one schema, which is the definition's `member`. */
export function revealSchema(
  member: string,
  schema: JsonObject,
): { readonly schema: JsonObject; readonly hiddenIn?: string } {
  if (!mayHideText(schema)) return { schema };
  const walk = new Walk(false);
  const revealed = walk.object(schema, { path: { key: member, above: undefined }, isData: false });
  return walk.hiddenIn === undefined ? { schema: revealed } : { schema, hiddenIn: walk.hiddenIn };
}

/** Problem text for a definition with cleaned prose. */
export const TEXTS_CLEANED =
  "Since clients and models read it, hidden and control characters were removed from its texts.";

/** Returns the problem of a definition that is not offered because of hidden characters. */
export function hiddenProblem(subject: string, place: string): ProblemDetails {
  const reason =
    `\`${place}\` contains invisible or control characters, or too many marks on one letter, and is sent back to the ` +
    "server unchanged. Remove them where the definition is written.";
  return withheldProblem(subject, reason);
}

/** Returns the problem of a record that is not offered, in whole sentences. */
export function withheldProblem(subject: string, reason: string): ProblemDetails {
  return { subject, message: `It is not offered: ${reason}`, withheld: reason };
}

/**
 * Returns the JSON text, or an empty text for a value that JSON cannot represent. Such a value is refused later, when
 * definitions are prepared.
 */
function jsonOf(definition: JsonObject): string {
  try {
    return stringifyExact(definition);
  } catch {
    return "";
  }
}

/** Returns true for a resource. It is read by its URI, so its name is only shown to users. */
function isResource(definition: JsonObject): boolean {
  return "uri" in definition || "uriTemplate" in definition;
}

interface Position {
  /** Path as a linked list that starts with the last step, because siblings share all other steps. */
  readonly path: TextPath | undefined;
  readonly isData: boolean;
}

interface TextPath {
  readonly key: string;
  readonly above: TextPath | undefined;
}

class Walk {
  hiddenIn: string | undefined;
  readonly #hasProseName: boolean;

  constructor(hasProseName: boolean) {
    this.#hasProseName = hasProseName;
  }

  object(object: JsonObject, { path, isData }: Position): JsonObject {
    let changed: JsonObject | undefined;
    for (const key of Object.keys(object)) {
      const value = object[key];
      const at: TextPath = { key, above: path };
      // A pattern may contain invisible characters in order to refuse them in property names.
      if (path?.key === "patternProperties" ? holdsInvisible(key) : holdsHidden(key)) this.#note(at);
      const revealed = this.#member(key, value, { path: at, isData: isData || DATA.has(key) });
      if (revealed !== value) (changed ??= { ...object })[key] = revealed;
    }
    return changed ?? object;
  }

  #member(key: string, value: unknown, position: Position): unknown {
    const isTop = position.path?.above === undefined;
    if (isTop && UNREAD.has(key)) return key === "_meta" ? withPlainHint(value) : value;
    const isProse = PROSE.has(key) || (isTop && key === "name" && this.#hasProseName);
    return typeof value === "string" && isProse && !position.isData
      ? withoutHidden(value)
      : this.#value(value, position);
  }

  #value(value: unknown, position: Position): unknown {
    const { path } = position;
    if (typeof value === "string" && (path?.key === "pattern" ? holdsInvisible(value) : holdsHidden(value)))
      this.#note(path);
    if (isJsonObject(value)) return this.object(value, position);
    if (!Array.isArray(value)) return value;
    const items = value.map((item: unknown, at) =>
      this.#value(item, { isData: position.isData, path: { key: String(at), above: path } }),
    );
    return items.some((item, at) => item !== value[at]) ? items : value;
  }

  #note(path: TextPath | undefined): void {
    if (this.hiddenIn !== undefined) return;
    const steps: string[] = [];
    for (let step = path; step; step = step.above) steps.unshift(withoutHidden(step.key));
    this.hiddenIn = steps.join(".");
  }
}

/** Returns `_meta` with the hint cleaned, because the hint is prose for a model. */
function withPlainHint(meta: unknown): unknown {
  const hint = isJsonObject(meta) ? meta[HINT_META_KEY] : undefined;
  if (!isJsonObject(meta) || typeof hint !== "string") return meta;
  const plain = withoutHidden(hint);
  return plain === hint ? meta : { ...meta, [HINT_META_KEY]: plain };
}
