import type { CallMethod } from "../../core/calls/call.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { ANNOTATIONS, RESOURCE } from "./definitions.ts";
import {
  changed,
  Faults,
  FLAG,
  INTEGER,
  listOf,
  members,
  OBJECT,
  readPart,
  TEXT,
  TEXT_OR_INTEGER,
  UNFIT,
  type Shape,
} from "./shape.ts";

/**
 * Result repaired to the form that the official clients expect: a member of the wrong type makes them reject the whole
 * answer. Members without meaning are removed. Values that have no other valid meaning are kept, so that the caller
 * gets the same as on a direct connection.
 */
export interface RepairedResult {
  readonly result: JsonObject;
  readonly faults: Faults;
}

/** Returns the repaired result, or `undefined` if it needs no repair. */
export function repairResult(method: CallMethod, result: JsonObject): RepairedResult | undefined {
  const shape = RESULTS[method];
  if (shape.fits(result)) return undefined;
  const faults = new Faults();
  const read = shape.read(result, undefined, faults);
  return { result: read === UNFIT ? result : (read as JsonObject), faults };
}

/** Members of `_meta` that have a meaning only in requests, but that clients check in results too. */
const RESULT_META = members({
  optional: {
    progressToken: TEXT_OR_INTEGER,
    "io.modelcontextprotocol/related-task": members({ required: { taskId: TEXT } }),
  },
});

const BLOCK_ABOUT = { annotations: ANNOTATIONS, _meta: OBJECT };
const CONTENTS = members({ optional: { mimeType: TEXT, _meta: OBJECT } });
const MEDIA = members({ optional: { ...BLOCK_ABOUT, data: kept(TEXT), mimeType: kept(TEXT) } });

/** Shapes of blocks by type. A block of another type stays unchanged. */
const BLOCKS: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ["text", members({ optional: { ...BLOCK_ABOUT, text: kept(TEXT) } })],
  ["image", MEDIA],
  ["audio", MEDIA],
  ["resource_link", RESOURCE],
  ["resource", members({ optional: { ...BLOCK_ABOUT, resource: kept(CONTENTS) } })],
]);

const BLOCK: Shape = {
  noun: "a content block",
  fits: (value) => blockShape(value)?.fits(value) !== false,
  read(value, at, faults) {
    const shape = blockShape(value);
    return shape ? shape.read(value, at, faults) : value;
  },
};

function blockShape(value: unknown): Shape | undefined {
  return isJsonObject(value) ? BLOCKS.get(value["type"]) : undefined;
}

const RESULTS: Readonly<Record<CallMethod, Shape>> = {
  "tools/call": members({ optional: { _meta: RESULT_META, isError: absentIfNull(FLAG), content: listKept(BLOCK) } }),
  "resources/read": members({ optional: { _meta: RESULT_META, contents: listKept(CONTENTS) } }),
  "prompts/get": members({
    optional: {
      _meta: RESULT_META,
      description: TEXT,
      messages: listKept(members({ optional: { content: kept(BLOCK) } })),
    },
  }),
  // The shape accepts every result, because the hub does not know which results an extension permits.
  extension: members({}),
  "completion/complete": members({
    optional: {
      _meta: RESULT_META,
      completion: kept(members({ optional: { values: firstValues(), total: INTEGER, hasMore: FLAG } })),
    },
  }),
};

/** Returns a shape like `shape` that keeps an invalid value unchanged. */
function kept(shape: Shape): Shape {
  return {
    noun: shape.noun,
    fits: shape.fits,
    read(value, at, faults) {
      const read = readPart(shape, value, { at, faults, remedy: KEPT });
      return read === UNFIT ? value : read;
    },
  };
}

const KEPT = "passed on as it is";

/** Returns the shape of a list. Invalid items stay unchanged. */
function listKept(item: Shape): Shape {
  return kept(listOf(kept(item)));
}

/**
 * Returns a shape that treats `null` as absent, as serialisers write it. Any other invalid value may have a meaning, so
 * it is kept.
 */
function absentIfNull(shape: Shape): Shape {
  const keeping = kept(shape);
  return {
    noun: shape.noun,
    fits: shape.fits,
    read: (value, at, faults) => (value === null ? UNFIT : keeping.read(value, at, faults)),
  };
}

/** Maximum number of values of one completion in the protocol. */
const MAX_VALUES = 100;

function firstValues(): Shape {
  const values = listOf(TEXT);
  return {
    noun: values.noun,
    fits: (value) => values.fits(value) && (value as readonly unknown[]).length <= MAX_VALUES,
    read(value, at, faults) {
      const read = values.read(value, at, faults);
      if (!Array.isArray(read) || read.length <= MAX_VALUES) return read;
      faults.note(at, (member) => `\`${member}\` holds ${read.length} values`, `the first ${MAX_VALUES} are passed on`);
      return read.slice(0, MAX_VALUES);
    },
  };
}

/** Adds the missing URI to the contents of a read: it can only be the requested URI. */
export function withUri(result: JsonObject, uri: string): JsonObject {
  const contents = result["contents"];
  if (!Array.isArray(contents)) return result;
  const isNamed = (item: unknown): boolean => !isJsonObject(item) || typeof item["uri"] === "string";
  if (contents.every(isNamed)) return result;
  const named = contents.map((item: unknown) =>
    isNamed(item) ? item : changed(item as JsonObject, new Map([["uri", uri]])),
  );
  return changed(result, new Map<string, unknown>([["contents", named]]));
}
