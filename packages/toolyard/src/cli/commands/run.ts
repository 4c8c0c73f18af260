import { resolve } from "node:path";
import { BuiltCall } from "../../core/calls/built-call.ts";
import { LOCAL_PRINCIPAL, type Call } from "../../core/calls/call.ts";
import type { CallerLink } from "../../core/calls/caller-link.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { VERSION } from "../../core/version.ts";
import { createInnerHub } from "../../hub/inner-hub.ts";
import type { Hub } from "../../hub/open-hub.ts";
import { settled } from "../../hub/sources/settled.ts";
import { codeHost } from "../../providers/builtin/code/code-host.ts";
import type { SandboxHost, SandboxJob } from "../../sandbox/engine.ts";
import { resolveSandbox, type SandboxOptions } from "../../sandbox/options.ts";
import { Sandbox, type SandboxRun } from "../../sandbox/sandbox.ts";
import { notificationText } from "../output/notification-text.ts";
import { print, type Io } from "../output/io.ts";
import type { CommandAction } from "../rows/command-row.ts";
import { readJob, withTimeout, type RunOptions } from "../hub-access/run-job.ts";
import { keepArtifacts, reportRunJson, RunView } from "../output/run-view.ts";
import { withHub } from "../hub-access/session.ts";
import { loadSettings } from "../hub-access/settings.ts";

/** Excludes the hub's own tool that runs code, because code must not start another run. */
const OWN_TOOL = "execute_code";
/**
 * Time that servers have to start. It is longer than the connection timeout, so that a slow server is ready when the
 * code calls it.
 */
const STARTED_WITHIN_MS = 35_000;

/**
 * Runs a file in this process's sandbox, even if `builtin.execute_code` is off: that option only restricts callers of
 * the hub.
 */
export const run: CommandAction<RunOptions> = async ([file = ""], options, io) => {
  const { tree } = await loadSettings(options, io);
  const settings = withTimeout(resolveSandbox(tree.sandbox), options.timeout);
  const job = await readJob({ file, limits: settings.limits }, options, io);
  const view = new RunView(io);
  const ran = await withHub({ ...options, lazy: true, logLevel: "error" }, io, (_toolyard, hub) =>
    runOn(hub, { job, settings, options, io, view }),
  );
  const notes = await keepArtifacts(
    ran.artifacts,
    options.out === undefined ? undefined : resolve(io.cwd, options.out),
  );
  if (options.json) return reportRunJson(ran, io);
  const code = await view.end(ran);
  for (const note of notes) await print(io.stderr, note);
  return code;
};

interface RunRequest {
  readonly job: SandboxJob;
  readonly settings: SandboxOptions;
  readonly options: RunOptions;
  readonly io: Io;
  readonly view: RunView;
}

async function runOn(hub: Hub, { job, settings, options, io, view }: RunRequest): Promise<SandboxRun> {
  // Code that starts before a server has sent its tools would not find them. Code that uses no tools does not wait.
  if (/\b(?:tools|search)\b/.test(job.code)) await settled(hub, STARTED_WITHIN_MS);
  const parent = callOf(options, io);
  const hostOf = codeHost(
    parent,
    { innerHub: createInnerHub(() => hub), resolveName: (name, call) => hub.tools.nameOf(name, call.principal) },
    { language: job.language, tool: OWN_TOOL },
  );
  const host: SandboxHost = options.json ? hostOf : { ...hostOf, print: (stream, text) => view.print(stream, text) };
  const sandbox = new Sandbox(settings);
  try {
    return await sandbox.run(job, host, io.interrupted);
  } finally {
    await sandbox.close();
  }
}

/** Returns the outer call. All calls of the code are made within it. */
function callOf(options: RunOptions, io: Io): Call {
  return new BuiltCall(linkTo(options, io), {
    method: "tools/call",
    target: "run",
    params: {},
    arguments: {},
    meta: {},
    principal: LOCAL_PRINCIPAL,
    mode: "all",
  });
}

function linkTo({ json, verbose }: RunOptions, io: Io): CallerLink {
  const isHeard = !json || verbose === true;
  return {
    endpoint: "cli",
    client: { connection: "cli:run", name: "toolyard-cli", version: VERSION, capabilities: {} },
    signal: io.interrupted,
    cancellation: io.interrupted,
    wants: { progress: isHeard, ...(isHeard ? { logLevel: verbose ? "debug" : "warning" } : {}) },
    relaysInput: false,
    notify: (notification) => {
      if (isHeard) io.stderr.write(`${notificationText(notification)}\n`);
    },
    ask: ({ method }) =>
      Promise.reject(
        new FailError(fail("tool_error", `The tool asks a question (${method}), which code cannot answer.`)),
      ),
  };
}
