import type { ModuleHub, ToolContext } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import type { FoundMetadata } from "../documents/block.ts";
import type { Ingested } from "../ingest/ingest.ts";
import type { JobReport } from "../ingest/jobs.ts";
import { sourcesOf, type SourcePolicy } from "../ingest/sources.ts";
import type { Library } from "../library.ts";
import * as schemas from "./schemas.ts";
import type { OpenLibrary } from "./search-tools.ts";

/** Reading a long document takes that long without being stuck. */
const MAX_TIME = "30m";
/** Who asked is told that it goes on before its time is over. */
const MAX_WAIT_MS = 29 * 60_000;

interface AddDocuments {
  readonly paths?: readonly string[];
  readonly urls?: readonly string[];
  readonly globs?: readonly string[];
  readonly metadata?: FoundMetadata;
  readonly wait?: boolean;
}

/** Registers what reads files into the library. */
export function registerIngestTools(hub: ModuleHub, open: OpenLibrary, policy: SourcePolicy): void {
  const annotations = {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: policy.allowUrls,
  };
  hub.registerTool<{ readonly pdf_path: string }>({
    name: "parse_pdf",
    description: "Process a PDF, or another document, with OCR where it needs that, and bring it into the library",
    schema: schemas.input({ pdf_path: PDF_PATH }, ["pdf_path"]),
    keywords: ["library", "ingest", "add a document"],
    annotations,
    totalTimeout: MAX_TIME,
    handler: async ({ pdf_path: given }, context) => {
      const [source, ...others] = await sourcesOf([given], policy);
      try {
        if (!source || others.length > 0)
          throw new DocumentError("VALIDATION_ERROR", `${given} is not one document. Name one, or use add_documents.`);
        return parsed(await (await open()).add({ ...source, ...listening(context) }));
      } catch (error) {
        if (context.signal.aborted || !(error instanceof DocumentError)) throw error;
        return refused(given, error);
      }
    },
  });
  hub.registerTool<AddDocuments>({
    name: "add_documents",
    description: "Reads files, all files of folders, and addresses into the library",
    schema: schemas.input(ADD_DOCUMENTS),
    keywords: ["library", "ingest", "folder"],
    annotations,
    totalTimeout: MAX_TIME,
    handler: async ({ paths = [], urls = [], globs = [], metadata, wait = true }, context) => {
      const given = [...paths, ...urls, ...globs];
      if (given.length === 0)
        throw new DocumentError("VALIDATION_ERROR", "Nothing is named. Give `paths`, `urls` or `globs`.");
      const sources = await sourcesOf(given, policy);
      const library = await open();
      const onProgress = (report: JobReport): void => tell(report, context);
      const job = { sources, ...(metadata && { metadata }) };
      const begun = await library.jobs.begin({ ...job, ...(wait && { onProgress }) });
      return jobResult(wait ? await endOf(library, begun, context.signal) : begun);
    },
  });
  registerStatus(hub, open);
}

function registerStatus(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<{ readonly job_id?: string; readonly cancel?: boolean }>({
    name: "ingest_status",
    description: "Tells how far the library is with reading documents",
    schema: schemas.input({
      job_id: { type: "string", minLength: 1, description: "As add_documents gave it; without it, all jobs." },
    }),
    keywords: ["library", "progress", "jobs"],
    annotations: schemas.READS,
    handler: async ({ job_id: id }) => {
      const { jobs } = await open();
      if (id === undefined) return { jobs: (await jobs.reports()).map(({ sources: _all, ...report }) => report) };
      const report = await jobs.report(id);
      if (report) return jobResult(report);
      throw new DocumentError("DOCUMENT_NOT_FOUND", `There is no job ${JSON.stringify(id)}.`);
    },
  });
}

/** The end of a job; how far it is where whoever waits has no more time. One that was cancelled ends the job. */
async function endOf(library: Library, begun: JobReport, signal: AbortSignal): Promise<JobReport> {
  const { job_id: id } = begun;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => (timer = setTimeout(() => done(undefined), MAX_WAIT_MS).unref()));
  const cancel = (): void => library.jobs.cancel(id);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const ended = await Promise.race([library.jobs.ended(id), late]);
    return ended ?? (await library.jobs.report(id)) ?? begun;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

function tell({ at, done, total }: JobReport, { progress }: ToolContext): void {
  if (!at) return;
  const part = at.pages > 0 ? at.page / at.pages : 0;
  progress(done + part, total, at.pages > 0 ? `${at.source}: page ${at.page} of ${at.pages}` : at.source);
}

function jobResult(report: JobReport): object {
  return { ...report, total_count: report.sources.length };
}

const PDF_PATH = {
  type: "string",
  minLength: 1,
  maxLength: 4_096,
  description: "Path of the file, in one of the open folders, or its https address.",
};
const PATTERNS = (description: string): object => ({
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 4_096 },
  maxItems: 1_000,
  description,
});
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

const ADD_DOCUMENTS = {
  paths: PATTERNS("Files and folders, in the open folders."),
  urls: PATTERNS("https addresses, where they are allowed."),
  globs: PATTERNS("Patterns of files in the open folders: essays/**/*.pdf"),
  metadata: METADATA,
  wait: { type: "boolean", default: true, description: "false: answer at once, and ask by ingest_status." },
};

const NO_COSTS = { cost_ocr: 0, cost_llm: 0, cost_total: 0, output_dir: "" };

function listening({ signal, progress }: ToolContext) {
  const onPage = (done: number, total: number): void => progress(done, total, `page ${done} of ${total}`);
  return { signal, onPage };
}

function parsed({ status, document, costOcr, ocrPages }: Ingested): object {
  const { title, author = "", language = "", year, sourceId, pages, chunks, warnings } = document;
  return {
    success: true,
    document_name: title,
    source_id: sourceId,
    pages,
    chunks_count: chunks,
    cost_ocr: costOcr,
    cost_llm: 0,
    cost_total: costOcr,
    output_dir: "",
    ocr_pages: ocrPages,
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
    ...NO_COSTS,
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
