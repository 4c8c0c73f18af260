import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createHttpSource, FailError, VERSION, type HttpSource } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import { readWhole } from "../documents/open-file.ts";
import type { OcrWanted } from "../reading/messages.ts";
import { writeKept } from "./kept-file.ts";

export interface MistralOcrOptions {
  /** Base URL of the service. @default "https://api.mistral.ai" */
  readonly url?: string;
  readonly key: string;
  /** Model name. @default "mistral-ocr-latest" */
  readonly model?: string;
  /** Price of a page, in the user's currency. @default 0.001 */
  readonly price?: number;
  /** Folder in which paid pages are stored. */
  readonly cache: string;
}

/** Text of the requested pages, and the pages that this request paid for. */
export interface OcrAnswer {
  /** Markdown of the requested pages, in order. */
  readonly pages: readonly string[];
  readonly paid: number;
  readonly cost: number;
}

/** Maximum size of a document that the service accepts, in bytes. */
const MAX_BYTES = 50_000_000;
const MAX_ANSWER = 100_000_000;
const TIMEOUT_MS = 600_000;
/** Maximum number of pages per request. After a failure only these pages are requested again. */
const MAX_PAGES = 100;
const TRIES = 3;
/** Delay before the first retry if the service sends none. It doubles with each retry. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/** Reads page pictures with Mistral's service. Answers are stored, because pages cost money. */
export class MistralOcr implements AsyncDisposable {
  readonly #source: HttpSource;
  readonly #model: string;
  readonly #price: number;
  readonly #cache: string;

  constructor({
    url = "https://api.mistral.ai",
    key,
    model = "mistral-ocr-latest",
    price = 0.001,
    cache,
  }: MistralOcrOptions) {
    this.#model = model;
    this.#price = price;
    this.#cache = cache;
    this.#source = createHttpSource({
      service: "Mistral OCR",
      url,
      userAgent: `toolyard/${VERSION} (library)`,
      headers: { authorization: `Bearer ${key}` },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER,
      reasonOf: (body) => {
        const { message } = (body ?? {}) as { readonly message?: unknown };
        return typeof message === "string" ? message : undefined;
      },
    });
  }

  /**
   * Returns the text of the requested pages. Rejects with `OCR_UNAVAILABLE`; results received before the failure are
   * stored.
   */
  async read(path: string, { mime, contentHash, pages }: OcrWanted, signal: AbortSignal): Promise<OcrAnswer> {
    const known = await this.#load(contentHash);
    const missing = pages.filter((page) => !known.has(page));
    const document = missing.length > 0 ? await documentOf(path, { mime, contentHash }) : {};
    for (let at = 0; at < missing.length; at += MAX_PAGES) {
      const asked = missing.slice(at, at + MAX_PAGES);
      for (const [page, markdown] of await this.#ask(document, asked, signal)) known.set(page, markdown);
      await writeKept(this.#place(contentHash), Object.fromEntries(known));
    }
    const lacking = pages.filter((page) => !known.has(page));
    if (lacking.length > 0)
      throw unavailable(`The response lacks the pages ${lacking.slice(0, 20).join(", ")}. Add the document again.`);
    const cost = Math.round(missing.length * this.#price * 1e6) / 1e6;
    return { pages: pages.map((page) => known.get(page)!), paid: missing.length, cost };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#source.close();
  }

  async #ask(document: object, pages: readonly number[], signal: AbortSignal): Promise<Map<number, string>> {
    // The service counts pages from 0.
    const wanted = pages.map((page) => page - 1);
    const question = { model: this.#model, document, pages: wanted, include_image_base64: false };
    for (let attempt = 1; ; attempt += 1)
      try {
        return pagesIn(await this.#source.postJson("/v1/ocr", question, signal), wanted);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof FailError) || error instanceof DocumentError) throw error;
        const isBusy = error.failure.kind === "limited" || error.failure.kind === "unavailable";
        if (!isBusy || attempt === TRIES) throw unavailable(error.message);
        if (error.failure.kind === "limited") await wait(pauseOf(error, attempt), undefined, { signal });
      }
  }

  #place(contentHash: string): string {
    return join(this.#cache, `${contentHash}-${this.#model.replaceAll(/[^\w.-]/g, "_")}.json`);
  }

  async #load(contentHash: string): Promise<Map<number, string>> {
    try {
      const pages: unknown = JSON.parse(await readFile(this.#place(contentHash), "utf8"));
      return new Map(Object.entries(pages as object).map(([page, markdown]) => [Number(page), String(markdown)]));
    } catch {
      return new Map();
    }
  }
}

/** Returns the delay that the service requests, limited to between one second and one minute. */
function pauseOf({ failure }: FailError, attempt: number): number {
  const asked = failure.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
  return Math.min(Math.max(asked, FIRST_PAUSE_MS), MAX_PAUSE_MS);
}

/**
 * Returns the document for the request. Throws if the file has changed since it was read, so that no other content is
 * sent to the service.
 */
async function documentOf(path: string, { mime, contentHash }: Omit<OcrWanted, "pages">): Promise<object> {
  const bytes = await readWhole(path, { most: Infinity });
  if (createHash("sha256").update(bytes).digest("hex") !== contentHash)
    throw unavailable("The file changed while it was read, so it was not sent. Add the document again.");
  if (bytes.length > MAX_BYTES)
    throw new DocumentError("TOO_LARGE", `It has ${bytes.length} bytes, and Mistral OCR accepts at most ${MAX_BYTES}.`);
  const data = `data:${mime};base64,${bytes.toString("base64")}`;
  return mime.startsWith("image/")
    ? { type: "image_url", image_url: data }
    : { type: "document_url", document_url: data };
}

function pagesIn(answer: unknown, wanted: readonly number[]): Map<number, string> {
  const { pages } = (answer ?? {}) as { readonly pages?: unknown };
  if (!Array.isArray(pages)) throw unavailable("The response has no `pages`.");
  return new Map(
    pages.flatMap((page: unknown) => {
      const { index, markdown } = (page ?? {}) as { readonly index?: unknown; readonly markdown?: unknown };
      const isOne = typeof index === "number" && typeof markdown === "string" && wanted.includes(index);
      return isOne ? [[index + 1, markdown] as const] : [];
    }),
  );
}

function unavailable(message: string): DocumentError {
  return new DocumentError("OCR_UNAVAILABLE", message);
}
