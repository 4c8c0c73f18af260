import { isReadOnly } from "../../packages/toolyard/src/core/calls/effects.ts";
import { supposedName } from "../../packages/toolyard/src/core/ports/rights.ts";
import { LOCAL_PRINCIPAL, type Call } from "../../packages/toolyard/src/core/calls/call.ts";
import { Emitter } from "../../packages/toolyard/src/core/events.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { fail, ok, type Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import type { AuditLine } from "../../packages/toolyard/src/core/ports/audit.ts";
import type { Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { ListingShape } from "../../packages/toolyard/src/core/sources/listing-shape.ts";
import type { Provider, ResolvedCall } from "../../packages/toolyard/src/core/sources/provider.ts";
import type { ProviderKind } from "../../packages/toolyard/src/core/sources/provider-kinds.ts";
import {
  EMPTY_LISTING,
  type Problem,
  type Source,
  type ToolRecord,
} from "../../packages/toolyard/src/core/sources/records.ts";
import { Breakers } from "../../packages/toolyard/src/pipeline/breakers.ts";
import { resolveLimits, type LimitsConfig } from "../../packages/toolyard/src/pipeline/options.ts";
import { createPipeline } from "../../packages/toolyard/src/pipeline/pipeline.ts";
import type { FoundCall, PipelineDeps, Resolution } from "../../packages/toolyard/src/pipeline/ports.ts";
import type { LimitStore } from "../../packages/toolyard/src/state/ports/limit-store.ts";
import { createTestState } from "../fixtures/mcp-endpoint.ts";
import { GuardedSchemas } from "../../packages/toolyard/src/schema/guarded-schemas.ts";

export type Handler = (call: ResolvedCall) => Promise<Outcome> | Outcome;

export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly facts: JsonObject;
}

export interface Harness {
  call(target: string, args?: JsonObject, more?: Partial<Call>): Promise<Outcome>;
  readonly audit: AuditLine[];
  readonly log: LogEntry[];
  readonly problems: Problem[];
  readonly store: LimitStore;
}

export interface HarnessOptions {
  readonly limits?: LimitsConfig;
  readonly deps?: Partial<PipelineDeps>;
}

/** A pipeline with the given targets; all other parts are real. */
export function createHarness(
  targets: Readonly<Record<string, FoundCall>>,
  { limits = {}, deps = {} }: HarnessOptions = {},
): Harness {
  const audit: AuditLine[] = [];
  const log: LogEntry[] = [];
  const problems: Problem[] = [];
  const options = resolveLimits(limits);
  const store = createTestState().limits;
  const pipeline = createPipeline({
    resolve: ({ target }) => find(targets, target),
    limitStore: store,
    breakers: new Breakers(options.breaker),
    audit: { write: (line) => void audit.push(line), record: () => {} },
    logger: loggerInto(log, {}),
    options,
    schemas: new GuardedSchemas(),
    onProblem: (problem) => void problems.push(problem),
    ...deps,
  });
  return { call: (target, args, more) => pipeline(callTo(target, args, more)), audit, log, problems, store };
}

function find(targets: Readonly<Record<string, FoundCall>>, name: string): Resolution {
  return (
    targets[name] ?? {
      found: false,
      failure: fail("unknown_tool", `Unknown tool: ${name}.`, { details: { near: [] } }),
    }
  );
}

function loggerInto(log: LogEntry[], always: JsonObject): Logger {
  const at =
    (level: string) =>
    (message: string, facts: JsonObject = {}) =>
      void log.push({ level, message, facts: { ...always, ...facts } });
  return {
    debug: at("debug"),
    info: at("info"),
    warning: at("warning"),
    error: at("error"),
    with: (facts) => loggerInto(log, { ...always, ...facts }),
  };
}

let lastId = 0;

export function callTo(target: string, args: JsonObject = {}, more: Partial<Call> = {}): Call {
  lastId += 1;
  return {
    id: `call-${lastId}`,
    endpoint: "test",
    method: "tools/call",
    target,
    params: {},
    arguments: args,
    meta: {},
    principal: LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: {} },
    signal: new AbortController().signal,
    wants: { progress: false },
    notify: () => {},
    ask: () => Promise.resolve({}),
    relaysInput: false,
    ...more,
  };
}

export interface ToolOptions extends Partial<Omit<ToolRecord, "source" | "name">> {
  readonly kind?: ProviderKind;
  readonly sourceId?: string;
  readonly shape?: ListingShape;
}

/** Builds a tool with `handler` as its provider. */
export function toolFrom(
  name: string,
  handler: Handler,
  { kind = "stdio", sourceId = "files", shape, ...more }: ToolOptions = {},
): FoundCall {
  const source: Source = { id: sourceId, kind, namespace: sourceId, order: 0, ...(shape && { shape }) };
  const tool: ToolRecord = {
    source,
    name,
    description: name,
    inputSchema: { type: "object" },
    keywords: [],
    visibility: "native",
    definition: { name },
    ...more,
  };
  const target = { type: "tool", tool } as const;
  const supposed = supposedName({ namespace: sourceId, separator: "__", source: sourceId }, name);
  return {
    found: true,
    name: supposed.name,
    subject: { ...supposed, isReadOnly: isReadOnly(target), isDiscovery: tool.role === "discovery" },
    target,
    provider: providerFrom(source, handler),
  };
}

export function providerFrom(source: Source, handler: Handler): Provider {
  return {
    source,
    events: { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() },
    open: () => {},
    listing: () => EMPTY_LISTING,
    call: async (call) => handler(call),
    status: () => ({ state: "ready" }),
    close: async () => {},
  };
}

export function text(words: string): Outcome {
  return ok({ content: [{ type: "text", text: words }] });
}

/** Never resolves, and ignores its signal. */
export function never(): Promise<Outcome> {
  return new Promise(() => {});
}
