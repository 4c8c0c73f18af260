import { isJsonObject } from "../../core/json/json.ts";
import { ICONS } from "./definitions.ts";
import { FLAG, mapOf, members, mustBe, OBJECT, TEXT, type Shape } from "./shape.ts";

/** Shape of `serverInfo`. The hub replaces the name and the version, so a server without them can be shown. */
export const SERVER_INFO = members({
  optional: { name: TEXT, title: TEXT, version: TEXT, description: TEXT, websiteUrl: TEXT, icons: ICONS },
});

/** Capabilities whose lists the hub requests even if a server declares them unclearly. */
export const LIST_CAPABILITIES = ["tools", "resources", "prompts"] as const;

const LIST_CHANGES = { listChanged: FLAG };

/** Shape of MCP's `ServerCapabilities`. */
export const CAPABILITIES = readOpenly(
  members({
    optional: {
      tools: capability({ ...LIST_CHANGES }),
      resources: capability({ ...LIST_CHANGES, subscribe: FLAG }),
      prompts: capability({ ...LIST_CHANGES }),
      logging: capability(),
      completions: capability(),
      experimental: readOpenly(mapOf(capability())),
      extensions: readOpenly(mapOf(capability())),
    },
  }),
);

/** Returns true if the value of a capability states neither that it is present nor that it is absent. */
export function isUnclear(value: unknown): boolean {
  return value !== undefined && value !== false && value !== true && !isJsonObject(value) && !isEmptyList(value);
}

function capability(optional: Readonly<Record<string, Shape>> = {}): Shape {
  return readOpenly(Object.keys(optional).length === 0 ? OBJECT : members({ optional }));
}

/**
 * Returns a shape that treats `true`, and an empty list, which PHP writes for an empty object, as an object without
 * members.
 */
function readOpenly(shape: Shape): Shape {
  return {
    noun: shape.noun,
    fits: shape.fits,
    read(value, at, faults) {
      if (value !== true && !isEmptyList(value)) return shape.read(value, at, faults);
      faults.note(at, (member) => mustBe(member, shape.noun, value), "it is read as `{}`");
      return {};
    },
  };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
