import { stringifyExact } from "../../core/json/exact-json.ts";
import { realpathSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Call } from "../../core/calls/call.ts";
import { variablesOfContext } from "../../core/trace-context.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import { modelsFor } from "../calling/hub-access.ts";
import { ChildMessages } from "../scripts/child-messages.ts";
import type { ScriptNotifications } from "../scripts/script-notifications.ts";
import { suffixCommandLine } from "../scripts/command-line.ts";
import { contain } from "../scripts/contain.ts";
import { exitOfTool, limitOutcome } from "../scripts/exit-status.ts";
import { hidePaths } from "../scripts/hide-paths.ts";
import { withPackageAdvice } from "../scripts/missing-package.ts";
import { findVenv } from "../scripts/venv.ts";
import { isInside } from "../scripts/inside.ts";
import { replyMember } from "../../wire/reply-member.ts";
import { goneScript } from "../scripts/removed-tool.ts";
import { EXTRA_PIPES, runChild, type ChildResult } from "../scripts/run-child.ts";
import { scriptEnvironment, type ScriptEnvironment } from "../scripts/run-script.ts";
import type { RunSettings } from "../scripts/run-settings.ts";
import type { ScriptHost } from "../scripts/script-host.ts";
import { exceptionOutcome, executeOutcome, textResult } from "../scripts/script-result.ts";
import { withNotifications } from "../scripts/with-notifications.ts";

/** Suffixes of tool files, with the shim that runs each. */
export const EXECUTE_SUFFIXES: Readonly<Record<string, string>> = {
  ".py": "shim.py",
  ".ts": "shim.mjs",
  ".js": "shim.mjs",
  ".mjs": "shim.mjs",
};

/** A file with a function `execute`. */
export interface ExecuteTool {
  readonly name: string;
  readonly file: string;
  /** Working folder of the child: the folder of the file. */
  readonly folder: string;
  /** Folder that must contain the file, symbolic links resolved. */
  readonly root: string;
  readonly environment: ScriptEnvironment;
  readonly settings: RunSettings;
}

/**
 * Runs `execute(params)` of a tool file in a separate child process. Its return value becomes the result, by the same
 * rule as a script's output. An exception becomes a failure with type and message, and its traceback is logged. Never
 * throws for an expected failure.
 */
export function runExecute(tool: ExecuteTool, call: Call, host: ScriptHost): Promise<Outcome> {
  return withNotifications(tool, { call, host }, (notifications) => runWith(tool, { call, host }, notifications));
}

async function runWith(
  tool: ExecuteTool,
  { call, host }: { readonly call: Call; readonly host: ScriptHost },
  notifications: ScriptNotifications,
): Promise<Outcome> {
  const { arguments: params } = call;
  const file = assertFile(tool);
  const suffix = extname(file).toLowerCase();
  const env = scriptEnvironment(
    tool.environment,
    { libraries: host.libraries, ports: { models: modelsFor(call, host.ports.models) } },
    variablesOfContext(call.meta),
  );
  const prepared = await host.pythonFor({ ...tool, file });
  const line = await suffixCommandLine(suffix, { cwd: tool.folder, root: tool.root, env, ...prepared });
  const shim = fileURLToPath(new URL(EXECUTE_SUFFIXES[suffix]!, import.meta.url));
  const messages = new ChildMessages(call, host, notifications);
  const { settings } = tool;
  const whole = { command: line.command, args: [...line.args, shim, file] };
  const contained = await contain({ ...tool, line: whole, env, reads: readsOf(tool, file), extraPipes: EXTRA_PIPES });
  const run = {
    ...contained,
    cwd: tool.folder,
    input: stringifyExact(params),
    maxOutputBytes: settings.limits.outputBytes ?? host.maxOutputBytes,
    signals: [call.signal, host.closing],
    living: host.living,
  };
  const finished = await messages.during((channel) =>
    runChild(run, {
      ...channel,
      onStdoutLine: (text) => notifications.log(text),
      onStderrLine: (text) => notifications.log(text),
    }),
  );
  return toOutcome(tool, messages.answer, finished);
}

function readsOf({ folder, root }: ExecuteTool, file: string): readonly string[] {
  const venv = findVenv(folder, root);
  return [realpathSync(file), ...(venv ? [venv.folder] : [])];
}

function assertFile({ name, file, root }: ExecuteTool): string {
  let real: string;
  try {
    real = realpathSync(file);
  } catch (error) {
    throw new FailError(goneScript(name, error));
  }
  if (isInside(real, root)) return file;
  throw new FailError(
    fail("unavailable", `The script of tool \`${name}\` lies outside its tools folder. Move it inside.`, {
      retryable: false,
    }),
  );
}

function toOutcome(
  { name, folder, root, settings }: ExecuteTool,
  answer: JsonObject | undefined,
  { exit: ended, stderr }: ChildResult,
): Outcome {
  const places = [folder, root];
  const exit = exitOfTool(ended, settings);
  const limited = answer ? undefined : limitOutcome(exit, settings);
  if (limited) return limited;
  if (answer && replyMember(answer) === "result") return executeOutcome(answer["result"]);
  const error = answer?.["error"];
  if (isJsonObject(error)) return exceptionOutcome(error, (text) => withPackageAdvice(hidePaths(text, places)));
  const how = exit.code === null ? `was ended by ${exit.signal ?? "a signal"}` : `ended with exit code ${exit.code}`;
  const last = hidePaths(stderr.lines().slice(-MAX_REASON_LINES).join("\n"), places);
  return failed(`Tool \`${name}\` ${how} without an answer.${last === "" ? "" : `\n${last}`}`, {
    exitCode: exit.code,
    signal: exit.signal,
  });
}

const MAX_REASON_LINES = 10;

function failed(message: string, details: JsonObject): Outcome {
  return fail("tool_error", message, { details, result: { ...textResult(message), isError: true } });
}
