import type { GnnFile } from "../language/model.ts";
import { checkGnn } from "../checks/check.ts";
import type { Diagnostic } from "../language/diagnostics.ts";
import { printGnn } from "../language/print.ts";
import { fromCbor, toCbor } from "./cbor.ts";
import { FormatError } from "./format-error.ts";
import { graphOf } from "./graph.ts";
import { toAdjacencyList, toDot, toGexf, toGraphml, toMermaid } from "./graph-formats.ts";
import { fromJson, fromJsonData, toJson, toJsonData } from "./json.ts";
import { toSummary } from "./summary.ts";
import { fromXml, toXml } from "./xml.ts";

export { FormatError };

/** A format that files can be exported to. */
export interface ExportFormat {
  /** Name in messages. */
  readonly title: string;
  readonly extension: string;
  readonly mimeType: string;
  write(file: GnnFile): string | Uint8Array;
}

/** All formats, by their names in `export_gnn`. */
export const EXPORT_FORMATS = {
  json: { title: "JSON", extension: ".json", mimeType: "application/json", write: toJson },
  xml: { title: "XML", extension: ".xml", mimeType: "application/xml", write: toXml },
  graphml: {
    title: "GraphML",
    extension: ".graphml",
    mimeType: "application/xml",
    write: (file) => toGraphml(graphOf(file)),
  },
  gexf: { title: "GEXF", extension: ".gexf", mimeType: "application/xml", write: (file) => toGexf(graphOf(file)) },
  dot: { title: "DOT", extension: ".dot", mimeType: "text/vnd.graphviz", write: (file) => toDot(graphOf(file)) },
  mermaid: { title: "Mermaid", extension: ".mmd", mimeType: "text/plain", write: (file) => toMermaid(graphOf(file)) },
  plaintext_summary: { title: "plain text summary", extension: ".txt", mimeType: "text/plain", write: toSummary },
  plaintext_dsl: {
    title: "plain text DSL",
    extension: ".gnn",
    mimeType: "text/markdown",
    write: (file) => printGnn(file, { form: "markdown" }),
  },
  json_adjacency_list: {
    title: "JSON adjacency list",
    extension: ".json",
    mimeType: "application/json",
    write: (file) => toAdjacencyList(graphOf(file)),
  },
  cbor: {
    title: "CBOR",
    extension: ".cbor",
    mimeType: "application/cbor",
    write: (file) => toCbor(toJsonData(file)),
  },
} as const satisfies Readonly<Record<string, ExportFormat>>;

export type ExportFormatName = keyof typeof EXPORT_FORMATS;

/** Message for a requested export as a Python pickle. */
export const NO_PICKLE =
  "GNN is not exported as a pickle, because loading a pickle runs the code in it. " +
  "Use JSON, or CBOR for a binary format; both can be imported without loss.";

/**
 * Writes a file in a format.
 *
 * @example
 * ```ts
 * import { exportGnn, parseGnn } from "@toolyard/gnn";
 *
 * console.log(exportGnn(parseGnn("## Connections\ns>o\n").file, "json"));
 * ```
 */
export function exportGnn(file: GnnFile, format: ExportFormatName): string | Uint8Array {
  return EXPORT_FORMATS[format].write(file);
}

/** An imported file, with its diagnostics if it was GNN. */
export interface ImportedFile {
  readonly file: GnnFile;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses GNN, JSON, XML or CBOR; the format is detected. Throws a `FormatError` for JSON, XML or CBOR that this package
 * did not write.
 */
export function importGnn(content: string | Uint8Array): ImportedFile {
  if (typeof content !== "string") {
    if (content[0] === 0xd9 && content[1] === 0xd9) return whole(fromJsonData(fromCbor(content)));
    return importGnn(decode(content));
  }
  const start = content.replace(/^\uFEFF/, "").trimStart();
  if (start.startsWith("{")) return whole(fromJson(content));
  return start.startsWith("<?xml") || start.startsWith("<gnn") ? whole(fromXml(content)) : checkGnn(content);
}

function whole(file: GnnFile): ImportedFile {
  return { file, diagnostics: [] };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new FormatError("This is neither CBOR nor UTF-8 text.", { cause: error });
  }
}
