import { FailError, type JsonObject, type ModuleHub, type ToolContext } from "toolyard";
import { DocumentError, isDocumentErrorCode } from "../documents/document-error.ts";
import type { FoundMetadata } from "../documents/block.ts";
import type { OcrWish } from "../documents/ocr/ocr.ts";
import type { JobReport, SourceReport, SourceSearch } from "../ingest/jobs.ts";
import { sourcesOf, type Source, type SourcePolicy } from "../ingest/sources.ts";
import type { Library } from "../library.ts";
import { Pulse } from "./pulse.ts";
import * as schemas from "./schemas.ts";
import type { OpenLibrary } from "./search-tools.ts";

/** Time limit of the tools: reading a long document can take this long. */
const MAX_TIME = "30m";
/**
 * Maximum time that a call waits for the job, in milliseconds. The caller gets an answer before its time limit, and the
 * job continues.
 */
const MAX_WAIT_MS = 29 * 60_000;
const SPARE_MS = 2_000;
/**
 * Maximum time for the search for files, in milliseconds. If it takes longer, the answer returns the job's id, and the
 * job continues the search.
 */
const SEARCH_MS = 5_000;
const SEARCH_WITHOUT_WAIT_MS = 500;
/** Maximum number of sources in an answer; the latest are kept. */
const MAX_NAMED = 1_000;

interface ParsePdf extends schemas.InCollection {
  readonly pdf_path: string;
}

interface IngestStatus extends schemas.InCollection {
  readonly job_id?: string;
}

interface AddDocuments extends schemas.InCollection {
  readonly paths?: readonly string[];
  readonly urls?: readonly string[];
  readonly globs?: readonly string[];
  readonly metadata?: FoundMetadata;
  readonly ocr?: OcrWish;
  readonly wait?: boolean;
}

/** Registers the tools that read files into the library. */
export function registerIngestTools(hub: ModuleHub, open: OpenLibrary, policy: SourcePolicy): void {
  const annotations = {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: policy.allowUrls,
  };
  hub.registerTool<ParsePdf>({
    name: "parse_pdf",
    description: "Process a PDF or another document, with OCR if needed, and add it to the library",
    schema: schemas.input({ pdf_path: PDF_PATH }, ["pdf_path"]),
    keywords: ["library", "ingest", "add a document"],
    annotations,
    totalTimeout: MAX_TIME,
    handler: async ({ pdf_path: given, collection }, context) => {
      const until = endOfWait(context);
      const source = await orRefusal(oneSource(given, policy));
      if (source instanceof DocumentError) throw withAnswer(refused(given, source), source);
      const library = await open(collection, true);
      using pulse = new Pulse(context);
      const onProgress = ({ at }: JobReport): void => {
        if (at && at.pages > 0) pulse.tell(at.page, at.pages, `page ${at.page} of ${at.pages}`);
      };
      const begun = await library.jobs.begin({ sources: [source], isUrgent: true, onProgress });
      return parsed(given, await endOf(library, begun, { ...context, until }), library);
    },
  });
  hub.registerTool<AddDocuments>({
    name: "add_documents",
    description: "Reads files, all files of folders, and URLs into the library",
    schema: schemas.input(ADD_DOCUMENTS),
    keywords: ["library", "ingest", "folder"],
    annotations,
    totalTimeout: MAX_TIME,
    handler: async ({ paths = [], urls = [], globs = [], metadata, ocr, wait = true, collection }, context) => {
      const given = [...paths, ...urls, ...globs];
      if (given.length === 0)
        throw new DocumentError("VALIDATION_ERROR", "No source is given. Give `paths`, `urls` or `globs`.");
      const until = endOfWait(context);
      const waitMs = wait ? Math.min(SEARCH_MS, until - performance.now()) : undefined;
      const sources = await orRefusal(searchFor(given, policy, waitMs));
      if (sources instanceof DocumentError) throw withAnswer(refusedSource(given, sources), sources);
      const library = await open(collection, true);
      using pulse = wait ? new Pulse(context) : undefined;
      const onProgress = (report: JobReport): void => pulse && tell(report, pulse);
      const job = { sources, onProgress, ...(metadata && { metadata }), ...(ocr && { ocr }) };
      const begun = await library.jobs.begin(job);
      return jobResult(wait ? await endOf(library, begun, { ...context, until }) : begun);
    },
  });
  registerStatus(hub, open);
}

