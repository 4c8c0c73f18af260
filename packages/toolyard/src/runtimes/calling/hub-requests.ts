import { stringifyExact } from "../../core/json/exact-json.ts";
import { setMaxListeners } from "node:events";
import { formatBytes } from "../../core/text/bytes.ts";
import { messageOf, FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { isEmptyParams } from "../../wire/messages.ts";
import type { HubAccess } from "./hub-access.ts";
import { answerRequest } from "./hub-methods.ts";

/** Maximum number of hub requests during one run of a child. */
export const MAX_REQUESTS = 10_000;
/** Maximum number of concurrent requests; further ones wait in order. */
const MAX_CONCURRENT = 16;
/** Maximum size of all answers during one run, in bytes. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** Writes one line to the child. Resolves when it is sent, or when the child can no longer read it. Never rejects. */
export type WriteLine = (line: string) => Promise<void>;

interface HubRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * The hub requests of one running child: JSON-RPC requests in its output lines (`tools/call`, `tools/list`,
 * `tools/search`, `resources/read`, `models/generate_text`, `models/generate_image`), each answered with one line,
 * within limits. No further requests are handled while a child does not read its answers.
 */
export class HubRequests {
  readonly #access: HubAccess;
  readonly #write: WriteLine;
  readonly #waiting: HubRequest[] = [];
  readonly #ended = new AbortController();
  #inside = 0;
  #seen = 0;
  #answered = 0;

  constructor(access: HubAccess, write: WriteLine) {
    this.#access = access;
    this.#write = write;
    setMaxListeners(0, this.#ended.signal);
  }

  /** Handles a message if it is a request. Returns whether it is one. */
  take(message: JsonObject): boolean {
    const request = requestOf(message);
    if (!request) return false;
    if (this.#ended.signal.aborted) return true;
    this.#seen += 1;
    if (this.#seen > MAX_REQUESTS)
      void this.#refuse(request, `This run made ${MAX_REQUESTS} requests already. Do the work in several runs.`);
    else {
      this.#waiting.push(request);
      this.#pump();
    }
    return true;
  }

  /** Ends the open requests when the run is over. */
  close(): void {
    this.#waiting.length = 0;
    this.#ended.abort(new FailError(fail("cancelled", "The tool that made this call has ended.")));
  }

  #pump(): void {
    while (this.#inside < MAX_CONCURRENT) {
      const request = this.#waiting.shift();
      if (!request) return;
      this.#inside += 1;
      void this.#answer(request).finally(() => {
        this.#inside -= 1;
        this.#pump();
      });
    }
  }

  async #answer(request: HubRequest): Promise<void> {
    let line: string;
    try {
      line = toLine(request, {
        result: await answerRequest(request, this.#access, this.#ended.signal),
      });
    } catch (error) {
      line = toLine(request, { error: errorOf(failureOf(error)) });
    }
    if (this.#ended.signal.aborted) return;
    this.#answered += Buffer.byteLength(line);
    if (this.#answered <= MAX_ANSWER_BYTES) return this.#write(line);
    const message = `The answers to this run have reached ${formatBytes(MAX_ANSWER_BYTES)}. Request less.`;
    return this.#write(toLine(request, { error: errorOf(fail("too_large", message)) }));
  }

  #refuse(request: HubRequest, message: string): Promise<void> {
    // Requests above twice the limit get no answer.
    if (this.#seen > MAX_REQUESTS * 2) return Promise.resolve();
    return this.#write(toLine(request, { error: errorOf(fail("limited", message, { retryable: false })) }));
  }
}

function requestOf({ id, method, params: given }: JsonObject): HubRequest | undefined {
  const params = isEmptyParams(given) ? {} : given;
  if (typeof method !== "string" || (typeof id !== "string" && typeof id !== "number") || !isJsonObject(params))
    return undefined;
  return { id, method, params };
}

function toLine({ id }: HubRequest, answer: JsonObject): string {
  return `${stringifyExact({ jsonrpc: "2.0", id, ...answer })}\n`;
}

function failureOf(error: unknown): Fail {
  if (error instanceof FailError) return error.failure;
  return fail("internal", `The hub could not answer: ${messageOf(error)}`, { cause: error });
}

/** Converts a failure to a JSON-RPC error. `data.kind` is its outcome code. */
function errorOf({ kind, message, details, result }: Fail): JsonObject {
  return {
    code: KINDS[kind].jsonrpc,
    message,
    data: { kind, ...(details ? { details } : {}), ...(result ? { result } : {}) },
  };
}
