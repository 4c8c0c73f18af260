// The own encoder against the official one of OpenTelemetry: the same input must give the same message.
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeRequest } from "../../../../../test/support/otlp-receiver.ts";
import { VERSION } from "../../core/version.ts";
import type { SharedFacts, SpanFact } from "../../core/ports/tracing.ts";
import { factNames, SPAN_FACTS } from "./names.ts";
import { OtlpBatch } from "./otlp-batch.ts";
import { RecordedSpan, type SpanPlace } from "./otlp-span.ts";
import { ProtoWriter } from "./proto-writer.ts";
import { readRejection } from "./rejection.ts";
import { SpanWriter } from "./span-writer.ts";

const KINDS = { internal: 0, server: 1, client: 2 } as const;
const NAMES = factNames("current");
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => Buffer.from(array).toString("hex"))
    .filter((text) => /[^0]/.test(text));

interface SpanInput {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly kind: keyof typeof KINDS;
  readonly name: string;
  readonly tracestate: string | undefined;
  readonly isError: boolean;
  readonly values: readonly (readonly [SpanFact, string | number])[];
  /** Number of values, from the first one, that are shared facts of the place; the same from the last one. */
  readonly placeCount: number;
  readonly subjectCount: number;
  readonly startMs: number;
  readonly lastsMs: number;
}

const span: fc.Arbitrary<SpanInput> = fc.record({
  traceId: hex(16),
  spanId: hex(8),
  parentId: fc.option(hex(8), { nil: undefined }),
  kind: fc.constantFrom("internal", "server", "client"),
  name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 }),
  tracestate: fc.option(fc.stringMatching(/^[a-z]{1,8}=[a-z]{1,8}$/), { nil: undefined }),
  isError: fc.boolean(),
  values: fc.uniqueArray(
    fc.tuple(
      fc.constantFrom(...SPAN_FACTS.filter((fact) => fact !== "requestId")),
      fc.oneof(
        fc.string({ unit: "grapheme", maxLength: 200 }),
        fc.string({ minLength: 120, maxLength: 135 }),
        fc.maxSafeNat(),
        fc.double({ noNaN: true, noInteger: true }),
      ),
    ),
    { selector: ([fact]) => fact, maxLength: 12 },
  ),
  placeCount: fc.nat(4),
  subjectCount: fc.nat(6),
  startMs: fc.nat(10_000_000),
  lastsMs: fc.nat(100_000),
});

function officialBytes(inputs: readonly SpanInput[], originMs: number): Uint8Array {
  const resource = { attributes: { "service.name": "tools" } };
  const instrumentationScope = { name: "toolyard", version: VERSION };
  const spans = inputs.map((input) => ({
    name: input.name,
    kind: KINDS[input.kind],
    spanContext: () => ({
      traceId: input.traceId,
      spanId: input.spanId,
      traceFlags: 1,
      // The hub starts a new trace without a state, even if the caller sent one.
      ...(input.tracestate !== undefined &&
        input.parentId !== undefined && { traceState: { serialize: () => input.tracestate } }),
    }),
    parentSpanContext:
      input.parentId === undefined
        ? undefined
        : { traceId: input.traceId, spanId: input.parentId, isRemote: input.kind === "server" },
    startTime: hrTime(originMs + input.startMs),
    endTime: hrTime(originMs + input.startMs + input.lastsMs),
    attributes: Object.fromEntries(input.values.map(([fact, value]) => [NAMES[fact], value])),
    status: { code: input.isError ? 2 : 0 },
    events: [],
    links: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    resource,
    instrumentationScope,
  }));
  return ProtobufTraceSerializer.serializeRequest(spans as never)!;
}

function hrTime(epochMs: number): [number, number] {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}

function messageOf(bytes: Uint8Array): unknown {
  const [{ resource, scopes }] = decodeRequest("traces", bytes).resources;
  const items = scopes[0].items.map(({ status, attributes, ...item }: DecodedSpan) => ({
    ...item,
    // The order of attributes has no meaning.
    attributes: attributes?.toSorted((one, other) => (one.key < other.key ? -1 : 1)),
    status: status?.code ?? 0,
  }));
  return { resource, scope: scopes[0].scope, items };
}

interface DecodedSpan {
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly { readonly key: string }[];
}

const SETTINGS = { redact: String, redactName: String, onEnd: () => {} };
const PARTS = { names: NAMES, redact: String, redactName: String, secretsVersion: () => 0 };

function ownBytes(inputs: readonly SpanInput[], writer: SpanWriter): Uint8Array {
  const batch = new OtlpBatch({ "service.name": "tools" });
  for (const { values, name, isError, startMs, lastsMs, kind, ...input } of inputs) {
    const recorded = new RecordedSpan(name, placeOf({ ...input, kind }), { settings: SETTINGS, startMs });
    const [placeEnd, subjectStart] = [input.placeCount, Math.max(input.placeCount, values.length - input.subjectCount)];
    recorded.facts = sharedFacts(values.slice(0, placeEnd));
    recorded.describe(sharedFacts(values.slice(subjectStart)));
    for (const [fact, value] of values.slice(placeEnd, subjectStart)) recorded.set(fact, value);
    recorded.isError = isError;
    recorded.endMs = startMs + lastsMs;
    const at = batch.begin();
    writer.write(batch.writer, recorded);
    batch.end(at);
  }
  return batch.take();
}