async function oneSource(given: string, policy: SourcePolicy): Promise<Source> {
  const [source, ...others] = await sourcesOf([given], policy);
  if (source && others.length === 0) return source;
  throw new DocumentError("VALIDATION_ERROR", `${given} is not one document. Name one, or use add_documents.`);
}

/** Resolves with the error that refuses a source, so that a tool can report it like its other results. */
function orRefusal<T>(found: Promise<T>): Promise<T | DocumentError> {
  return found.catch((error: unknown) => {
    if (error instanceof DocumentError) return error;
    throw error;
  });
}

/** Returns the sources if the search finishes within `waitMs`; otherwise returns the running search. */
async function searchFor(
  given: readonly string[],
  policy: SourcePolicy,
  waitMs = SEARCH_WITHOUT_WAIT_MS,
): Promise<readonly Source[] | SourceSearch> {
  const cancelled = new AbortController();
  const found = sourcesOf(given, policy, cancelled.signal);
  // The search may fail before a job awaits it, which would be an unhandled rejection.
  found.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => (timer = setTimeout(() => done(undefined), Math.max(0, waitMs))));
  const name = `looking for files in ${given.slice(0, MAX_PLACES_SHOWN).join(", ")}`;
  try {
    return (await Promise.race([found, late])) ?? { name, found, cancel: (reason) => cancelled.abort(reason) };
  } finally {
    clearTimeout(timer);
  }
}

const MAX_PLACES_SHOWN = 5;

/**
 * Returns the time at which a call must be answered, on the clock of `performance.now()`. Must be called when the call
 * begins.
 */
function endOfWait({ meta }: ToolContext): number {
  const left = meta["toolyard/remaining-ms"];
  return performance.now() + Math.min(MAX_WAIT_MS, (typeof left === "number" ? left : Infinity) - SPARE_MS);
}

function registerStatus(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<IngestStatus>({
    name: "ingest_status",
    description: "Returns the progress of the jobs that read documents into the library",
    schema: schemas.input({
      job_id: { type: "string", minLength: 1, description: "Id of the job, from add_documents. Omitted: all jobs." },
    }),
    keywords: ["library", "progress", "jobs"],
    annotations: schemas.READS,
    handler: async ({ job_id: id, collection }) => {
      const { jobs } = await open(collection);
      if (id === undefined) return { jobs: (await jobs.reports()).map(({ sources: _all, ...report }) => report) };
      const report = await jobs.report(id);
      if (report) return jobResult(report);
      throw new DocumentError("DOCUMENT_NOT_FOUND", `There is no job ${JSON.stringify(id)}.`);
    },
  });
}

interface WaitOptions extends Pick<ToolContext, "signal"> {
  /** Time at which the call must be answered: the result of `endOfWait`. */
  readonly until: number;
}

/**
 * Returns the final report of a job, or its progress when the caller's time is over. Cancelling the call cancels the
 * job.
 */
