import { HINT_META_KEY } from "../core/hint.ts";
import { holdsInvisible, mayHoldHidden, withoutHidden } from "../core/hidden-text.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/**
 * A definition in which nothing is hidden (S12). In texts that are read as prose, what nobody sees is removed. Names,
 * choices, defaults and whatever else goes back to its source as it came are never altered: `hiddenIn` says where they
 * hold something that nobody sees, and such a definition must not be offered.
 */
export interface Revealed {
  /** The same object where nothing was removed. */
  readonly definition: JsonObject;
  /** Path of the first such place, readable. */
  readonly hiddenIn?: string;
}

/** Members that people and models read as prose, when they are text. */
const PROSE: ReadonlySet<string> = new Set(["description", "title", "$comment"]);
/** Below these stands data, whatever its members are called. */
const DATA: ReadonlySet<string> = new Set(["default", "const", "enum", "examples"]);
/** Of a definition itself: for programs, and pictures. */
const UNREAD: ReadonlySet<string> = new Set(["_meta", "icons"]);

/** Whether there may be something to remove or to refuse; says no of almost all, at the price of one look. */
export function mayHideText(definition: JsonObject): boolean {
  return mayHoldHidden(jsonOf(definition));
}

export function revealDefinition(definition: JsonObject): Revealed {
  if (!mayHideText(definition)) return { definition };
  const walk = new Walk(isResource(definition));
  const revealed = walk.object(definition, { path: [], isData: false });
  return walk.hiddenIn === undefined ? { definition: revealed } : { definition, hiddenIn: walk.hiddenIn };
}

/** The same of one schema, which stands in a definition as `member`. */
export function revealSchema(
  member: string,
  schema: JsonObject,
): { readonly schema: JsonObject; readonly hiddenIn?: string } {
  if (!mayHideText(schema)) return { schema };
  const walk = new Walk(false);
  const revealed = walk.object(schema, { path: [member], isData: false });
  return walk.hiddenIn === undefined ? { schema: revealed } : { schema, hiddenIn: walk.hiddenIn };
}

/** What is told of a definition whose prose was cleaned. */
export const TEXTS_CLEANED =
  "Since clients and models read it, hidden and control characters were removed from its texts.";

/** Why a definition is not offered. */
export function hiddenProblem(place: string): string {
  return (
    `It is not offered: \`${place}\` holds characters that nobody sees, and may not be altered. ` +
    "Have them removed where it comes from."
  );
}

/** What cannot be written as JSON is refused where definitions are prepared, with its own words. */
function jsonOf(definition: JsonObject): string {
  try {
    return JSON.stringify(definition);
  } catch {
    return "";
  }
}

/** A resource is called by its URI, so that its name is for people alone. */
function isResource(definition: JsonObject): boolean {
  return "uri" in definition || "uriTemplate" in definition;
}

interface Position {
  readonly path: readonly string[];
  readonly isData: boolean;
}

class Walk {
  hiddenIn: string | undefined;
  readonly #hasProseName: boolean;

  constructor(hasProseName: boolean) {
    this.#hasProseName = hasProseName;
  }

  object(object: JsonObject, { path, isData }: Position): JsonObject {
    let changed: JsonObject | undefined;
    for (const [key, value] of Object.entries(object)) {
      const at = [...path, key];
      if (holdsInvisible(key)) this.#note(at);
      const revealed = this.#member(key, value, { path: at, isData: isData || DATA.has(key) });
      if (revealed !== value) (changed ??= { ...object })[key] = revealed;
    }
    return changed ?? object;
  }

  #member(key: string, value: unknown, position: Position): unknown {
    const isTop = position.path.length === 1;
    if (isTop && UNREAD.has(key)) return key === "_meta" ? withPlainHint(value) : value;
    const isProse = PROSE.has(key) || (isTop && key === "name" && this.#hasProseName);
    return typeof value === "string" && isProse && !position.isData
      ? withoutHidden(value)
      : this.#value(value, position);
  }

  #value(value: unknown, position: Position): unknown {
    if (typeof value === "string" && holdsInvisible(value)) this.#note(position.path);
    if (isJsonObject(value)) return this.object(value, position);
    if (!Array.isArray(value)) return value;
    const items = value.map((item: unknown, at) =>
      this.#value(item, { ...position, path: [...position.path, String(at)] }),
    );
    return items.some((item, at) => item !== value[at]) ? items : value;
  }

  #note(path: readonly string[]): void {
    this.hiddenIn ??= path.map((step) => withoutHidden(step)).join(".");
  }
}

/** A hint is a sentence for a model. */
function withPlainHint(meta: unknown): unknown {
  const hint = isJsonObject(meta) ? meta[HINT_META_KEY] : undefined;
  if (!isJsonObject(meta) || typeof hint !== "string") return meta;
  const plain = withoutHidden(hint);
  return plain === hint ? meta : { ...meta, [HINT_META_KEY]: plain };
}
