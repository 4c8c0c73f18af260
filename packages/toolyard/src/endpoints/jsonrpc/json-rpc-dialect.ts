import { nextCallId } from "../../core/calls/call-id.ts";
import type { CallMethod } from "../../core/calls/call.ts";
import { internalFailureText, FailError, messageOf } from "../../core/errors.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { isReservedMethod } from "../../core/names/method-names.ts";
import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { resourceValue, toolValue } from "../../core/calls/tool-value.ts";
import type { Dialect, DialectAnswer, DialectContext, DialectRequest } from "../dialect.ts";
import { BuiltCall } from "../../core/calls/built-call.ts";
import { readCapabilities } from "./capabilities.ts";
import { dialectError, type FailedTarget } from "./failure.ts";

export interface JsonRpcDeps {
  readonly hub: Pick<HubPort, "list" | "call">;
  readonly logger: Logger;
  /** Returns `server_description` of the capabilities. Called for each request, since a reload may change it. */
  readonly describeServer: () => string;
}

/** Methods that the dialect defines. All methods that begin with `resource/` belong to it too. */
const OWN_METHODS: ReadonlySet<string> = new Set([
  "mcp/discover",
  "get_mcp_server_capabilities",
  "mcp.capabilities",
  "mcp.resource.get",
  "mcp.tool.execute",
]);
const RESOURCE_PREFIX = "resource/";

/**
 * Returns true if the dialect, not MCP, handles a method: a method that the dialect defines, or a possible tool name.
 */
export function isDialectMethod(method: string): boolean {
  return OWN_METHODS.has(method) || method.startsWith(RESOURCE_PREFIX) || !isReservedMethod(method);
}

type DialectHandler = (request: DialectRequest, context: DialectContext) => Promise<DialectAnswer>;

/**
 * JSON-RPC dialect (G10 to G64): six methods, and each tool name is a method whose parameters are the tool's arguments.
 * Results are the plain values of tools and resources. Clients need no handshake.
 */
export class JsonRpcDialect implements Dialect {
  readonly #deps: JsonRpcDeps;

  constructor(deps: JsonRpcDeps) {
    this.#deps = deps;
  }

  answer(request: DialectRequest, context: DialectContext): Promise<DialectAnswer> | undefined {
    const run = this.#runOf(request.method);
    return run && this.#guarded(run, request, context);
  }

  describeInvalid(message: unknown): string {
    const hasMembers = isJsonObject(message) && "jsonrpc" in message && "method" in message;
    return hasMembers && message["jsonrpc"] !== "2.0" ? "Invalid jsonrpc version" : "Invalid JSON-RPC request object";
  }

  #runOf(method: string): DialectHandler | undefined {
    if (!isDialectMethod(method)) return undefined;
    if (method === "mcp.tool.execute") return (request, context) => this.#executeNamed(request, context);
    if (method === "mcp.resource.get" || method.startsWith(RESOURCE_PREFIX))
      return (request, context) => this.#read(request, context);
    if (OWN_METHODS.has(method)) return (_request, context) => this.#discover(context);
    return ({ params }, context) => this.#execute(method, params, context);
  }

  async #guarded(run: DialectHandler, request: DialectRequest, context: DialectContext): Promise<DialectAnswer> {
    try {
      return await run(request, context);
    } catch (error) {
      return this.#fault(error, request.method);
    }
  }

  async #discover({ view }: DialectContext): Promise<DialectAnswer> {
    return { type: "value", value: await readCapabilities(this.#deps.hub, view, this.#deps.describeServer()) };
  }

  #executeNamed({ params }: DialectRequest, context: DialectContext): Promise<DialectAnswer> {
    const name = stringMember(params, "name") ?? stringMember(params, "tool_name");
    const args = params["params"] ?? params["arguments"] ?? {};
    if (!name) return Promise.resolve(invalidParams("Missing name for tool request"));
    if (!isJsonObject(args))
      return Promise.resolve(invalidParams("Invalid params for tool request: `params` must be an object"));
    const meta = objectMember(params, "_meta");
    return this.#execute(name, meta ? { ...args, _meta: meta } : args, context);
  }

  async #execute(tool: string, params: JsonObject, context: DialectContext): Promise<DialectAnswer> {
    const { logger } = this.#deps;
    logger.debug(`Attempting to execute tool: ${tool}`);
    const outcome = await this.#call({ method: "tools/call", target: tool, params }, context);
    if (!outcome.ok) return this.#failed(outcome, { tool }, context);
    logger.debug(`Tool ${tool} executed successfully.`);
    return { type: "value", value: toolValue(outcome.result) };
  }

  async #read({ params }: DialectRequest, context: DialectContext): Promise<DialectAnswer> {
    const uri = stringMember(params, "uri");
    if (!uri) return invalidParams("Missing uri for resource request");
    const { logger } = this.#deps;
    logger.debug(`Attempting to retrieve resource: ${uri}`);
    const outcome = await this.#call({ method: "resources/read", target: uri, params: {} }, context);
    if (!outcome.ok) return this.#failed(outcome, { uri }, context);
    logger.debug(`Resource ${uri} retrieved successfully.`);
    return { type: "value", value: resourceValue(outcome.result) };
  }

  async #call({ method, target, params }: JsonRpcCall, { view, link }: DialectContext): Promise<Outcome> {
    // `_meta` contains the caller's metadata for the hub. It is not an argument of the tool.
    const { _meta: meta, ...args } = params;
    const asked = {
      method,
      target,
      params: {},
      arguments: args,
      meta: isJsonObject(meta) ? withoutToken(meta) : {},
      principal: view.principal,
      mode: view.mode,
    };
    const call = new BuiltCall(link, asked, { endpoint: "jsonrpc", relaysInput: false });
    try {
      return await this.#deps.hub.call(call);
    } catch (error) {
      if (error instanceof FailError) return error.failure;
      throw error;
    }
  }

  #failed(failure: Fail, target: FailedTarget, { link }: DialectContext): DialectAnswer {
    if (failure.kind === "cancelled" && link.cancellation.aborted) return { type: "silence" };
    const error = dialectError(failure, target);
    this.#deps.logger.debug(`A request of the JSON-RPC dialect failed: ${error.message}`, { kind: failure.kind });
    return { type: "error", kind: failure.kind, error, ...scopesOf(failure) };
  }

  /** Logs an internal error in full. The caller gets an id to quote. */
  #fault(cause: unknown, method: string): DialectAnswer {
    const id = nextCallId();
    const stack = cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {};
    this.#deps.logger.error("A request of the JSON-RPC dialect failed because of an internal error.", {
      call: id,
      method,
      error: messageOf(cause),
      ...stack,
    });
    const failure = fail("internal", internalFailureText(id));
    return { type: "error", kind: failure.kind, error: dialectError(failure, { tool: method }), ...scopesOf(failure) };
  }
}

/** Call as its caller requested it. */
interface JsonRpcCall {
  readonly method: CallMethod;
  readonly target: string;
  readonly params: JsonObject;
}

function invalidParams(message: string): DialectAnswer {
  return { type: "error", kind: "invalid_params", error: { code: KINDS.invalid_params.jsonrpc, message } };
}

function withoutToken(given: JsonObject): JsonObject {
  const { progressToken: _, ...meta } = given;
  return meta;
}

function scopesOf({ requiredScopes }: Fail): { readonly requiredScopes?: readonly string[] } {
  return requiredScopes ? { requiredScopes } : {};
}
