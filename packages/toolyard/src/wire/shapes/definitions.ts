import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import {
  changed,
  FLAG,
  FRACTION,
  INTEGER,
  listOf,
  members,
  MOMENT,
  OBJECT,
  oneOf,
  readPart,
  TEXT,
  UNFIT,
  type Shape,
} from "./shape.ts";

/**
 * Shapes of the entries of the four lists, as strict as any served revision and the official clients. If one entry has
 * a member of the wrong type, such a client refuses the whole list, including entries of other servers.
 */

export const ICONS = listOf(
  members({
    required: { src: TEXT },
    optional: { mimeType: TEXT, sizes: listOf(TEXT), theme: oneOf("light", "dark") },
  }),
);

/** Annotations of resources and content. */
export const ANNOTATIONS = members({
  optional: { audience: listOf(oneOf("user", "assistant")), priority: FRACTION, lastModified: MOMENT },
});

const ABOUT = { title: TEXT, description: TEXT, icons: ICONS, _meta: OBJECT };

const PROMPT_ARGUMENT = members({
  required: { name: TEXT },
  optional: { title: TEXT, description: TEXT, required: FLAG },
});

export const PROMPT = members({
  required: { name: TEXT },
  optional: { ...ABOUT, arguments: listOf(PROMPT_ARGUMENT) },
});

const RESOURCE_ABOUT = { ...ABOUT, mimeType: TEXT, annotations: ANNOTATIONS };

export const RESOURCE = named(
  "uri",
  members({ required: { uri: TEXT, name: TEXT }, optional: { ...RESOURCE_ABOUT, size: INTEGER } }),
);

export const RESOURCE_TEMPLATE = named(
  "uriTemplate",
  members({ required: { uriTemplate: TEXT, name: TEXT }, optional: RESOURCE_ABOUT }),
);

/** Members of a tool except its schemas, which have separate rules. */
export const TOOL = members({
  required: { name: TEXT },
  optional: {
    ...ABOUT,
    annotations: members({
      optional: {
        title: TEXT,
        readOnlyHint: FLAG,
        destructiveHint: FLAG,
        idempotentHint: FLAG,
        openWorldHint: FLAG,
      },
    }),
    execution: members({ optional: { taskSupport: oneOf("forbidden", "optional", "required") } }),
  },
});

/**
 * Returns the shape of an entry with a name. A resource is identified by its URI and its name is only for display, so
 * the URI may replace the name.
 */
function named(key: string, shape: Shape): Shape {
  return {
    noun: shape.noun,
    fits: shape.fits,
    read(value, at, faults) {
      if (!isJsonObject(value) || typeof value["name"] === "string" || typeof value[key] !== "string")
        return shape.read(value, at, faults);
      readPart(TEXT, value["name"], {
        at: { step: "name", above: at },
        faults,
        remedy: `\`${key}\` is shown instead`,
      });
      return shape.read(changed(value, new Map([["name", value[key]]])), at, faults);
    },
  };
}

/** Members of a root schema that the protocol defines, without `type`, which differs between inputs and outputs. */
export const ROOT_SCHEMA = members({
  optional: { $schema: TEXT, properties: propertyMap(), required: listOf(TEXT) },
});

/** Returns the shape of `properties`. An invalid schema is replaced by one that permits any value. */
function propertyMap(): Shape {
  return {
    noun: "an object",
    fits: (value) => isJsonObject(value) && Object.values(value).every(isSchema),
    read(value, at, faults) {
      if (!isJsonObject(value)) return UNFIT;
      let changes: Map<string, unknown> | undefined;
      for (const name of Object.keys(value)) {
        const given = value[name];
        if (isSchema(given)) continue;
        readPart(SUBSCHEMA, given, { at: { step: name, above: at }, faults, remedy: "any value is accepted" });
        (changes ??= new Map<string, unknown>()).set(name, ANY_VALUE);
      }
      return changes ? changed(value, changes) : value;
    },
  };
}

function isSchema(value: unknown): boolean {
  return isJsonObject(value) || typeof value === "boolean";
}

const ANY_VALUE: JsonObject = Object.freeze({});
const SUBSCHEMA: Shape = {
  noun: "a schema",
  fits: isSchema,
  read: (value) => (isSchema(value) ? value : UNFIT),
};
