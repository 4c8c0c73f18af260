import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { memoryConnection } from "./memory-socket.ts";

const { request: httpRequest } = process.getBuiltinModule("node:http");

/**
 * Answers a standard `Request`. Rejects with the signal's reason when that aborts before the head of the answer is
 * there.
 */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A listener behind `fetch`, for frameworks and runtimes that hand out a `Request`. Each goes over a connection within
 * this program to the very server that sockets reach, so every check and bound holds, and streams are as slow as their
 * reader.
 */
export function createFetchHandler(adopt: (socket: Socket) => void): FetchHandler {
  return (request) =>
    new Promise((resolve, reject) => {
      const { signal } = request;
      if (signal.aborted) return reject(reasonOf(signal));
      const [near, far] = memoryConnection();
      // Node's server takes any duplex stream for a connection; its type says a socket.
      adopt(far as unknown as Socket);
      const outgoing = httpRequest(request.url, {
        method: request.method,
        headers: headersOf(request),
        createConnection: () => near,
      });
      const onAbort = (): void => {
        reject(reasonOf(signal));
        outgoing.destroy();
        near.destroy();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      near.once("close", () => signal.removeEventListener("abort", onAbort));
      outgoing.on("error", reject);
      outgoing.once("response", (incoming) => resolve(toResponse(incoming)));
      sendBody(request, outgoing);
    });
}

function sendBody(request: Request, outgoing: ClientRequest): void {
  if (!request.body) return void outgoing.end();
  const body = Readable.fromWeb(request.body as ReadableStream<Uint8Array>);
  body.on("error", (error) => outgoing.destroy(error));
  // Whoever refuses a body answers before it is whole.
  outgoing.once("close", () => body.destroy());
  body.pipe(outgoing);
}

function headersOf({ headers, url }: Request): Record<string, string> {
  const sent: Record<string, string> = { host: new URL(url).host };
  for (const [name, value] of headers) if (!HOP_BY_HOP.has(name)) sent[name] = value;
  return sent;
}

function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 500, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers.append(name, rawHeaders[at + 1]!);
  }
  if (NO_BODY.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(incoming) as unknown as ConstructorParameters<typeof Response>[0], {
    status,
    headers,
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("The request was given up.", { cause: reason });
}

/** What is about one connection, which callers do not share with the listener here. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
