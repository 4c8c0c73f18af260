import { isJsonObject, stringMember } from "../../../core/json/json.ts";
import type { TextEmbedder } from "../../../core/ports/models.ts";
import { visibleName } from "../../../core/names/names.ts";
import type { ToolRecord } from "../../../core/sources/records.ts";
import type { PreparedTool } from "../../source-part.ts";
import { toBytes } from "./byte-rows.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** Weights of a tool's texts, relative to its name and description. */
const SERVER_SHARE = 0.4;
const KEYWORDS_SHARE = 0.4;
const PARAMETERS_SHARE = 0.2;
/** Maximum number of characters of a description that are embedded. Descriptions start with the purpose of the tool. */
const MAX_DESCRIPTION_CHARS = 600;
const MAX_PARAMETERS = 30;

/** Three vectors: of the whole tool, of its name with its server, and of its description. */
export interface ToolVectors {
  readonly whole: Float32Array;
  readonly name: Float32Array;
  readonly about: Float32Array;
}

const PARTS = 3;
const known = new WeakMap<TextEmbedder, WeakMap<ToolRecord, Int8Array>>();

/**
 * Returns the three vectors of a tool, one after another, in whole numbers from -127 to 127. Computed once per record.
 */
export function toolVectorsOf(tool: PreparedTool, embedder: TextEmbedder): Int8Array {
  let ofEmbedder = known.get(embedder);
  if (!ofEmbedder) known.set(embedder, (ofEmbedder = new WeakMap()));
  let vectors = ofEmbedder.get(tool.record);
  if (!vectors) ofEmbedder.set(tool.record, (vectors = packed(readTool(tool, embedder), embedder.dimensions)));
  return vectors;
}

function readTool({ record, entry }: PreparedTool, embedder: TextEmbedder): ToolVectors {
  const { source } = record;
  const server = embedder.embed(source.namespace === source.id ? source.id : `${source.namespace} ${source.id}`);
  const about = embedder.embed(
    firstChars(
      `${stringMember(entry, "title") ?? ""} ${stringMember(entry, "description") ?? ""}`,
      MAX_DESCRIPTION_CHARS,
    ),
  );
  const name = embedder.embed(visibleName(record));
  const named = sum([name, 1], [server, SERVER_SHARE]);
  const keywords = embedder.embed(record.keywords.join(" "));
  const parameters = embedder.embed(parameterNames(entry["inputSchema"]).join(" "));
  const whole = sum([named, 1], [about, 1], [keywords, KEYWORDS_SHARE], [parameters, PARAMETERS_SHARE]);
  return { whole, name: named, about };
}

function parameterNames(schema: unknown): readonly string[] {
  return isJsonObject(schema) && isJsonObject(schema["properties"])
    ? Object.keys(schema["properties"]).slice(0, MAX_PARAMETERS)
    : [];
}

function sum(...parts: readonly (readonly [Float32Array, number])[]): Float32Array {
  const total = new Float32Array(parts[0]![0].length);
  for (const [vector, share] of parts) for (let at = 0; at < total.length; at += 1) total[at]! += share * vector[at]!;
  return total;
}

function packed({ whole, name, about }: ToolVectors, dimensions: number): Int8Array {
  const bytes = new Int8Array(PARTS * dimensions);
  for (const [part, vector] of [whole, name, about].entries()) toBytes(vector, bytes, part * dimensions);
  return bytes;
}
