import { isDeepStrictEqual } from "node:util";
import { isJsonObject, objectMember, type JsonObject } from "../core/json/json.ts";

/** Capabilities of MCP's core that the hub implements itself; `tasks` is not passed on. */
const CORE: ReadonlySet<string> = new Set(["tools", "resources", "prompts", "completions", "logging", "tasks"]);

/**
 * Extensions without their own methods, and the functions that combine the settings of several servers. An extension
 * with methods is declared only if the hub has a single source, because only then it passes the methods on.
 */
const WITHOUT_METHODS: ReadonlyMap<string, (settings: readonly JsonObject[]) => JsonObject> = new Map([
  // MCP Apps: the hub declares the union of the servers' settings, because `resources/read` serves the pages of every
  // server.
  ["io.modelcontextprotocol/ui", unionOfSettings],
]);

/** Returns true if a server declares capabilities with methods that the hub does not implement. */
export function hasUnservedCapabilities(declared: JsonObject): boolean {
  const extensions = Object.keys(objectMember(declared, "extensions") ?? {});
  return (
    extensions.some((id) => !WITHOUT_METHODS.has(id)) ||
    Object.keys(declared).some((name) => !CORE.has(name) && name !== "extensions")
  );
}

/**
 * Removes capabilities with methods that the hub does not implement. Without passing methods on, the hub would answer
 * them with "method not found".
 */
export function withoutUnserved(declared: JsonObject): JsonObject {
  const { extensions: _, ...others } = declared;
  const core = Object.fromEntries(Object.entries(others).filter(([name]) => CORE.has(name)));
  return { ...core, ...joinExtensions([declared]) };
}

/** Combines the extensions of several servers. Returns `{ extensions }`, or an empty object if there are none. */
export function joinExtensions(declared: readonly JsonObject[]): JsonObject {
  const extensions: JsonObject = {};
  for (const [id, join] of WITHOUT_METHODS) {
    const settings = declared.map((one) => objectMember(one, "extensions")?.[id]).filter(isJsonObject);
    if (settings.length > 0) extensions[id] = join(settings);
  }
  return Object.keys(extensions).length === 0 ? {} : { extensions };
}

/** Combines settings: lists are joined; any other setting is kept only if all servers that have it agree. */
function unionOfSettings(settings: readonly JsonObject[]): JsonObject {
  const names = new Set(settings.flatMap((one) => Object.keys(one)));
  return Object.fromEntries(
    Array.from(names).flatMap((name): [string, unknown][] => {
      const values = settings.flatMap((one) => (name in one ? [one[name]] : []));
      if (values.every(Array.isArray)) return [[name, Array.from(new Set(values.flat()))]];
      return values.every((value) => isDeepStrictEqual(value, values[0])) ? [[name, values[0]]] : [];
    }),
  );
}
