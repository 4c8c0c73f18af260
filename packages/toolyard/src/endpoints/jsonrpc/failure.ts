import { KINDS } from "../../core/calls/kinds.ts";
import { stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Fail, RpcErrorObject } from "../../core/calls/outcome.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Target of a call, as its caller spelled it. */
export type FailedTarget = { readonly tool: string } | { readonly uri: string };

/**
 * Converts a failure to an error of the dialect (G60 to G64). The code comes from the table of outcome codes, the text
 * is fixed. All errors of the dialect are converted here; `MCP` of the core server throws the same ones.
 */
export function dialectError(failure: Fail, target: FailedTarget): RpcErrorObject {
  switch (failure.kind) {
    case "unknown_tool":
      return "uri" in target ? resourceNotFound(target.uri) : methodNotFound(target.tool);
    case "tool_error":
      return ownError(failure) ?? executionError(failure, target);
    case "invalid_params":
      return ownError(failure) ?? withData(failure, failure.details?.["errors"]);
    case "internal":
      return { code: KINDS.internal.jsonrpc, message: `Internal error: ${failure.message}` };
    default:
      return withData(failure, facts(failure));
  }
}

export function methodNotFound(tool: string): RpcErrorObject {
  return { code: KINDS.unknown_tool.jsonrpc, message: "Method not found", data: toolNotFound(tool) };
}

export function toolNotFound(tool: string): string {
  return `Tool '${shown(tool)}' not found.`;
}

function resourceNotFound(uri: string): RpcErrorObject {
  const message = `Resource '${shown(uri)}' not found.`;
  return { code: KINDS.unknown_tool.jsonrpc, message, data: message };
}

/**
 * Returns the error if the tool itself set its code and text. A tool may also use codes that JSON-RPC reserves for
 * servers.
 */
function ownError({ kind, rpcError }: Fail): RpcErrorObject | undefined {
  if (!rpcError) return undefined;
  const isServerCode = rpcError.code >= -32_099 && rpcError.code <= -32_000;
  return { ...rpcError, code: isServerCode ? rpcError.code : KINDS[kind].jsonrpc };
}

function executionError(failure: Fail, target: FailedTarget): RpcErrorObject {
  const original = stringMember(failure.details ?? {}, "error") ?? failure.message;
  const what =
    "uri" in target
      ? `Error retrieving resource '${shown(target.uri)}'`
      : `Error executing tool '${shown(target.tool)}'`;
  return { code: KINDS.tool_error.jsonrpc, message: `${what}: ${original}`, data: original };
}

function withData({ kind, message }: Fail, data: unknown): RpcErrorObject {
  const { jsonrpc: code } = KINDS[kind];
  return data === undefined ? { code, message } : { code, message, data };
}

/** Returns the error data. All failures of the hub share one JSON-RPC code, so the data contain the outcome code. */
function facts({ kind, retryable, retryAfterMs, details }: Fail): JsonObject {
  const { candidates, signIn, timeoutMs } = details ?? {};
  const told = Object.entries({ retryAfterMs, candidates, signIn, timeoutMs }).filter(
    ([, value]) => value !== undefined,
  );
  return { kind, retryable, ...Object.fromEntries(told) };
}

function shown(word: string): string {
  return word.length > MAX_QUOTED ? `${firstChars(word, MAX_QUOTED)}…` : word;
}

/** Maximum length in characters of a caller's text that an error quotes. */
const MAX_QUOTED = 200;
