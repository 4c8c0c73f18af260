import type { AgentHub } from "./agent-hub.ts";
import { FailError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import { toolValue } from "../core/calls/tool-value.ts";
import { orAborted } from "../core/timing/wait.ts";
import { whileLimited } from "../core/timing/retry-while-limited.ts";
import type { AgentCall, AgentEvent } from "./outcome.ts";
import type { CallAnswer, WantedCall } from "./reply.ts";
import { toErrorObject, toModelOutput, type OutputRules } from "./tool-output.ts";
import type { Toolset } from "./toolset.ts";
import { firstChars } from "../core/text/truncate.ts";

export interface CallRules {
  readonly hub: AgentHub;
  readonly toolset: Toolset;
  readonly signal: AbortSignal;
  /** Returns the remaining time in milliseconds. Calls that fail with `limited` are repeated within it. */
  readonly remainingMs: () => number;
  readonly maxParallel: number;
  /** Maximum number of calls. Further calls get a result without being made. */
  readonly maxCalls: number;
  readonly output: OutputRules;
  readonly emit: (event: AgentEvent) => void;
  /** `_meta` for the tool calls, with the trace context of the step. Absent: the step is not recorded. */
  readonly meta: JsonObject | undefined;
}

export interface CallsDone {
  readonly answered: readonly CallAnswer[];
  readonly calls: readonly AgentCall[];
}

/** Makes all calls of one reply, with limited concurrency. Each call gets exactly one result, in the reply's order. */
export async function runCalls(wanted: readonly WantedCall[], rules: CallRules): Promise<CallsDone> {
  const done: { answered: CallAnswer; call: AgentCall }[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < wanted.length; index = next++)
      done[index] = await runOne(wanted[index]!, index, rules);
  };
  await Promise.all(Array.from({ length: Math.min(rules.maxParallel, wanted.length) }, work));
  return { answered: done.map(({ answered }) => answered), calls: done.map(({ call }) => call) };
}

async function runOne(
  wanted: WantedCall,
  index: number,
  rules: CallRules,
): Promise<{ answered: CallAnswer; call: AgentCall }> {
  const { toolset, output, emit } = rules;
  const tool = toolset.names.fromModel(wanted.name) ?? wanted.name;
  const args = wanted.arguments ?? {};
  const startedAt = performance.now();
  emit({ type: "call", id: wanted.id, tool, arguments: args });
  const outcome = await outcomeOf(wanted, { tool, index }, rules);
  const durationMs = performance.now() - startedAt;
  const facts = {
    id: wanted.id,
    tool,
    ok: outcome.ok,
    ...(outcome.ok ? {} : { kind: outcome.kind }),
    value: outcome.ok ? toolValue(outcome.result) : toErrorObject(outcome),
    durationMs,
  };
  emit({ type: "result", ...facts });
  return {
    answered: { call: wanted, ok: outcome.ok, result: toModelOutput(outcome, output) },
    call: { ...facts, arguments: args },
  };
}

async function outcomeOf(
  wanted: WantedCall,
  { tool, index }: { readonly tool: string; readonly index: number },
  { hub, signal, remainingMs, maxCalls, output: { texts }, meta }: CallRules,
): Promise<Outcome> {
  if (signal.aborted) return fail("cancelled", texts.callCancelled);
  if (index >= maxCalls) return fail("limited", texts.callNotMade, { retryable: false });
  if (!wanted.arguments)
    return fail("invalid_params", texts.malformedArguments(wanted.name, firstChars(wanted.received ?? "", 200)));
  try {
    const args = wanted.arguments;
    const attempt = (): Promise<Outcome> => orAborted(hub.call(tool, args, { signal, ...(meta && { meta }) }), signal);
    return await whileLimited(attempt, { cancellation: signal, remainingMs });
  } catch (error) {
    // A hub returns failures as outcomes, but another implementation may throw.
    return error instanceof FailError ? error.failure : fail("internal", messageOf(error), { cause: error });
  }
}
