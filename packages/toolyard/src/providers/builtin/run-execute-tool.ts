import { isDeepStrictEqual } from "node:util";
import { isJsonObject, listMember, type JsonObject } from "../../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import { namesBeside, namesNear, siblingsThatFit, type FailedBuiltinCall } from "./call-hints.ts";
import type { BuiltinPorts } from "./ports.ts";
import { readJson, type JsonLimits } from "../../wire/parse-json.ts";

/** Answers a call of `execute_tool`. `own` is the name of this tool, which must not call itself. */
export async function runExecuteTool(call: ResolvedCall, own: string, ports: BuiltinPorts): Promise<Outcome> {
  const { name } = call.arguments;
  if (typeof name !== "string" || name.trim() === "") return fail("tool_error", "Tool name is required");
  const wanted = name.trim();
  if (ports.resolveName(wanted, call) === own)
    return fail("tool_error", `${own} cannot call itself. Give the name of the tool to call.`);
  const args = readArguments(call.arguments);
  if ("ok" in args) return args;
  const outcome = await ports.innerHub.call({ tool: wanted, arguments: args.value, standsFor: true }, call);
  return outcome.ok ? outcome : withNames({ name: wanted, arguments: args.value, failure: outcome }, call, ports);
}

/** Returns the failure of the inner call, with the names of similar tools. */
async function withNames(failed: FailedBuiltinCall, call: ResolvedCall, ports: BuiltinPorts): Promise<Fail> {
  const { name, failure } = failed;
  if (failure.kind === "unknown_tool") {
    const near = await namesNear(failed, call, ports);
    const { withheld, hint } = failure.details ?? {};
    // The first sentences must have this text (requirement T).
    const sentences = [`Tool not found: ${name}. Use tool_search to discover available tools.`];
    if (typeof withheld === "string") sentences.push(`It is not offered because ${withheld}.`);
    if (typeof hint === "string") sentences.push(hint);
    const unready = ports.unreadyServers(call);
    if (unready.length > 0) sentences.push(`Servers that are not ready: ${unready.join("; ")}.`);
    if (near.length > 0) sentences.push(`Similar tools: ${near.join(", ")}.`);
    return fail("tool_error", sentences.join(" "), { cause: failure });
  }
  if (!takesNames(failure)) return failure;
  const fitting = failure.kind === "invalid_params" ? await siblingsThatFit(failed, call, ports) : [];
  if (fitting.length > 0) return saying(failure, `These arguments fit ${fitting.join(", ")}.`);
  const beside = await namesBeside(failed, call, ports);
  return beside.length === 0 ? failure : saying(failure, `Similar tools: ${beside.join(", ")}.`);
}

/**
 * Returns whether names may be added. An upstream's protocol error is passed on unchanged, an ambiguous name is already
 * reported with all its tools, the caller of a cancelled call does not read the answer, and the answer about an
 * unavailable service is fixed (M4).
 */
function takesNames({ kind, rpcError, result }: Fail): boolean {
  const isPassedOn = rpcError !== undefined || (result !== undefined && kind !== "tool_error");
  return !isPassedOn && kind !== "ambiguous" && kind !== "cancelled";
}

/**
 * Returns the failure with an additional sentence. If the failure contains a tool's own result, the sentence is added
 * as a separate text at its end, because programs may read `structuredContent` and the existing texts.
 */
function saying(failure: Fail, sentence: string): Fail {
  const { result } = failure;
  if (!result) return { ...failure, message: `${failure.message} ${sentence}` };
  const content = [...listMember(result, "content"), { type: "text", text: sentence }];
  return { ...failure, result: { ...result, content } };
}

function readArguments(given: JsonObject): { readonly value: JsonObject } | Fail {
  const own = toObject(given["arguments"], "arguments");
  if (own && "ok" in own) return own;
  const other = toObject(given["parameters"], "parameters");
  if (other && "ok" in other) return other;
  if (own && other && !isDeepStrictEqual(own.value, other.value)) {
    return fail(
      "invalid_params",
      "Both `arguments` and `parameters` were given, and they differ. Give `arguments` only.",
    );
  }
  return own ?? other ?? { value: {} };
}

function toObject(given: unknown, key: string): { readonly value: JsonObject } | Fail | undefined {
  if (given === undefined || given === null) return undefined;
  const value = typeof given === "string" ? parseText(given) : given;
  if (value === TOO_MUCH) return fail("invalid_params", `\`${key}\` ${BEYOND_TEXT}`);
  if (isJsonObject(value)) return { value };
  return fail("invalid_params", `\`${key}\` must be an object, or the JSON text of one; got ${describe(given)}.`);
}

function parseText(text: string): unknown {
  // Models send an empty text for a tool without parameters, so it counts as no arguments.
  if (text.trim() === "") return {};
  const read = readJson(text, TEXT_LIMITS);
  if (read.ok) return read.value;
  return read.fault === "bounds" ? TOO_MUCH : undefined;
}

const TOO_MUCH = Symbol("too much");
/** Limits for JSON text inside a request, which the limits of the request itself do not cover. */
const TEXT_LIMITS: JsonLimits = { maxJsonDepth: 128, maxJsonKeys: 10_000 };
const BEYOND_TEXT =
  `is a text that nests deeper than ${TEXT_LIMITS.maxJsonDepth} levels, or has an object of more than ` +
  `${TEXT_LIMITS.maxJsonKeys} keys. Give an object in place of the text, or send fewer keys in one call.`;

function describe(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "string" ? "a text that is not JSON of an object" : `a ${typeof value}`;
}
