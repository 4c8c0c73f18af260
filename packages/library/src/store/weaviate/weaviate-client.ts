import { storeFailure } from "../store-failure.ts";
import { firstChars } from "toolyard/text";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface WeaviateObject {
  readonly class: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, Json>>;
  readonly vector?: readonly number[];
}

const REQUEST_MS = 60_000;
/** Maximum number of objects per request. The passages of a book have several megabytes. */
const BATCH = 200;
/** Maximum size of a response, in bytes. No expected response reaches it. */
const MAX_ANSWER_BYTES = 268_435_456;
/** Delays before the retries of a failed request, in milliseconds. An overloaded server answers 429. */
const RETRY_MS = [100, 400];

/** HTTP client of a Weaviate server. Each failure is a `STORE_UNAVAILABLE` error. Its message contains no key. */
export class WeaviateClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly place: string;

  constructor(url: URL, apiKey: string | undefined) {
    const key = apiKey || plain(url.password);
    this.place = `${url.host}${url.pathname === "/" ? "" : url.pathname}`;
    this.#base = `${url.protocol}//${this.place}/v1`.replace(/([^:])\/{2,}/gu, "$1/");
    this.#headers = {
      "content-type": "application/json",
      ...(key !== "" && { authorization: `Bearer ${key}` }),
    };
  }

  /** Sends a request. Returns undefined if the server answers 404. */
  async ask(method: string, path: string, body?: Json): Promise<Json | undefined> {
    for (let at = 0; ; at += 1) {
      const response = await this.#send(method, path, body);
      const text = await this.#textOf(response);
      if (response.ok) return text === "" ? null : this.parsed<Json>(text);
      // A 404 with an HTML page comes from a proxy and does not mean that the object is missing.
      if (response.status === 404 && (text === "" || isJson(text))) return undefined;
      const wait = [429, 502, 503].includes(response.status) ? RETRY_MS[at] : undefined;
      if (wait === undefined) throw this.failure(`it answers ${response.status}: ${firstChars(text, 300)}`);
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  /** Runs a query. Rejects also if the response has status 200 and contains errors. */
  async graphql(query: string): Promise<Readonly<Record<string, Json>>> {
    const answer = (await this.ask("POST", "/graphql", { query })) as
      | {
          readonly data?: Readonly<Record<string, Json>>;
          readonly errors?: readonly { readonly message: string }[] | null;
        }
      | undefined;
    const [error] = answer?.errors ?? [];
    if (error || !answer?.data) throw this.failure(error?.message ?? "it does not answer GraphQL at this address");
    return answer.data;
  }

  /** Returns the objects of one class. Throws if the response contains no list. */
  async get<T>(name: string, query: { readonly options: string; readonly show: string }): Promise<readonly T[]> {
    const options = query.options === "" ? "" : `(${query.options})`;
    const { Get } = await this.graphql(`{ Get { ${name}${options} { ${query.show} } } }`);
    const found = (Get as Readonly<Record<string, Json>> | null | undefined)?.[name];
    if (!Array.isArray(found)) throw this.failure(`its response has no list of ${name}`);
    return found as readonly T[];
  }

  /**
   * Creates objects, or replaces those with the same ids. Each object is written whole, but the batch is not atomic.
   */
  async put(objects: readonly WeaviateObject[]): Promise<void> {
    for (let at = 0; at < objects.length; at += BATCH) {
      const batch = objects.slice(at, at + BATCH) as unknown as Json;
      const answer = (await this.ask("POST", "/batch/objects", { objects: batch })) as
        | readonly { readonly result?: { readonly errors?: { readonly error?: readonly { message: string }[] } } }[]
        | undefined;
      const isWhole = Array.isArray(answer) && answer.length === Math.min(BATCH, objects.length - at);
      if (!isWhole) throw this.failure("it does not confirm that it stored the objects");
      // The batch request returns status 200, with the errors of individual objects inside.
      const failed = answer.find(({ result }) => result?.errors?.error?.length);
      if (failed) throw this.failure(failed.result?.errors?.error?.[0]?.message ?? "it refused the batch");
    }
  }

  failure(what: string, cause?: unknown): Error {
    return storeFailure(
      "unavailable",
      `The library at ${this.place} failed: ${what}. Check that Weaviate runs and is reachable; ` +
        "`toolyard library doctor` shows details.",
      cause,
    );
  }

  async #send(method: string, path: string, body?: Json): Promise<Response> {
    try {
      return await fetch(`${this.#base}${path}`, {
        method,
        headers: this.#headers,
        signal: AbortSignal.timeout(REQUEST_MS),
        redirect: "error",
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      const { cause, message } = error as Error & { readonly cause?: Error };
      throw this.failure(cause?.message || message, error);
    }
  }

  /** Parses the text as JSON. */
  parsed<T>(text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw this.failure(`its response is not JSON: ${firstChars(text, 100)}`, error);
    }
  }

  async #textOf(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of response.body ?? []) {
        const bytes = chunk as Uint8Array;
        size += bytes.length;
        if (size > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
        chunks.push(bytes);
      }
    } catch (error) {
      throw this.failure((error as Error).message, error);
    }
    return Buffer.concat(chunks).toString("utf8");
  }
}

/** Decodes a part of a URL. A stray % is kept. */
function plain(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a value in GraphQL syntax, in which member names have no quotation marks. */
export function written(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value as Readonly<Record<string, Json>>)
      .map(([name, own]) => `${name}:${name === "operator" ? String(own) : written(own)}`)
      .join(",")}}`;
  return JSON.stringify(value);
}
