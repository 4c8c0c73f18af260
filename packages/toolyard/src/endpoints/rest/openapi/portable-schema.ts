import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { IDENTITY, isUsable, ONE_SCHEMA, SCHEMA_LIST, SCHEMA_MAP } from "./keywords.ts";
import { modernise } from "./modern-schema.ts";
import { plainPointer, stepsOf, stepTo } from "./pointer.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/**
 * Converts a tool's schema of any draft into a part of another document at `place` (`#/components/schemas/…`). The
 * result is draft 2020-12, and every reference is a pointer from the root of that document. References that lead out of
 * the tool's schema, and values that are not schemas, are removed.
 */
export function portableSchema(schema: unknown, place: string): unknown {
  return isJsonObject(schema) ? new Porter(schema, place).port() : schema !== false;
}

interface SchemaLocation {
  /** Pointer in the tool's schema. */
  readonly from: string;
  /** Pointer in the resulting document. */
  readonly to: string;
  /** Nearest enclosing schema with a separate identity. */
  readonly resource: SchemaResource;
  readonly depth: number;
}

/** Schema that contains a member. */
interface Within {
  readonly spot: SchemaLocation;
  /** Returns the original location of the schema that is now at `steps` below this schema. */
  readonly from: (steps: readonly string[]) => string;
}

interface SchemaResource {
  readonly from: string;
  readonly uri: string;
}

interface SchemaReference {
  readonly out: JsonObject;
  readonly text: string;
  readonly resource: SchemaResource;
}

/** Maximum depth; a deeper schema is truncated. */
const MAX_DEPTH = 100;
/** Maximum number of schemas that are copied from places where no schema is expected. */
const MAX_HOISTED = 100;
const NOWHERE = "tool:/schema";

class Porter {
  readonly #root: JsonObject;
  readonly #place: string;
  readonly #isOld: boolean;
  /** New places of schemas: pointer in the tool's schema → pointer in the document. */
  readonly #moved = new Map<string, string>();
  /** URIs of schemas and of their anchors → pointer in the tool's schema. */
  readonly #named = new Map<string, string>();
  readonly #references: SchemaReference[] = [];
  readonly #hoisted: [string, unknown][] = [];

  constructor(root: JsonObject, place: string) {
    this.#root = root;
    this.#place = place;
    this.#isOld = /\/draft-0[3467]\//.test(String(root["$schema"]));
  }

