import type { Fail } from "../../core/calls/outcome.ts";
import { dialectError, type FailedTarget } from "../../endpoints/jsonrpc/failure.ts";
import {
  MCPError,
  MCPInvalidParamsError,
  MCPResourceNotFoundError,
  MCPToolExecutionError,
  MCPToolNotFoundError,
} from "./errors.ts";

/** Converts a failed call to its error, with the same code, message and data as in the protocol. */
export function toMcpError(failure: Fail, target: FailedTarget): MCPError {
  const { code, message, data } = dialectError(failure, target);
  switch (failure.kind) {
    case "unknown_tool":
      return "uri" in target ? new MCPResourceNotFoundError(target.uri) : new MCPToolNotFoundError(target.tool);
    case "invalid_params":
      return new MCPInvalidParamsError(message, data);
    case "tool_error":
      if ("tool" in target && !failure.rpcError) return new MCPToolExecutionError(target.tool, data);
  }
  return new MCPError(message, code, data, failure.cause === undefined ? undefined : { cause: failure.cause });
}
