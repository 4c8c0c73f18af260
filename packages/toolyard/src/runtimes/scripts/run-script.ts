import { variablesOfContext } from "../../core/trace-context.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { realpathSync, statSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import type { Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import { childEnvironment } from "../../process/environment.ts";
import { ChildMessages } from "./child-messages.ts";
import { modelsFor, type HubPorts } from "../calling/hub-access.ts";
import { callingVariables, HELPER_PATHS } from "../calling/helpers.ts";
import { argumentRule } from "./argument-rule.ts";
import { argumentVariables, expandArguments } from "./arguments.ts";
import type { ScriptNotifications } from "./script-notifications.ts";
import type { ScriptHost } from "./script-host.ts";
import { scriptCommandLine, type CommandLine } from "./command-line.ts";
import { contain } from "./contain.ts";
import { exitOfTool, limitOutcome } from "./exit-status.ts";
import { hidePaths } from "./hide-paths.ts";
import { isInside } from "./inside.ts";
import { goneScript } from "./removed-tool.ts";
import { EXTRA_PIPES, runChild } from "./run-child.ts";
import type { RunSettings } from "./run-settings.ts";
import { failureOutcome, successOutcome } from "./script-result.ts";
import { withPackageAdvice } from "./missing-package.ts";
import { findVenv } from "./venv.ts";
import { withNotifications } from "./with-notifications.ts";

/** Everything needed to run a script tool, read from its manifest at one time. */
export interface Script {
  /** The tool's name, for messages. */
  readonly name: string;
  /** Working folder: the folder of the manifest. */
  readonly folder: string;
  /** Folder that must contain the script, symbolic links resolved. */
  readonly root: string;
  /** Path of the script. Absent if `command` is complete. */
  readonly script?: string;
  /** Program and first arguments, which override those for the script's suffix. */
  readonly command?: readonly string[];
  /** Templates of further arguments; see `expandArguments`. */
  readonly args: readonly string[];
  readonly environment: ScriptEnvironment;
  readonly settings: RunSettings;
}

export interface ScriptEnvironment {
  readonly own: Readonly<Record<string, string>>;
  /** Names of the hub's environment variables that are passed on if they are set. */
  readonly inherit: readonly string[];
  /** Names of required variables, without which the tool is not offered. */
  readonly required: readonly string[];
}

/**
 * Runs a script tool once. The arguments are passed as a JSON object on stdin, as `TOOL_ARG_<NAME>` and by the
 * templates. stdout is the result, stderr is the log, and JSON lines on descriptor 3 are progress. Never throws for an
 * expected failure.
 */
export function runScript(script: Script, call: Call, host: ScriptHost): Promise<Outcome> {
  const files = { ...script, file: script.script };
  return withNotifications(files, { call, host }, (notifications) => runWith(script, { call, host }, notifications));
}

async function runWith(
  script: Script,
  { call, host }: { readonly call: Call; readonly host: ScriptHost },
  notifications: ScriptNotifications,
): Promise<Outcome> {
  const { arguments: args } = call;
  const variables = argumentVariables(args);
  const env = scriptEnvironment(
    script.environment,
    { libraries: host.libraries, ports: { models: modelsFor(call, host.ports.models) } },
    variables,
  );
  Object.assign(env, variablesOfContext(call.meta));
  const { settings } = script;
  const line = await commandLineOf(script, env, host);
  const rule = argumentRule(line.command, { cwd: script.folder, env });
  if (rule) for (const [name, text] of Object.entries(variables)) if (!rule.isSafeVariable(text)) delete env[name];
  const whole = { command: line.command, args: [...line.args, ...expandArguments(script.args, args, rule)] };
  const contained = await contain({ ...script, line: whole, env, reads: scriptReads(script), extraPipes: EXTRA_PIPES });
  const run = {
    ...contained,
    cwd: script.folder,
    input: stringifyExact(args),
    maxOutputBytes: settings.limits.outputBytes ?? host.maxOutputBytes,
    signals: [call.signal, host.closing],
    living: host.living,
  };
  const messages = new ChildMessages(call, host, notifications);
  const finished = await messages.during((channel) =>
    runChild(run, { ...channel, onStderrLine: (text) => notifications.log(text) }),
  );
  if (finished.exit.code === 0)
    return (
      messages.outcome((text) => hidePaths(text, [script.folder, script.root]), finished.stdout) ??
      successOutcome(finished.stdout)
    );
  const exit = exitOfTool(finished.exit, settings);
  return (
    limitOutcome(exit, settings) ??
    failureOutcome({
      exit,
      stdout: finished.stdout,
      stderr: withPackageAdvice(hidePaths(finished.stderr.text(), [script.folder, script.root])),
    })
  );
}

async function commandLineOf(
  { name, script, root, folder, command, settings }: Script,
  env: Readonly<Record<string, string>>,
  host: ScriptHost,
): Promise<CommandLine> {
  const file = script === undefined ? undefined : assertScript(name, script, root);
  const [program, ...first] = command ?? [];
  if (program !== undefined) return { command: program, args: file === undefined ? first : [...first, file] };
  const prepared = await host.pythonFor({ name, file: file!, folder, settings });
  return scriptCommandLine(file!, { cwd: folder, root, env, ...prepared });
}

/**
 * Returns the paths that a script reads: it may be in another folder than its manifest, and its virtual environment in
 * the tools folder.
 */
function scriptReads({ script, folder, root }: Script): readonly string[] {
  const venv = findVenv(folder, root);
  return [...(script === undefined ? [] : [dirname(realpathSync(script))]), ...(venv ? [venv.folder] : [])];
}

// Checks the script for each call, because the folder or a symbolic link may have changed since the manifest was read.
export function assertScript(name: string, script: string, root: string): string {
  let real: string;
  try {
    real = realpathSync(script);
    if (!statSync(real).isFile()) throw new Error("not a file");
  } catch (error) {
    throw new FailError(goneScript(name, error));
  }
  if (isInside(real, root)) return real;
  throw new FailError(
    fail("unavailable", `The script of tool \`${name}\` lies outside its tools folder. Move it inside.`, {
      retryable: false,
    }),
  );
}

/**
 * Returns the environment variables of a script: the allow-listed ones, its own, its arguments, and the paths of
 * libraries.
 */
export function scriptEnvironment(
  { own, inherit }: Pick<ScriptEnvironment, "own" | "inherit">,
  { libraries, ports }: { readonly libraries: readonly string[]; readonly ports: Pick<HubPorts, "models"> },
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const librariesVariable = libraries.length === 0 ? {} : { TOOLYARD_LIBRARIES: libraries.join(delimiter) };
  const env = childEnvironment({
    own: { ...PYTHON_DEFAULTS, ...own, ...variables, ...callingVariables(ports), ...librariesVariable },
    inherit,
  });
  for (const [key, helpers] of HELPER_PATHS)
    env[key] = [...libraries, ...(env[key] ? [env[key]] : []), helpers].join(delimiter);
  return env;
}

// Bytecode files are disabled, because Python compares them only by second and size, so it could miss an edit within
// the same second. Text is always UTF-8.
const PYTHON_DEFAULTS = { PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" };
