import { parseExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import { holderOf } from "../../core/fairness/shares.ts";
import { withoutFence } from "../../sandbox/code-fence.ts";
import type { SandboxHost, SandboxJob } from "../../sandbox/engine.ts";
import type { Sandbox, SandboxRun } from "../../sandbox/sandbox.ts";
import type { FixedTool } from "../fixed-tools.ts";
import { defaultToolRecord, endOfCall, failedResult, valueResult } from "./default-tool.ts";

const DEFAULT_TIMEOUT_SECONDS = 10;
/** Time in milliseconds that the call may last longer than its run, because the run may have to wait in the queue. */
const SLACK_MS = 35_000;

const INPUT: JsonObject = {
  type: "object",
  properties: {
    code: {
      type: "string",
      description:
        "The Python program. `stdout` is its printed output, and `returned_value` the value of its last " +
        "line if that is an expression.",
    },
    timeout_seconds: {
      type: "number",
      exclusiveMinimum: 0,
      description: "Time limit of the program in seconds.",
      default: DEFAULT_TIMEOUT_SECONDS,
    },
  },
  required: ["code"],
};

const OUTPUT: JsonObject = {
  type: "object",
  properties: {
    stdout: { type: "string" },
    stderr: { type: "string", description: "Standard error of the program, and the reason if it failed." },
    returned_value: { description: "Value of the last line as JSON; null if it has none." },
    execution_status: { type: "string", enum: ["success", "timeout", "error"] },
  },
  required: ["stdout", "stderr", "returned_value", "execution_status"],
};

const DESCRIPTION =
  "Runs Python 3 with a safe part of its standard library: math, statistics, json, re, datetime, " +
  "csv, collections, itertools, decimal and similar modules. Files, network, processes, packages and " +
  "tools are not available. Use it for calculations, and to process text and data in the code.";

export interface InterpreterParts {
  /** Returns the sandbox as currently configured. */
  sandbox(): Pick<Sandbox, "options" | "run">;
  /** Maximum time that a caller may request. */
  readonly maxWallMs: number;
}

/**
 * Creates `python_interpreter(code, timeout_seconds = 10)`, which returns `{stdout, stderr, returned_value,
 * execution_status}`.
 */
export function pythonInterpreter(source: Source, parts: InterpreterParts): FixedTool {
  const timeoutMs = parts.maxWallMs + SLACK_MS;
  const record = defaultToolRecord(source, {
    name: "python_interpreter",
    title: "Run Python",
    description: DESCRIPTION,
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    keywords: ["python", "calculate", "compute", "math", "code", "script", "run"],
    limits: { timeoutMs, totalTimeoutMs: timeoutMs },
  });
  return { record, run: (call) => interpret(call, parts) };
}

async function interpret(call: ResolvedCall, { sandbox }: InterpreterParts): Promise<Outcome> {
  // The type assertion is safe, because the arguments match the schema.
  const { code, timeout_seconds: seconds = DEFAULT_TIMEOUT_SECONDS } = call.arguments as {
    code: string;
    timeout_seconds?: number;
  };
  const current = sandbox();
  const limits = { ...current.options.limits, wallMs: Math.max(1, Math.round(seconds * 1000)), toolCalls: 0 };
  const job: SandboxJob = {
    language: "python",
    code: withoutFence(code),
    inputs: {},
    files: [],
    profile: "restricted",
    limits,
    owner: holderOf(call),
  };
  const run = await current.run(job, NOTHING, call.signal);
  return outcomeOf(run, call);
}

/** Host without tools. It is never called: code that calls a tool is rejected earlier. */
const NOTHING: SandboxHost = { call: () => Promise.resolve(REFUSED), search: () => Promise.resolve(REFUSED) };
const REFUSED = { ok: false, kind: "denied", message: "There are no tools here.", retryable: false } as const;

function outcomeOf(run: SandboxRun, call: ResolvedCall): Outcome {
  const { end, error } = run;
  const message = messageFor(run);
  if (end === "cancelled") return endOfCall({ kind: "cancelled" }, call) ?? fail("cancelled", message);
  if (end === "busy") return fail("limited", error?.message ?? message, { retryable: true });
  if (end === "unavailable") return fail("unavailable", error?.message ?? message);
  const value = valueOf(run, message);
  if (end === "finished") return valueResult(value);
  const failed = failedResult(message, value);
  // A timeout is not retryable, because the same code would take as long again.
  return end === "timeout" ? { ...failed, kind: "timeout", attempts: 1 } : failed;
}

function messageFor({ error }: SandboxRun): string {
  if (error === undefined) return "The code failed.";
  return [error.type, error.message].filter((part) => part !== "").join(": ");
}

/** Returns the structured result of the tool for a run that finished, failed or timed out. */
function valueOf(run: SandboxRun, message: string): JsonObject {
  const { end, resultJson, stdout } = run;
  return {
    stdout,
    stderr: lines(run.stderr, run.truncated ? LEFT_OUT : "", end === "finished" ? "" : explanation(run, message)),
    returned_value: resultJson === undefined ? null : (parseExact(resultJson) as unknown),
    execution_status: end === "finished" ? "success" : end === "timeout" ? "timeout" : "error",
  };
}

const LEFT_OUT = "[Output was truncated: the program printed too much.]";

function explanation({ error }: SandboxRun, message: string): string {
  const traceback = error?.traceback.trimEnd() ?? "";
  // The message is omitted if the last line of Python's traceback already contains it.
  return error && traceback.includes(`\n${error.type}`) ? traceback : lines(traceback, message);
}

/** Joins the non-empty parts, each on a new line. */
function lines(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .reduce((text, part) => (text === "" || text.endsWith("\n") ? text + part : `${text}\n${part}`), "");
}
