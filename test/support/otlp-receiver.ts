// An OTLP/HTTP collector for tests. It decodes protobuf by the field numbers of opentelemetry-proto 1.x, without the
// product's encoder.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { once } from "node:events";

type Wire = "string" | "bytes" | "double" | "fixed64" | "fixed32" | "varint" | "packed64" | Shape;
/** Fields of a message by number: name, type, and whether the field repeats. */
interface Shape {
  readonly [field: number]: readonly [name: string, type: Wire, repeats?: "*"];
}

const ANY: Shape = { 1: ["string", "string"], 2: ["bool", "varint"], 3: ["int", "varint"], 4: ["double", "double"] };
const PAIR: Shape = { 1: ["key", "string"], 2: ["value", ANY] };
const RESOURCE: Shape = { 1: ["attributes", PAIR, "*"] };
const SCOPE: Shape = { 1: ["name", "string"], 2: ["version", "string"] };
const SPAN: Shape = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["tracestate", "string"],
  4: ["parentId", "bytes"],
  5: ["name", "string"],
  6: ["kind", "varint"],
  7: ["start", "fixed64"],
  8: ["end", "fixed64"],
  9: ["attributes", PAIR, "*"],
  15: ["status", { 3: ["code", "varint"] }],
  16: ["flags", "fixed32"],
};
const LOG: Shape = {
  1: ["time", "fixed64"],
  2: ["severity", "varint"],
  5: ["body", ANY],
  6: ["attributes", PAIR, "*"],
};
const NUMBER_POINT: Shape = { 7: ["attributes", PAIR, "*"], 4: ["double", "double"], 6: ["int", "fixed64"] };
const HISTOGRAM_POINT: Shape = {
  9: ["attributes", PAIR, "*"],
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["buckets", "packed64"],
};
const POINTS = (shape: Shape): Shape => ({ 1: ["points", shape, "*"] });
const METRIC: Shape = {
  1: ["name", "string"],
  3: ["unit", "string"],
  5: ["gauge", POINTS(NUMBER_POINT)],
  7: ["sum", POINTS(NUMBER_POINT)],
  9: ["histogram", POINTS(HISTOGRAM_POINT)],
};
const request = (item: Shape): Shape => ({
  1: [
    "resources",
    { 1: ["resource", RESOURCE], 2: ["scopes", { 1: ["scope", SCOPE], 2: ["items", item, "*"] }, "*"] },
    "*",
  ],
});
const REQUESTS = { traces: request(SPAN), logs: request(LOG), metrics: request(METRIC) } as const;
type Signal = keyof typeof REQUESTS;

/** Decodes a request of a signal. */
export function decodeRequest(signal: Signal, bytes: Uint8Array): Message {
  return decode(Buffer.from(bytes), REQUESTS[signal]);
}

// Messages of any type, which the tests read by name.
// oxlint-disable-next-line typescript/no-explicit-any
type Message = any;

function decode(bytes: Buffer, shape: Shape): Message {
  const message: Record<string, unknown> = {};
  for (const [name, , repeats] of Object.values(shape)) if (repeats) message[name] = [];
  for (let at = 0; at < bytes.length;) {
    const [tag, afterTag] = varint(bytes, at);
    const wire = tag & 7;
    let length = wire === 1 ? 8 : wire === 5 ? 4 : 0;
    let from = afterTag;
    if (wire === 2) [length, from] = varint(bytes, afterTag);
    if (wire === 0) length = varint(bytes, from)[1] - from;
    const field = shape[tag >> 3];
    if (field) {
      const value = valueOf(bytes.subarray(from, from + length), field[1]);
      if (field[2]) (message[field[0]] as unknown[]).push(value);
      else message[field[0]] = value;
    }
    at = from + length;
  }
  return message;
}

function valueOf(bytes: Buffer, type: Wire): unknown {
  if (typeof type === "object") return decode(bytes, type);
  if (type === "string") return bytes.toString("utf8");
  if (type === "bytes") return bytes.toString("hex");
  if (type === "double") return bytes.readDoubleLE();
  if (type === "fixed64") return Number(bytes.readBigUInt64LE());
  if (type === "fixed32") return bytes.readUInt32LE();
  if (type === "packed64")
    return Array.from({ length: bytes.length / 8 }, (_, index) => Number(bytes.readBigUInt64LE(index * 8)));
  return varint(bytes, 0)[0];
}

function varint(bytes: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  for (let at = from, unit = 1; ; at += 1, unit *= 128) {
    value += (bytes[at]! & 127) * unit;
    if (bytes[at]! < 128) return [value, at + 1];
  }
}

export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly status: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

export function pairs(list: Message[]): Record<string, string | number> {
  return Object.fromEntries(
    list.map(({ key, value }) => [key, value.string ?? value.int ?? value.double ?? value.bool]),
  );
}

export class OtlpReceiver {
  readonly #server: Server;
  readonly spans: ReceivedSpan[] = [];
  readonly logs: { readonly body: string; readonly severity: number; readonly attributes: Record<string, unknown> }[] =
    [];
  readonly metrics: Message[] = [];
  readonly requests: { readonly path: string; readonly headers: Record<string, unknown> }[] = [];
  /** Every byte that arrived, as text. */
  everything = "";
  /** Status of the next answers. */
  status = 200;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server);
    server.on("request", (incoming, answer) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const whole = Buffer.concat(chunks);
        const body = incoming.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole;
        receiver.requests.push({ path: incoming.url ?? "", headers: incoming.headers });
        answer.statusCode = receiver.status;
        if (receiver.status === 200) receiver.#take(incoming.url?.split("/").at(-1) as Signal, body);
        answer.end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #take(signal: Signal, body: Buffer): void {
    this.everything += body.toString("latin1");
    for (const { resource, scopes } of decodeRequest(signal, body).resources)
      for (const { items } of scopes) for (const item of items) this.#add(signal, item, pairs(resource.attributes));
  }

  #add(signal: Signal, item: Message, resource: Record<string, string | number>): void {
    if (signal === "metrics") this.metrics.push(item);
    else if (signal === "logs")
      this.logs.push({ body: item.body.string, severity: item.severity, attributes: pairs(item.attributes) });
    else {
      const { traceId, spanId, parentId = "", name, kind, status, attributes } = item;
      const service = String(resource["service.name"]);
      this.spans.push({
        service,
        traceId,
        spanId,
        parentId,
        name,
        kind,
        status: status?.code ?? 0,
        attributes: pairs(attributes),
      });
    }
  }
}
