import type { SpanFact } from "../../core/ports/tracing.ts";

/**
 * Names of the attributes on the wire: the semantic conventions for MCP and GenAI, and those for HTTP and databases.
 * The former have the status "Development", so they may change. This table and its switch are the only places to
 * update. `previous` has the names that conventions and instrumentations used before; an absent name is the same in
 * both. Names with the prefix `toolyard.` are defined by this program.
 */
const CURRENT: Readonly<Record<SpanFact, string>> = {
  method: "mcp.method.name",
  tool: "gen_ai.tool.name",
  prompt: "gen_ai.prompt.name",
  resource: "mcp.resource.uri",
  operation: "gen_ai.operation.name",
  requestId: "jsonrpc.request.id",
  protocolVersion: "mcp.protocol.version",
  transport: "network.transport",
  protocol: "network.protocol.name",
  source: "toolyard.source",
  sourceKind: "toolyard.source.kind",
  endpoint: "toolyard.endpoint",
  outcome: "toolyard.outcome",
  errorType: "error.type",
  rpcCode: "rpc.response.status_code",
  attempts: "toolyard.attempts",
  arguments: "gen_ai.tool.call.arguments",
  result: "gen_ai.tool.call.result",
  stage: "toolyard.stage",
  httpMethod: "http.request.method",
  httpRoute: "http.route",
  httpStatus: "http.response.status_code",
  model: "gen_ai.request.model",
  provider: "gen_ai.provider.name",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  finishReason: "gen_ai.response.finish_reasons",
  agentStep: "toolyard.agent.step",
  stopReason: "toolyard.agent.stop_reason",
  storeSystem: "db.system.name",
  storeOperation: "db.operation.name",
};

const PREVIOUS: Readonly<Partial<Record<SpanFact, string>>> = {
  tool: "mcp.tool.name",
  prompt: "mcp.prompt.name",
  requestId: "rpc.jsonrpc.request_id",
  rpcCode: "rpc.jsonrpc.error_code",
  arguments: "mcp.request.argument",
  result: "mcp.response.value",
  provider: "gen_ai.system",
  inputTokens: "gen_ai.usage.prompt_tokens",
  outputTokens: "gen_ai.usage.completion_tokens",
  storeSystem: "db.system",
  storeOperation: "db.operation",
};

/** Names of metrics, in both sets of conventions. */
export const METRIC_NAMES = {
  calls: "toolyard.calls",
  duration: "mcp.server.operation.duration",
  sourceUp: "toolyard.source.up",
  sourceRestarts: "toolyard.source.restarts",
  sourceTools: "toolyard.source.tools",
  active: "toolyard.calls.active",
  queued: "toolyard.calls.queued",
  sessions: "toolyard.sessions",
  streams: "toolyard.streams",
  sandboxRuns: "toolyard.sandbox.runs",
  auditLost: "toolyard.audit.lost",
  telemetryLost: "toolyard.telemetry.lost",
  memory: "process.memory.usage",
} as const;

export type Conventions = "current" | "previous";
export type FactNames = Readonly<Record<SpanFact, string>>;

/** All facts of spans, in the order in which a span holds their values. */
export const SPAN_FACTS = Object.keys(CURRENT) as readonly SpanFact[];

export function factNames(conventions: Conventions): FactNames {
  return conventions === "current" ? CURRENT : { ...CURRENT, ...PREVIOUS };
}
