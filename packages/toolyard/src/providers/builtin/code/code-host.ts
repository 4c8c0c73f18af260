import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import type { Call } from "../../../core/calls/call.ts";
import { callWithin } from "../../../core/calls/call-within.ts";
import { stringifyValue } from "../../../core/json/json-text.ts";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import type { Fail } from "../../../core/calls/outcome.ts";
import type { SearchHit } from "../../../core/ports/ports.ts";
import { toolValue } from "../../../core/calls/tool-value.ts";
import type { HostReply, SandboxHost, SandboxLanguage } from "../../../sandbox/engine.ts";
import { signatureOf } from "../../../schema/signature.ts";
import type { BuiltinPorts } from "../ports.ts";
import { toolPath, type PathRules } from "../../../schema/tool-path.ts";

/** Name of the tool that calls another tool on behalf of its caller. */
const EXECUTE_TOOL = "execute_tool";

/** The caller and the tool that started the running code. */
interface CodeOrigin {
  readonly language: SandboxLanguage;
  /** Name of the tool that runs the code. */
  readonly tool: string;
}

/**
 * Returns the hub functions for running code: with its caller's rights and within its time. Each call passes the whole
 * pipeline.
 */
export function codeHost(
  parent: Call,
  { innerHub, resolveName }: Pick<BuiltinPorts, "innerHub" | "resolveName">,
  { language, tool: own }: CodeOrigin,
): SandboxHost {
  return {
    call: async (path, argumentsJson, signal) => {
      const args: unknown = parseExact(argumentsJson);
      if (!isJsonObject(args)) return refusal("invalid_params", "The arguments of a tool must be an object.");
      // Code must not start another run, because a nested run would occupy slots for which other runs wait.
      const wanted = resolveName(path, parent);
      const inner =
        wanted === EXECUTE_TOOL && typeof args["name"] === "string" ? resolveName(args["name"].trim(), parent) : wanted;
      if (inner === own) return refusal("denied", `${own} cannot call itself. Write the code in one piece.`);
      const outcome = await innerHub.call({ tool: path, arguments: args }, callWithin(parent, signal));
      return outcome.ok ? { ok: true, json: stringifyValue(toolValue(outcome.result)) } : replyOf(outcome);
    },
    search: async (query, limit, signal) => {
      const { hits } = await innerHub.search(query, callWithin(parent, signal), { limit });
      const others = hits.filter(({ name }) => name !== own);
      const rules: PathRules = {
        language: language === "python" ? "python" : "typescript",
        reaches: (path) => resolveName(path, parent),
      };
      return { ok: true, json: stringifyExact(others.map((hit) => shownInCode(hit, rules))) };
    },
  };
}

/** Converts a search hit for code: how to call the tool, and its description. */
function shownInCode(hit: SearchHit, rules: PathRules): JsonObject {
  const { name, description, inputSchema: input, outputSchema: output } = hit;
  return { name, signature: signatureOf(rules.language, toolPath(name, rules), { input, output }), description };
}

function replyOf({ kind, message, retryable, retryAfterMs }: Fail): HostReply {
  return { ok: false, kind, message, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function refusal(kind: Fail["kind"], message: string): HostReply {
  return { ok: false, kind, message, retryable: false };
}
