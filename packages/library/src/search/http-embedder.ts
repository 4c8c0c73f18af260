import { createHttpSource, VERSION, type HttpSource } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import type { Embedder } from "./embedder.ts";

export interface HttpEmbedderOptions {
  /** Address of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** API key. Absent: requests are sent without a key. */
  readonly key?: string;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 120_000;
/** Time limit of the vector of a query: a search by words answers in place of a server that hangs. */
const QUERY_TIMEOUT_MS = 20_000;
/** Maximum size of a response, in bytes: the vectors of one request as text. */
const MAX_ANSWER = 32 * 1024 * 1024;
/** Maximum number of texts per request. Servers refuse more, or take too long. */
const MAX_TEXTS = 64;

/** Prefixes by which some models distinguish questions from passages. */
const PREFIXES: readonly (readonly [model: RegExp, prefixes: Readonly<Record<"query" | "passage", string>>])[] = [
  [/(?:^|[/-])e5(?:-|$)/i, { query: "query: ", passage: "passage: " }],
  [/nomic-embed/i, { query: "search_query: ", passage: "search_document: " }],
];

/** Embedder that uses a server. It is closed with the library. */
export interface HttpEmbedder extends Embedder, AsyncDisposable {}

/**
 * Creates an embedder that uses a local or remote server. The first text makes the first request, so documents can be
 * listed without the server. `embed` rejects with `STORE_UNAVAILABLE` if the server does not return vectors.
 */
export function openHttpEmbedder({ url, model, key, headers = {} }: HttpEmbedderOptions): HttpEmbedder {
  const source = createHttpSource({
    service: "The embedding server",
    url,
    userAgent: `toolyard/${VERSION} (library)`,
    headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER,
  });
  const prefixes = PREFIXES.find(([own]) => own.test(model))?.[1];
  const embed = async (texts: readonly string[], purpose: "query" | "passage"): Promise<Float32Array[]> => {
    const own = texts.map((text) => `${prefixes?.[purpose] ?? ""}${text}`);
    const vectors: Float32Array[] = [];
    const signal = purpose === "query" ? AbortSignal.timeout(QUERY_TIMEOUT_MS) : undefined;
    for (let at = 0; at < own.length; at += MAX_TEXTS)
      vectors.push(
        ...(await vectorsFor(source, { model, input: own.slice(at, at + MAX_TEXTS) }, signal).catch(rejectUnavailable)),
      );
    return vectors;
  };
  return { id: `${url} ${model}`, embed, [Symbol.asyncDispose]: () => source.close() };
}

function rejectUnavailable(error: unknown): never {
  throw error instanceof DocumentError ? error : unavailable((error as Error).message);
}

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
}

async function vectorsFor(
  source: HttpSource,
  { model, input }: EmbeddingRequest,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const answer = (await source.postJson("embeddings", { model, input }, signal)) as
    | { readonly data?: unknown }
    | undefined;
  const rows = Array.isArray(answer?.data) ? (answer.data as { readonly embedding?: unknown }[]) : [];
  const vectors = rows.map(({ embedding }) => (isVector(embedding) ? unit(embedding) : undefined));
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length !== input.length || whole.some((vector) => vector.length !== whole[0]!.length))
    throw unavailable(`The embedding server answered ${whole.length} vectors for ${input.length} texts.`);
  return whole;
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}

function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers) || 1;
  return Float32Array.from(numbers, (number) => number / length);
}

function unavailable(message: string): DocumentError {
  return new DocumentError(
    "STORE_UNAVAILABLE",
    `${message} Check \`models.embedding\`, or LIBRARY_EMBED_URL and LIBRARY_EMBED_MODEL.`,
  );
}
