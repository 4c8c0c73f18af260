import type { IncomingMessage, ServerResponse } from "node:http";
import { tooLarge } from "../../request/body-refusals.ts";
import { wrongRequest, requestKind } from "../../request/request-kinds.ts";
import type { BodyAccounts } from "../../wire.ts";
import { NodeWire, type WireOwner } from "./wire.ts";

/** Request of Node's server as frameworks pass it on: Express adds members, Fastify wraps it. */
export type GivenRequest = IncomingMessage | { readonly raw: IncomingMessage; readonly body?: unknown };

/** Response for such a request. Fastify must release its response first. */
export type GivenResponse = ServerResponse | { readonly raw: ServerResponse; hijack(): unknown };

/** Node's request and response, and the body if a framework has read it. */
export interface FrameworkRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: unknown;
  /** Original URL. A router removes from `url` the path below which the handler is mounted. */
  readonly wholeUrl: string | undefined;
}

/**
 * Returns Node's request and response. Throws a `TypeError` that describes the given value if it is of another type.
 */
export function readFrameworkRequest(request: GivenRequest, response: GivenResponse): FrameworkRequest {
  const kind = requestKind(request);
  if (kind === "Node's request" && isResponse(response)) {
    const { body, originalUrl } = request as { body?: unknown; originalUrl?: unknown };
    return {
      request: request as IncomingMessage,
      response: response as ServerResponse,
      body,
      wholeUrl: typeof originalUrl === "string" ? originalUrl : undefined,
    };
  }
  if (kind === "Fastify's request" && "hijack" in response && isResponse(response.raw)) {
    response.hijack();
    const { raw, body } = request as { raw: IncomingMessage; body?: unknown };
    return { request: raw, response: response.raw, body, wholeUrl: undefined };
  }
  if (kind === "Node's request" || kind === "Fastify's request")
    throw new TypeError(
      "hub.nodeHandler() takes request and response, and was given no response: " +
        "pass both, as in `handler(request, response)`.",
    );
  throw wrongRequest("hub.nodeHandler()", "Node's request and response", request);
}

function isResponse(value: unknown): boolean {
  return typeof value === "object" && value !== null && "writeHead" in value && "setHeader" in value;
}

/** Request whose body a framework may have read. */
export class FrameworkWire extends NodeWire {
  readonly #target: string;
  readonly #body: unknown;

  constructor({ request, response, body }: FrameworkRequest, target: string, owner: WireOwner) {
    super(request, response, owner);
    this.#target = target;
    // Express also sets an empty body if no parser matched the request. The body was then not read.
    this.#body = request.readableEnded || isBytes(body) ? body : undefined;
  }

  override get target(): string {
    return this.#target;
  }

  override readBody(maxBytes: number, accounts: BodyAccounts): Promise<Buffer> {
    if (this.#body === undefined) return super.readBody(maxBytes, accounts);
    const bytes = toBytes(this.#body);
    return bytes.length > maxBytes ? Promise.reject(tooLarge(maxBytes)) : Promise.resolve(bytes);
  }
}

function isBytes(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** Returns the bytes of the body: the original ones, or those of its JSON. */
function toBytes(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
