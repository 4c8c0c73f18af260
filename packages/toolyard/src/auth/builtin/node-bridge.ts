import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Duplex } from "node:stream";

// `node:http` is not imported, because an import would evaluate all its exports (see `http/adapters/node/listener.ts`).
const http = process.getBuiltinModule("node:http");

/** Request for a handler of Node's HTTP server. */
export interface BridgedRequest {
  readonly method: string;
  /** Path and query below the base path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly remoteAddress: string;
  /** Canonical address of the hub. Replaces the host and the scheme of the request's headers. */
  readonly baseUrl: string;
}

export interface BridgedAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

export interface BridgedPair {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves when the handler has ended the response. */
  readonly answered: Promise<BridgedAnswer>;
}

/** Creates a request and a response of Node without a connection, for a handler that requires both. */
export function bridge({ method, url, headers, body, remoteAddress, baseUrl }: BridgedRequest): BridgedPair {
  const { protocol, host, pathname } = new URL(baseUrl);
  const socket = Object.assign(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }), {
    encrypted: protocol === "https:",
    remoteAddress,
  });
  const request = new http.IncomingMessage(socket as never);
  const own = Object.entries(headers).filter(([name, value]) => value !== undefined && !FORWARDED.test(name));
  Object.assign(request, {
    method,
    url,
    originalUrl: `${pathname.replace(/\/$/, "")}${url}`,
    httpVersion: "1.1",
    headers: { ...Object.fromEntries(own), host, "content-length": String(body.length) },
  });
  if (body.length === 0) delete request.headers["content-length"];
  else request.push(body);
  request.push(null);
  return { request, ...captured(request) };
}

/**
 * Matches headers that the hub has already evaluated. The hub accepts them only from trusted proxies, so the handler
 * must not read them.
 */
const FORWARDED = /^(x-forwarded-|forwarded$|content-length$|transfer-encoding$)/;

function captured(request: IncomingMessage): Pick<BridgedPair, "response" | "answered"> {
  const response = new http.ServerResponse(request);
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk === "string")
      chunks.push(Buffer.from(chunk, typeof encoding === "string" ? (encoding as "utf8") : "utf8"));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const answered = new Promise<BridgedAnswer>((resolve) => {
    response.write = ((chunk: unknown, encoding: unknown) => {
      keep(chunk, encoding);
      return true;
    }) as typeof response.write;
    response.end = ((chunk: unknown, encoding: unknown) => {
      keep(chunk, encoding);
      Object.assign(response, { finished: true });
      resolve({ status: response.statusCode, headers: response.getHeaders(), body: Buffer.concat(chunks) });
      response.emit("finish");
      response.emit("close");
      return response;
    }) as typeof response.end;
  });
  return { response, answered };
}
