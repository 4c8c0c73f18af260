import type { Call } from "../../../core/call.ts";
import { callWithin } from "../../../core/call-within.ts";
import type { InnerHub } from "../../../core/inner-hub.ts";
import { isJsonObject } from "../../../core/json.ts";
import type { Fail } from "../../../core/outcome.ts";
import { toolValue } from "../../../core/tool-value.ts";
import type { HostReply, SandboxHost, SandboxLanguage } from "../../../sandbox/engine.ts";
import { signatureOf } from "../../../schema/signature.ts";
import type { BuiltinPorts } from "../ports.ts";
import { toolPath } from "./tool-path.ts";

/** The tool that calls another one in its caller's name. */
const EXECUTE_TOOL = "execute_tool";

/**
 * What running code may ask of the hub: with the rights of whoever runs it, inside its time, each call through the
 * whole pipeline.
 */
export function codeHost(
  parent: Call,
  language: SandboxLanguage,
  { innerHub, resolveName }: Pick<BuiltinPorts, "innerHub" | "resolveName">,
  own: string,
): SandboxHost {
  return {
    call: async (path, argumentsJson, signal) => {
      const args: unknown = JSON.parse(argumentsJson);
      if (!isJsonObject(args)) return refusal("invalid_params", "The arguments of a tool must be an object.");
      // A run inside a run would hold the slots that others wait for.
      const wanted = resolveName(path, parent);
      const inner =
        wanted === EXECUTE_TOOL && typeof args["name"] === "string" ? resolveName(args["name"].trim(), parent) : wanted;
      if (inner === own) return refusal("denied", `${own} cannot call itself. Write the code in one piece.`);
      const outcome = await innerHub.call(path, args, callWithin(parent, signal));
      return outcome.ok ? { ok: true, json: JSON.stringify(toolValue(outcome.result) ?? null) } : replyOf(outcome);
    },
    search: async (query, limit, signal) => ({
      ok: true,
      json: JSON.stringify(
        (await found(innerHub, query, limit, callWithin(parent, signal), language)).filter(({ name }) => name !== own),
      ),
    }),
  };
}

/** Hits as whoever writes code needs them: how each is called, and what it does. */
async function found(
  innerHub: InnerHub,
  query: string,
  limit: number,
  parent: Call,
  language: SandboxLanguage,
): Promise<{ readonly name: string }[]> {
  const { hits } = await innerHub.search(query, limit, parent);
  return hits.map(({ name, description, inputSchema, outputSchema }) => ({
    name,
    signature: signatureOf(language === "python" ? "python" : "typescript", toolPath(name), {
      input: inputSchema,
      output: outputSchema,
    }),
    description,
  }));
}

function replyOf({ kind, message, retryable, retryAfterMs }: Fail): HostReply {
  return { ok: false, kind, message, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function refusal(kind: Fail["kind"], message: string): HostReply {
  return { ok: false, kind, message, retryable: false };
}