async function endOf(library: Library, begun: JobReport, { signal, until }: WaitOptions): Promise<JobReport> {
  const { job_id: id } = begun;
  const waitMs = until - performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(
    (done) => (timer = setTimeout(() => done(undefined), Math.max(0, waitMs)).unref()),
  );
  const cancel = (): void => library.jobs.cancel(id);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const ended = await Promise.race([library.jobs.ended(id), late]);
    signal.throwIfAborted();
    return ended ?? (await library.jobs.report(id)) ?? begun;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

function tell({ at, done, total }: JobReport, pulse: Pulse): void {
  if (!at) return;
  const part = at.pages > 0 ? at.page / at.pages : 0;
  pulse.tell(done + part, total, at.pages > 0 ? `${at.source}: page ${at.page} of ${at.pages}` : at.source);
}

function jobResult(report: JobReport): object {
  const { sources } = report;
  const leftOff = sources.length - MAX_NAMED;
  return {
    ...report,
    sources: sources.slice(-MAX_NAMED),
    total_count: sources.length,
    ...(leftOff > 0 && { sources_left_off: leftOff }),
  };
}

const PDF_PATH = {
  type: "string",
  minLength: 1,
  maxLength: 4_096,
  description: "Path of a file in an allowed folder, or an https URL.",
};
const PATTERNS = (description: string): object => ({
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 4_096 },
  maxItems: 1_000,
  description,
});
const METADATA = {
  type: "object",
  description: "Metadata that overrides the metadata found in the files.",
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
  paths: PATTERNS("Paths of files and folders, in the allowed folders."),
  urls: PATTERNS("https URLs, if the library may fetch URLs."),
  globs: PATTERNS("Glob patterns of files in the allowed folders: essays/**/*.pdf"),
  metadata: METADATA,
  ocr: {
    type: "string",
    enum: ["auto", "off", "force"],
    description: "OCR of page images. auto: on pages without other text; off: never; force: on every page.",
  },
  wait: {
    type: "boolean",
    default: true,
    description: "If false, returns immediately; ingest_status reports the progress.",
  },
};

const NO_COSTS = { cost_ocr: 0, cost_llm: 0, cost_total: 0, output_dir: "" };

async function parsed(given: string, report: JobReport, library: Library): Promise<object> {
  const [own] = report.sources;
  if (!own) return { ...nothing(given, "still running"), job_id: report.job_id };
  if (own.status === "failed") return refused(given, failureIn(own));
  const { title, author = "", language = "", year, ...document } = await library.document(own.source_id ?? "");
  const { cost_ocr: cost = 0, ocr_pages: ocrPages = 0, status } = own;
  return {
    success: true,
    document_name: title,
    source_id: document.sourceId,
    pages: document.pages,
    chunks_count: document.chunks,
    cost_ocr: cost,
    cost_llm: 0,
    cost_total: cost,
    output_dir: "",
    ocr_pages: ocrPages,
    metadata: { title, author, language, ...(year !== undefined && { year }) },
    status,
    warnings: document.warnings,
  };
}

function failureIn({ code = "", error = "It cannot be read.", reason }: SourceReport): DocumentError {
  if (isDocumentErrorCode(code)) return new DocumentError(code, error, reason);
  throw new Error(error);
}

/** Returns the result for a missing file, with all counts 0. */
function nothing(path: string, error: string): object {
  const counts = { pages: 0, chunks_count: 0, ...NO_COSTS };
  return { success: false, document_name: path, source_id: "", ...counts, metadata: {}, error };
}

function refused(path: string, error: DocumentError): JsonObject {
  return errorResult({ ...nothing(path, error.message), ...codeOf(error) }, error);
}

/** Returns the report of a job that was not started because one of its sources is refused. */
function refusedSource(given: readonly string[], error: DocumentError): JsonObject {
  const { message, source = given.slice(0, MAX_PLACES_SHOWN).join(", ") } = error;
  const sources = [{ source, status: "failed", error: message, ...codeOf(error) }];
  return errorResult({ done: 0, total: given.length, sources, total_count: sources.length }, error);
}

/** Creates a failure with the error's code. Callers receive its result. */
function withAnswer(result: JsonObject, { failure }: DocumentError): FailError {
  return new FailError({ ...failure, result });
}

function codeOf({ code, reason }: DocumentError): object {
  return { code, ...(reason !== undefined && { reason }) };
}

function errorResult(answer: object, { failure }: DocumentError): JsonObject {
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify(answer) }],
    _meta: { "toolyard/kind": failure.kind },
  };
}
