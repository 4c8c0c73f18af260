import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { FailError } from "../../core/errors.ts";
import { fail, ok, type Outcome, type RpcErrorObject } from "../../core/calls/outcome.ts";
import { SHOWN_FACT, type Logger } from "../../core/ports/ports.ts";
import type { CallTarget, ResolvedCall } from "../../core/sources/provider.ts";
import { withInput } from "../../core/calls/input-rounds.ts";
import { RPC } from "../../wire/messages.ts";
import type { Completer } from "./api.ts";
import { type ContextDeps, createContext, wordsOf } from "./context.ts";
import type { ModuleOffer, OwnedEntry } from "./offer.ts";
import type { PromptEntry, ResourceEntry } from "./registrations.ts";
import { toContents, toPromptResult, toToolOutcome } from "./results.ts";
import type { ToolEntry } from "./tool-entry.ts";

export interface CallsDeps extends ContextDeps {
  readonly logger: Logger;
}

/** Maximum number of values of one completion, as the protocol specifies. */
const MAX_COMPLETIONS = 100;

/** Runs a registered handler. Never rejects because of a handler's error. */
export function runCall(call: ResolvedCall, offer: ModuleOffer, deps: CallsDeps): Promise<Outcome> {
  const { record } = call;
  switch (record.type) {
    case "tool": {
      const owned = offer.tools.get(record.tool.name);
      return owned ? runTool(call, owned, deps) : gone(`Tool '${record.tool.name}' not found.`);
    }
    case "resource":
      return runResource(call, record, { offer, deps });
    case "prompt": {
      const owned = offer.prompts.get(record.prompt.name);
      return owned ? getPrompt(call, owned, deps) : gone(`Prompt '${record.prompt.name}' not found.`);
    }
    case "completion":
      return complete(call, completerOf(call, offer));
    case "extension":
      return gone(`Method not found: ${record.method}`);
  }
}

function runResource(
  call: ResolvedCall,
  { uri, resource, template }: Extract<CallTarget, { type: "resource" }>,
  { offer, deps }: { readonly offer: ModuleOffer; readonly deps: CallsDeps },
): Promise<Outcome> {
  const owned = offer.resources.get(template?.uriTemplate ?? resource?.uri ?? uri);
  return owned ? readResource(call, owned, { ...deps, uri }) : gone(`Resource '${uri}' not found.`);
}

function gone(message: string): Promise<Outcome> {
  return Promise.resolve(fail("unknown_tool", message));
}

function runTool(call: ResolvedCall, { entry, module }: OwnedEntry<ToolEntry>, deps: CallsDeps): Promise<Outcome> {
  const attempt = async (extra: JsonObject): Promise<Outcome> => {
    const args = entry.parse ? await entry.parse(call.arguments) : call.arguments;
    const isAwaited = entry.handler.length > 1;
    const value = await entry.handler(args, createContext(call, deps, { extra, isAwaited }));
    return toToolOutcome(value, entry.name);
  };
  return module.use(() =>
    guarded(
      () => `Error executing tool '${entry.name}'`,
      deps,
      () => withInput(call, attempt),
    ),
  );
}

function readResource(
  call: ResolvedCall,
  { entry, module }: OwnedEntry<ResourceEntry>,
  { uri, ...deps }: CallsDeps & { readonly uri: string },
): Promise<Outcome> {
  const variables = entry.template?.match(uri) ?? {};
  return module.use(() =>
    guarded(
      () => `Error retrieving resource '${uri}'`,
      deps,
      () =>
        withInput(call, async (extra) => {
          const value = await entry.retriever(
            uri,
            variables,
            createContext(call, deps, { extra, isAwaited: entry.retriever.length > 2 }),
          );
          const result = await toContents(value, uri, entry.mimeType);
          return result ? ok(result) : gone(`Resource '${uri}' not found.`);
        }),
    ),
  );
}

function getPrompt(call: ResolvedCall, { entry, module }: OwnedEntry<PromptEntry>, deps: CallsDeps): Promise<Outcome> {
  const missing = entry.required.find((name) => call.arguments[name] === undefined);
  if (missing !== undefined) return Promise.resolve(fail("invalid_params", `Missing required argument: ${missing}`));
  const args = call.arguments as Record<string, string>;
  return module.use(() =>
    guarded(
      () => `Error making prompt '${entry.name}'`,
      deps,
      () =>
        withInput(call, async (extra) =>
          ok(
            toPromptResult(
              await entry.handler(args, createContext(call, deps, { extra, isAwaited: entry.handler.length > 1 })),
              entry.description,
            ),
          ),
        ),
    ),
  );
}

/** Runs a handler. If it throws, logs the stack and returns the message to the caller. */
async function guarded(what: () => string, { logger }: CallsDeps, run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof FailError) return error.failure;
    const words = wordsOf(error);
    const rpcError = rpcErrorOf(error, words);
    if (rpcError)
      return fail(rpcError.code === RPC.invalidParams ? "invalid_params" : "tool_error", words, { rpcError });
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error(`${what()}: ${words}`, { ...(stack !== undefined && { stack }), [SHOWN_FACT]: "caller" });
    return fail("tool_error", `${what()}: ${words}`, { details: { error: words }, cause: error });
  }
}

/**
 * Returns a protocol error for an error with a `code` in JSON-RPC's own range. Error codes of the system are words or
 * positive numbers, so they are never in this range.
 */
function rpcErrorOf(error: unknown, message: string): RpcErrorObject | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, data } = error as { code?: unknown; data?: unknown };
  if (typeof code !== "number" || !Number.isInteger(code) || code < -32768 || code > -32000) return undefined;
  return { code, message, ...(data === undefined ? {} : { data }) };
}

function completerOf(call: ResolvedCall, offer: ModuleOffer): Completer | undefined {
  const { record } = call;
  const argument = call.params["argument"];
  if (record.type !== "completion" || !isJsonObject(argument)) return undefined;
  const owned = record.prompt
    ? offer.prompts.get(record.prompt.name)
    : record.template
      ? offer.resources.get(record.template.uriTemplate)
      : undefined;
  const name = String(argument["name"]);
  return owned && Object.hasOwn(owned.entry.complete, name) ? owned.entry.complete[name] : undefined;
}

async function complete(call: ResolvedCall, completer: Completer | undefined): Promise<Outcome> {
  if (!completer) return ok({ completion: { values: [], total: 0, hasMore: false } });
  const value = String((call.params["argument"] as JsonObject)["value"] ?? "");
  try {
    const values = await suggest(completer, value, call);
    const shown = values.slice(0, MAX_COMPLETIONS);
    return ok({ completion: { values: shown, total: values.length, hasMore: values.length > shown.length } });
  } catch (error) {
    return fail("tool_error", `Error completing '${call.target}': ${wordsOf(error)}`, { cause: error });
  }
}

async function suggest(completer: Completer, value: string, call: ResolvedCall): Promise<readonly string[]> {
  if (typeof completer !== "function") {
    const start = value.toLowerCase();
    return completer.filter((candidate) => candidate.toLowerCase().startsWith(start));
  }
  const { context } = call.params;
  const given = isJsonObject(context) && isJsonObject(context["arguments"]) ? context["arguments"] : {};
  return completer(value, { arguments: given as Record<string, string>, signal: call.signal });
}
