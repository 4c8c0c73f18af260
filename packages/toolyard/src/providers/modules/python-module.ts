import { knownOptions } from "./tool-entry.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, ok } from "../../core/calls/outcome.ts";
import { within } from "../../core/timing/wait.ts";
import { searchEnvironment } from "../../process/environment.ts";
import { PythonBridge, PythonLoadError } from "../../runtimes/bridge/python-bridge.ts";
import type { BridgeCaller } from "../../runtimes/bridge/bridge-call.ts";
import { missingCommands, neededCommands } from "../../runtimes/scripts/command-line.ts";
import { CallSlots } from "../call-slots.ts";
import type { ContextLogLevel, ModuleHub, ResourceOptions, ToolContext, ToolOptions } from "./api.ts";
import { ToolCallError } from "./context.ts";
import type { FoundModule } from "./discover.ts";
import type { PythonFingerprint } from "./python-fingerprint.ts";
import { type LoadResult, type ModuleStartOptions, RunningModule } from "./running-module.ts";

/** Maximum number of concurrent calls of one module. Further calls wait in order, within their own time. */
const MAX_CONCURRENT = 8;

/** Loads a file `mcp.py` in a Python process and runs its registrations, within the time limit. Never rejects. */
export async function startPythonModule(
  found: FoundModule,
  fingerprint: PythonFingerprint,
  options: ModuleStartOptions,
): Promise<LoadResult> {
  const module = new RunningModule(options.logger, options.events);
  const python = new PythonModule({ found, fingerprint, options }, module);
  module.registrations.closers.push(() => python.close());
  try {
    if (await python.start()) return { type: "running", module };
    module.retire();
    return { type: "empty", message: `Module ${found.name} found but has no register_tools function.` };
  } catch (error) {
    module.retire();
    const needs = neededCommands(found.file);
    const isMended = (): boolean => missingCommands(needs, { env: searchEnvironment() }) === undefined;
    if (!isMended()) fingerprint.awaits(isMended);
    return {
      type: "failed",
      message: `Failed to load or register tools from ${found.path}: ${messageOf(error)}`,
      cause: error,
    };
  }
}

/** The file of a module, and how it is started. */
interface ModuleOrigin {
  readonly found: FoundModule;
  readonly fingerprint: PythonFingerprint;
  readonly options: ModuleStartOptions;
}

/**
 * A module in its Python process. If the process has ended, or a cancelled call still occupies it, the next call starts
 * another process.
 */
class PythonModule {
  readonly #found: FoundModule;
  readonly #fingerprint: PythonFingerprint;
  readonly #options: ModuleStartOptions;
  readonly #hub: ModuleHub;
  readonly #slots = new CallSlots(MAX_CONCURRENT);
  readonly #retired = new Set<PythonBridge>();
  /** Registrations that the current process has sent, as JSON text. */
  readonly #said = new Set<string>();
  /** Registrations of earlier processes, which a restarted process repeats. */
  #known: ReadonlySet<string> = new Set();
  #bridge: Promise<PythonBridge> | undefined;
  #problem: unknown;
  #isClosed = false;

  constructor({ found, fingerprint, options }: ModuleOrigin, module: RunningModule) {
    this.#found = found;
    this.#fingerprint = fingerprint;
    this.#options = options;
    this.#hub = options.faceOf ? options.faceOf(module.registrations.hub) : module.registrations.hub;
  }