  port(): JsonObject {
    const resource: SchemaResource = { from: "#", uri: NOWHERE };
    const out = this.#schema(this.#root, { from: "#", to: this.#place, resource, depth: 0 }) as JsonObject;
    // The list can grow during the loop, because resolving a reference may add schemas with further references.
    for (let at = 0; at < this.#references.length; at += 1) this.#resolve(this.#references[at]!);
    if (this.#hoisted.length > 0)
      out["$defs"] = Object.fromEntries([
        ...Object.entries(isJsonObject(out["$defs"]) ? out["$defs"] : {}),
        ...this.#hoisted,
      ]);
    return out;
  }

  #schema(value: unknown, spot: SchemaLocation): unknown {
    this.#moved.set(spot.from, spot.to);
    if (!isJsonObject(value)) return value !== false;
    if (spot.depth > MAX_DEPTH) return true;
    const resource = this.#identify(value, spot);
    const { schema, moved } = modernise(value, this.#isOld);
    const inner = { ...spot, resource, depth: spot.depth + 1 };
    const from = (steps: readonly string[]): string => this.#origin(moved, steps, spot.from);
    const members = Object.entries(schema).flatMap(([keyword, member]) =>
      this.#member(keyword, member, { spot: inner, from }),
    );
    const out: JsonObject = Object.fromEntries(withHiddenNames(members));
    const reference = [schema["$ref"], schema["$dynamicRef"], schema["$recursiveRef"]].find(
      (one) => typeof one === "string",
    );
    if (typeof reference === "string") this.#references.push({ out, text: reference, resource });
    return out;
  }

  /** Returns the original location, in the tool's schema, of the schema that was moved to `steps`. */
  #origin(moved: ReturnType<typeof modernise>["moved"], steps: readonly string[], base: string): string {
    const found = moved.find(([, to]) => to.length <= steps.length && to.every((step, at) => step === steps[at]));
    return found ? stepTo(base, ...found[0], ...steps.slice(found[1].length)) : stepTo(base, ...steps);
  }

  #member(keyword: string, value: unknown, within: Within): [string, unknown][] {
    const { spot, from } = within;
    if (IDENTITY.has(keyword)) return [];
    const at = (...steps: readonly string[]): SchemaLocation => ({
      ...spot,
      from: from(steps),
      to: stepTo(spot.to, ...steps),
    });
    if (ONE_SCHEMA.has(keyword)) return isSchema(value) ? [[keyword, this.#schema(value, at(keyword))]] : [];
    if (SCHEMA_LIST.has(keyword)) {
      if (!Array.isArray(value) || value.length === 0) return [];
      return [[keyword, value.map((one, index) => this.#schema(one, at(keyword, String(index))))]];
    }
    if (!SCHEMA_MAP.has(keyword)) return isUsable(keyword, value) ? [[keyword, value]] : [];
    if (!isJsonObject(value)) return [];
    return [[keyword, this.#map(keyword, value, within)]];
  }

  #map(keyword: string, map: JsonObject, { spot, from }: Within): JsonObject {
    const taken = new Set<string>();
    const entries = Object.entries(map).map(([name, one]): [string, unknown] => {
      // Definitions may be renamed, because their names are used only in references, which are updated.
      const shown = keyword === "$defs" ? freeName(safeName(name), taken) : name;
      taken.add(shown);
      const steps =
        keyword === "properties" && IDENTITY.has(name) ? ["patternProperties", exactly(name)] : [keyword, shown];
      return [shown, this.#schema(one, { ...spot, from: from([keyword, name]), to: stepTo(spot.to, ...steps) })];
    });
    return Object.fromEntries(entries);
  }

  #identify(schema: JsonObject, spot: SchemaLocation): SchemaResource {
    const { $id = schema["id"], $anchor, $dynamicAnchor } = schema;
    let { resource } = spot;
    if (typeof $id === "string" && !$id.startsWith("#")) {
      resource = { from: spot.from, uri: joinUri($id, resource.uri) };
      this.#named.set(resource.uri, spot.from);
    }
    // In draft-07, an `$id` that is only a fragment is an anchor.
    const anchors = [
      $anchor,
      $dynamicAnchor,
      typeof $id === "string" && $id.startsWith("#") ? $id.slice(1) : undefined,
    ];
    for (const anchor of anchors)
      if (typeof anchor === "string" && anchor !== "") this.#named.set(`${resource.uri}#${anchor}`, spot.from);
    return resource;
  }

  #resolve({ out, text, resource }: SchemaReference): void {
    const origin = this.#originOf(text, resource);
    const target = origin === undefined ? undefined : (this.#moved.get(origin) ?? this.#hoist(origin));
    if (target !== undefined) out["$ref"] = target;
    else out["$comment"] = `Refers to ${firstChars(text, 200)}, which is not part of this document.`;
  }

  /**
   * Returns the location in the tool's schema that a reference names. Returns `undefined` if the reference names
   * another document.
   */
  #originOf(text: string, resource: SchemaResource): string | undefined {
    const mark = text.indexOf("#");
    const [path, fragment] = mark === -1 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
    const uri = path === "" ? resource.uri : joinUri(path, resource.uri);
    const from = path === "" ? resource.from : this.#named.get(uri);
    if (from === undefined) return undefined;
    if (fragment === "") return from;
    if (!fragment.startsWith("/")) return this.#named.get(`${uri}#${fragment}`);
    return `${from}${plainPointer(fragment).slice(1)}`;
  }

  /** Copies a schema from a place where the drafts define no schema, such as below a keyword of the author. */
  #hoist(origin: string): string | undefined {
    let at: unknown = this.#root;
    for (const step of stepsOf(origin))
      at = typeof at === "object" && at !== null && Object.hasOwn(at, step) ? (at as JsonObject)[step] : undefined;
    if (!isSchema(at) || this.#hoisted.length >= MAX_HOISTED) return undefined;
    const name = `_${this.#hoisted.length + 1}`;
    const to = stepTo(this.#place, "$defs", name);
    const slot: [string, unknown] = [name, true];
    this.#hoisted.push(slot);
    slot[1] = this.#schema(at, { from: origin, to, resource: { from: "#", uri: NOWHERE }, depth: 0 });
    return to;
  }
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isJsonObject(value);
}

/**
 * Replaces a parameter with the name of an identity keyword by an equivalent pattern, because programs would treat it
 * as that keyword.
 */
function withHiddenNames(members: readonly [string, unknown][]): readonly [string, unknown][] {
  const properties = members.find(([keyword]) => keyword === "properties")?.[1];
  const hidden = isJsonObject(properties) ? Object.entries(properties).filter(([name]) => IDENTITY.has(name)) : [];
  const without = members.map(([keyword, value]): [string, unknown] => [
    keyword,
    SCHEMA_MAP.has(keyword) && isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !IDENTITY.has(name)))
      : value,
  ]);
  if (hidden.length === 0) return without;
  const patterns = without.find(([keyword]) => keyword === "patternProperties")?.[1];
  const added = hidden.map(([name, schema]): [string, unknown] => [exactly(name), schema]);
  return [
    ...without.filter(([keyword]) => keyword !== "patternProperties"),
    ["patternProperties", Object.fromEntries([...Object.entries(isJsonObject(patterns) ? patterns : {}), ...added])],
  ];
}

function exactly(name: string): string {
  return `^${name.replaceAll("$", "\\$")}$`;
}

/** Returns a name that OpenAPI accepts for a component, and that every program accepts as a step of a pointer. */
export function safeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, "_") || "_";
}

export function freeName(name: string, taken: Pick<ReadonlySet<string>, "has">): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}_${count}`;
  return free;
}

function joinUri(reference: string, base: string): string {
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/, "") : reference;
}
