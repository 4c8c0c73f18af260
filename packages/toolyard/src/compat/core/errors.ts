import { toolNotFound } from "../../endpoints/jsonrpc/failure.ts";

/**
 * Errors of the core server (G63). `code` and `data` are those of the JSON-RPC error sent to a caller. A tool may throw
 * an `MCPError` to choose them.
 */
export class MCPError extends Error {
  readonly code: number;
  readonly data: unknown;

  // oxlint-disable-next-line max-params -- A public signature, in the order of the members that a JSON-RPC error has.
  constructor(message: string, code = -32_000, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.data = data;
  }
}

export class MCPToolNotFoundError extends MCPError {
  constructor(toolName: string) {
    super(toolNotFound(toolName), -32_601, toolNotFound(toolName));
  }
}

export class MCPResourceNotFoundError extends MCPError {
  constructor(uri: string) {
    super(`Resource '${uri}' not found.`, -32_601, `Resource '${uri}' not found.`);
  }
}

export class MCPInvalidParamsError extends MCPError {
  constructor(message: string, details?: unknown) {
    super(message, -32_602, details);
  }
}

export class MCPToolExecutionError extends MCPError {
  constructor(toolName: string, original: unknown) {
    const words = original instanceof Error ? original.message : String(original);
    super(`Error executing tool '${toolName}': ${words}`, -32_000, words, { cause: original });
  }
}

export class MCPSDKNotFoundError extends MCPError {
  constructor(message = "MCP SDK not found or failed to initialize.") {
    super(message, -32_001);
  }
}
