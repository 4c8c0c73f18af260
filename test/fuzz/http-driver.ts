import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { createRandom, type Random } from "../support/random.ts";
import { cut, makeCase, type Era, type FuzzCase } from "./cases.ts";
import { compare, expectedOf, type ExpectedReplies, type Id } from "./oracle.ts";

/** Time after which a request counts as unanswered. */
const PATIENCE_MS = 20_000;
const WORKERS = 8;
/** 403 is the answer to an `Origin` that differs from the request's `Host`, which some of the requests have. */
const STATUSES = new Set([200, 202, 400, 403, 404, 406, 413, 415]);
const HEADER_WORDS = [
  "",
  "2025-11-25",
  "2026-07-28",
  "zzz",
  "=?base64?!?=",
  "tools/call",
  "application/json",
  "text/event-stream",
  "a".repeat(200),
  "ÿ",
];
const HEADER_NAMES = [
  "content-type",
  "accept",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-param-x",
  "mcp-session-id",
  "x-mcp-tool-mode",
  "last-event-id",
  "origin",
];

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** Posts a body, whole or in pieces. */
export async function post(
  url: string,
  pieces: readonly Buffer[],
  headers: Record<string, string>,
  agent?: Agent,
): Promise<HttpAnswer> {
  const request = httpRequest(url, { method: "POST", headers, ...(agent && { agent }) });
  const timer = setTimeout(() => request.destroy(new Error(`No answer within ${PATIENCE_MS} ms.`)), PATIENCE_MS);
  try {
    const answered = once(request, "response") as Promise<[IncomingMessage]>;
    // `answered` reports the error. Bytes that cannot be written any more belong to a refused request.
    request.on("error", () => {});
    for (const piece of pieces) request.write(piece);
    request.end();
    const [response] = await answered;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
  } finally {
    clearTimeout(timer);
  }
}

/** Returns all messages of a response, as JSON or as a stream. */
export function messagesOf({ headers, text }: HttpAnswer): JsonObject[] {
  const isStream = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const texts = isStream
    ? text.split("\n").flatMap((line) => (line.startsWith("data: ") && line.length > 6 ? [line.slice(6)] : []))
    : [text];
  return texts.filter((one) => one.startsWith("{") || one.startsWith("[")).flatMap((one) => parseMessages(one));
}

/** Returns one message, or those of a batch. */
export function parseMessages(text: string): JsonObject[] {
  const value = JSON.parse(text) as JsonObject | JsonObject[];
  return Array.isArray(value) ? value : [value];
}

export const replyIds = (messages: readonly JsonObject[]): Id[] =>
  messages.filter((message) => !("method" in message)).map(({ id }) => id as Id);

/** Streamable HTTP in both eras; legacy cases share a session of a revision that has batches. */
export class HttpDriver {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
  #session = "";

  constructor(url: string) {
    this.#url = url;
  }

  /** Runs the cases of a seed. Rejects with the first case that was not answered correctly. */
  async run(cases: number, seed: number): Promise<void> {
    await this.#openSession();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < cases) {
        next += 1;
        await this.#runCase(seed + next);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
  }

  close(): void {
    this.#agent.destroy();
  }

  async #openSession(): Promise<void> {
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "f", version: "1" } };
    const answer = await post(
      this.#url,
      [Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }))],
      JSON_HEADERS,
      this.#agent,
    );
    this.#session = String(answer.headers["mcp-session-id"]);
  }

  async #runCase(seed: number): Promise<void> {
    const random = createRandom(seed);
    const era = random.pick<Era>(["legacy", "modern"]);
    const made = makeCase(era, seed, random);
    if (random.below(50) === 0) return this.#giveUp(made, random);
    if (random.below(50) === 0) return this.#sendGarbage(made, random);
    const headers = this.#headers(made, random);
    const isWhole = random.below(4) > 0;
    const pieces = isWhole ? [made.bytes] : cut(made.bytes, random);
    const length = isWhole || random.below(2) === 0 ? { "content-length": String(made.bytes.length) } : {};
    const where = `seed ${seed}: ${made.bytes.toString().slice(0, 400)}`;
    const answer = await post(this.#url, pieces, { ...headers, ...length }, this.#agent).catch((error: unknown) => {
      throw new Error(`No answer, ${where}`, { cause: error });
    });
    const problem = judge(answer, made.bytes);
    if (problem !== undefined)
      throw new Error(
        `${problem}, ${where} with ${JSON.stringify(headers).slice(0, 400)} → ${answer.status} ` +
          `${answer.text.slice(0, 400)}`,
      );
  }

  /** Disconnects in the middle of a request. */
  async #giveUp({ bytes }: FuzzCase, random: Random): Promise<void> {
    const request = httpRequest(this.#url, {
      method: "POST",
      headers: { ...JSON_HEADERS, "content-length": String(bytes.length + 10) },
      agent: false,
    });
    const gone = new Promise((resolve) => request.once("close", resolve));
    request.on("error", () => {});
    request.write(bytes.subarray(0, random.below(bytes.length + 1)), () => request.destroy());
    await gone;
  }

  /** Sends bytes that are not valid HTTP. */
  async #sendGarbage({ bytes }: FuzzCase, random: Random): Promise<void> {
    const { hostname, port, pathname } = new URL(this.#url);
    const head =
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes.length}\r\n\r\n`;
    const text = Buffer.concat([Buffer.from(head), bytes]);
    for (let times = 0; times < 3; times += 1) text[random.below(head.length)] = random.below(256);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {}).on("data", () => {});
    const timer = setTimeout(() => socket.destroy(new Error("not closed")), PATIENCE_MS);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.end(text);
    await closed;
    clearTimeout(timer);
  }

  #headers({ era, sample }: FuzzCase, random: Random): Record<string, string> {
    const { name, uri } = sample.params;
    const target = name ?? uri;
    const own: Record<string, string> =
      era === "legacy"
        ? { "mcp-session-id": this.#session }
        : {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": sample.method,
            ...(target !== undefined && { "mcp-name": String(target) }),
          };
    const headers = { ...JSON_HEADERS, ...own };
    if (random.below(4) > 0) return headers;
    const broken = random.pick(HEADER_NAMES);
    return { ...headers, [broken]: broken === "origin" ? "http://localhost" : random.pick(HEADER_WORDS) };
  }
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Returns the fault of an answer, if any. */
export function judge(answer: HttpAnswer, body: Buffer): string | undefined {
  const { status } = answer;
  if (!STATUSES.has(status)) return `An unexpected status ${status}`;
  const messages = messagesOf(answer);
  const ids = replyIds(messages);
  const expected: ExpectedReplies = isUtf8(body) ? expectedOf(body.toString()) : { requests: [], invalid: [null] };
  if (status === 202) return ids.length > 0 ? "A reply with 202" : compare(expected, []);
  if (status === 200) return compare(expected, ids);
  // The whole message was refused: one error, without an id or with the request's id.
  const [error, ...more] = messages;
  if (!error || more.length > 0 || !isJsonObject(error["error"])) return `${messages.length} messages in a refusal`;
  const known: readonly unknown[] = [...expected.requests, ...expected.invalid, null];
  return known.includes(error["id"]) || error["id"] === undefined ? undefined : "The id of another request";
}