  /** Starts the process. Returns whether the module has a register function. */
  async start(): Promise<boolean> {
    const bridge = await this.#current();
    return bridge.started;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const bridge = await this.#bridge?.catch(() => undefined);
    await Promise.all([...this.#retired, ...(bridge ? [bridge] : [])].map((one) => one.close()));
  }

  #current(): Promise<PythonBridge> {
    if (this.#isClosed)
      return Promise.reject(
        new FailError(fail("unavailable", "The module was removed or replaced. List the tools again.")),
      );
    this.#bridge ??= this.#spawn();
    return this.#bridge;
  }

  async #spawn(): Promise<PythonBridge> {
    const { logger, options, models } = this.#options;
    let bridge: PythonBridge | undefined;
    this.#known = new Set(this.#said);
    try {
      bridge = await PythonBridge.spawn({
        file: this.#found.file,
        root: this.#found.root,
        logger,
        env: options.env,
        inheritEnv: options.inheritEnv,
        models,
        events: {
          registered: (kind, params) => this.#register(kind, params),
          files: (files) => this.#fingerprint.adopt(files),
          unfit: () => this.#retire(bridge),
        },
      });
      await this.#inTime(bridge);
      return bridge;
    } catch (error) {
      this.#bridge = undefined;
      await bridge?.close();
      throw error;
    }
  }

  async #inTime(bridge: PythonBridge): Promise<void> {
    const { timeoutMs } = this.#options;
    const started = bridge.started.then(() => true);
    try {
      if (!(await within(started, timeoutMs, { keepsAlive: false }))) {
        throw new PythonLoadError(
          `not done after ${formatDuration(timeoutMs)}; \`timeout\` of [modules] is the limit`,
          undefined,
        );
      }
      if (this.#problem !== undefined) throw this.#problem;
    } finally {
      this.#problem = undefined;
    }
  }

  #retire(bridge: PythonBridge | undefined): void {
    this.#bridge = undefined;
    if (!bridge) return;
    this.#retired.add(bridge);
    bridge.retire();
    void bridge.gone.then(() => this.#retired.delete(bridge));
  }

  // An invalid registration is an error of the module. Python continues, and the error is reported when the module has
  // loaded.
  #register(kind: "tool" | "resource", params: JsonObject): void {
    const said = stringifyExact([kind, params]);
    if (this.#known.has(said)) return;
    try {
      if (kind === "tool") this.#registerTool(params);
      else this.#registerResource(params);
      this.#said.add(said);
    } catch (error) {
      this.#problem ??= error;
      this.#options.logger.error(`${this.#found.name} cannot register a ${kind}: ${messageOf(error)}`);
    }
  }

  #registerTool({ name, schema, description, options }: JsonObject): void {
    const handler = (args: JsonObject, context: ToolContext): Promise<unknown> =>
      this.#run("tool", { name, arguments: args }, context);
    const known = knownOptions(options, String(name), (message) => this.#options.logger.warning(message));
    this.#hub.registerTool(name as string, handler, schema as object, description as string, known as ToolOptions);
  }

  #registerResource({ uri, description, options }: JsonObject): void {
    this.#hub.registerResource(
      uri as string,
      (asked, variables, context) => this.#run("resource", { name: uri, uri: asked, variables }, context),
      description as string,
      options as ResourceOptions,
    );
  }

  async #run(method: "tool" | "resource", params: JsonObject, context: ToolContext): Promise<unknown> {
    const leave = await this.#slots.enter(context.signal);
    try {
      const bridge = await this.#current();
      return await bridge.run(method, params, callerOf(context));
    } finally {
      leave();
    }
  }
}

function callerOf(context: ToolContext): BridgeCaller {
  return {
    signal: context.signal,
    log: (level, text) => context.log(level as ContextLogLevel, text),
    progress: (progress, total, message) => context.progress(progress, total, message),
    access: {
      models: {
        generateText: (request) => context.generateText(request),
        generateImage: (request) => context.generateImage(request),
      },
      call: (tool, args, signal) => context.call(tool, args, { signal }).then(ok, toFailure),
      read: (uri, signal) => context.read(uri, { signal }).then(ok, toFailure),
      search: (query, limit) => context.search(query, { limit }),
      list: () => context.list(),
    },
  };
}

function toFailure(error: unknown): ReturnType<typeof fail> {
  if (error instanceof ToolCallError) return fail(error.kind, error.message);
  throw error;
}