type PlaceInput = Pick<SpanInput, "traceId" | "spanId" | "parentId" | "kind" | "tracestate">;

function placeOf({ traceId, spanId, parentId, kind, tracestate }: PlaceInput): SpanPlace {
  return {
    traceparent: `00-${traceId}-${spanId}-01`,
    parent: parentId === undefined ? undefined : `00-${traceId}-${parentId}-01`,
    kind,
    meta: tracestate === undefined ? {} : { tracestate },
  };
}

function sharedFacts(values: SpanInput["values"]): SharedFacts {
  return { values: Object.fromEntries(values) };
}

describe("encoded spans", () => {
  const writer = new SpanWriter(PARTS);
  const originMs = 1_790_000_000_000;
  writer.setClock(originMs);

  /** Compares messages, because the official encoder writes fields with default values too. */
  const expectSame = (inputs: readonly SpanInput[]): void =>
    expect(messageOf(ownBytes(inputs, writer))).toEqual(messageOf(officialBytes(inputs, originMs)));

  test("equal those of the official encoder for any spans", () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 4 }), (inputs) => void expectSame(inputs)),
      {
        numRuns: 300,
        endOnFailure: true,
      },
    );
  });

  test("equal those of the official encoder for lone surrogates and at each boundary of a length", () => {
    const [base] = fc.sample(span, { seed: 1, numRuns: 1 });
    for (const length of [0, 1, 62, 63, 64, 100, 126, 127, 128, 129, 16_383, 16_384, 16_385, 2_097_153])
      for (const letter of ["a", "é", "\uD800"]) {
        for (const counts of [
          { placeCount: 0, subjectCount: 0 },
          { placeCount: 1, subjectCount: 0 },
        ])
          expectSame([{ ...base!, ...counts, values: [["stage", letter.repeat(length)]] }]);
      }
  });
});

test("shared facts are encoded again after a change of the secrets", () => {
  let version = 0;
  const redact = (text: string): string => (version === 0 ? text : text.replaceAll("canary", "[redacted]"));
  const writer = new SpanWriter({ names: NAMES, redact, redactName: redact, secretsVersion: () => version });
  const subject: SharedFacts = { name: "tools/call canary", values: { tool: "canary", stage: "canary-stage" } };
  const textOf = (): string => {
    const recorded = new RecordedSpan("x", placeOf(fc.sample(span, { seed: 2, numRuns: 1 })[0]!), {
      settings: SETTINGS,
    });
    recorded.describe(subject);
    recorded.end();
    const target = new ProtoWriter(64);
    writer.write(target, recorded);
    return Buffer.from(target.bytesFrom(0)).toString("latin1");
  };
  expect([textOf(), textOf()].map((text) => text.split("canary").length - 1)).toEqual([3, 3]);
  version = 1;
  const text = textOf();
  expect(text.split("[redacted]").length - 1).toBe(2);
  // The stage is no text of a caller, so it is not changed.
  expect(text.split("canary").length - 1).toBe(1);
});

test.each([
  [1_700_000_000_000, 1_700_000_000_000_000_000n],
  [1_700_000_000_123.5, 1_700_000_000_123_500_000n],
  [0, 0n],
  [4_102_444_799_999, 4_102_444_799_999_000_000n],
])("writes the time %d ms as nanoseconds", (epochMs, nanoseconds) => {
  const writer = new ProtoWriter(64);
  writer.time(7, epochMs);
  expect(Buffer.from(writer.bytesFrom(0)).readBigUInt64LE(1)).toBe(nanoseconds);
});

describe("readRejection", () => {
  const answer = (count: number, reason: string): Uint8Array => {
    const writer = new ProtoWriter(256);
    const at = writer.begin(1);
    writer.integer(1, count);
    if (reason !== "") writer.text(2, reason);
    writer.end(at);
    return writer.bytesFrom(0);
  };

  test("returns the number of refused items and the message", () => {
    expect(readRejection(answer(70_000, "too old"))).toEqual({ count: 70_000, reason: "too old" });
    expect(readRejection(answer(1, ""))).toEqual({ count: 1, reason: "" });
  });

  test.each<[string, Uint8Array]>([
    ["an empty answer", new Uint8Array()],
    ["a partial success without refused items", answer(0, "slow down")],
    ["JSON", Buffer.from('{"partialSuccess":{"rejectedSpans":"3"}}')],
    ["HTML", Buffer.from("<html>ok</html>")],
    ["a truncated message", answer(5, "too old").subarray(0, 4)],
    ["endless continuation bytes", new Uint8Array(200).fill(255)],
  ])("returns no refused items for %s", (_name, bytes) => {
    expect(readRejection(bytes)).toEqual({ count: 0, reason: "" });
  });
});
