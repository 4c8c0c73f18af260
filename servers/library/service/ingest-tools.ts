import type { ModuleHub, ToolContext } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import { filesOf, type FilePolicy } from "../documents/open-folders.ts";
import type { FoundMetadata } from "../documents/block.ts";
import type { Ingested } from "../ingest/ingest.ts";
import type { Library } from "../library.ts";
import * as schemas from "./schemas.ts";
import type { OpenLibrary } from "./search-tools.ts";

const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** Reading a long document takes that long without being stuck. */
const MAX_TIME = "30m";

/** Registers what reads files into the library. */
export function registerIngestTools(hub: ModuleHub, open: OpenLibrary, files: FilePolicy): void {
  hub.registerTool<{ readonly pdf_path: string }>({
    name: "parse_pdf",
    description: "Reads a PDF (or a file of Markdown or text) into the library",
    schema: schemas.input(
      { pdf_path: { type: "string", minLength: 1, description: "Path of the file, in one of the open folders." } },
      ["pdf_path"],
    ),
    keywords: ["library", "ingest", "add a document"],
    annotations: WRITES,
    totalTimeout: MAX_TIME,
    handler: async ({ pdf_path: given }, context) => {
      const path = await files.resolve(given);
      try {
        return parsed(await addFile(await open(), { path }, context));
      } catch (error) {
        if (context.signal.aborted || !(error instanceof DocumentError)) throw error;
        return refused(given, error);
      }
    },
  });
  hub.registerTool<{ readonly paths: readonly string[]; readonly metadata?: FoundMetadata }>({
    name: "add_documents",
    description: "Reads files, and all files of folders, into the library",
    schema: schemas.input({ paths: PATHS, metadata: METADATA }, ["paths"]),
    keywords: ["library", "ingest", "folder"],
    annotations: WRITES,
    totalTimeout: MAX_TIME,
    handler: async ({ paths, metadata }, context) => {
      const library = await open();
      const all: string[] = [];
      for (const path of paths) all.push(...(await filesOf(await files.resolve(path))));
      const sources: object[] = [];
      for (const [at, path] of all.entries()) {
        context.progress(at, all.length, path);
        sources.push(await addOne(library, { path, ...(metadata && { metadata }) }, context));
      }
      return { sources, total_count: sources.length };
    },
  });
}

const PATHS = {
  type: "array",
  items: { type: "string", minLength: 1 },
  minItems: 1,
  maxItems: 1_000,
  description: "Files and folders, in the open folders.",
};
const METADATA = {
  type: "object",
  description: "What goes before that which the files say of themselves.",
  properties: {
    title: { type: "string" },
    author: { type: "string" },
    year: { type: "integer" },
    language: { type: "string" },
    edition: { type: "string" },
    work: { type: "string" },
    genre: { type: "string" },
  },
  additionalProperties: false,
};

interface File {
  readonly path: string;
  readonly metadata?: FoundMetadata;
}

function addFile(library: Library, file: File, { signal, progress }: ToolContext): Promise<Ingested> {
  return library.add({ ...file, signal, onPage: (done, total) => progress(done, total, `page ${done} of ${total}`) });
}

async function addOne(library: Library, file: File, context: ToolContext): Promise<object> {
  // Pages of one file are no progress of the whole.
  const quiet: ToolContext = { ...context, signal: context.signal, progress: () => {} };
  try {
    const { status, document } = await addFile(library, file, quiet);
    return { path: file.path, status, source_id: document.sourceId, chunks_count: document.chunks };
  } catch (error) {
    if (context.signal.aborted || !(error instanceof DocumentError)) throw error;
    return { path: file.path, status: "failed", error: error.message, code: error.code };
  }
}

/** Nothing is paid for: the files are read here. */
const COSTS = { cost_ocr: 0, cost_llm: 0, cost_total: 0, output_dir: "" };

function parsed({ status, document }: Ingested): object {
  const { title, author = "", language = "", year, sourceId, pages, chunks, warnings } = document;
  return {
    success: true,
    document_name: title,
    source_id: sourceId,
    pages,
    chunks_count: chunks,
    ...COSTS,
    metadata: { title, author, language, ...(year !== undefined && { year }) },
    status,
    warnings,
  };
}

function refused(path: string, { message, code, reason, failure }: DocumentError): object {
  const result = {
    success: false,
    document_name: path,
    source_id: "",
    pages: 0,
    chunks_count: 0,
    ...COSTS,
    metadata: {},
    error: message,
    code,
    ...(reason !== undefined && { reason }),
  };
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify(result) }],
    _meta: { "toolyard/kind": failure.kind },
  };
}
