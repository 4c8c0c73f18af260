import { parseExact } from "../../core/json/exact-json.ts";
import { closeMcpInstance, initialize } from "../../compat/core/initialize.ts";
import { MCPHTTPServer } from "../../compat/core/http-server.ts";
import { MCPError, MCPResourceNotFoundError, MCPToolNotFoundError } from "../../compat/core/errors.ts";
import type { MCP } from "../../compat/core/mcp.ts";
import { withDefaultSources, type MCPOptions } from "../../compat/core/settings.ts";
import { StdioServer } from "../../compat/core/stdio-server.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { messageOf } from "../../core/errors.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { SILENT_LOGGER, type Logger, type LogLevel } from "../../core/ports/ports.ts";
import { guardStdout } from "../../process/stdout-guard.ts";
import { assertAccepted } from "../input/consent.ts";
import { EXIT } from "../failure.ts";
import { aborted } from "../input/interrupts.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { tellWaiting, whatIsMissing } from "../hub-access/still-starting.ts";

interface Options extends SharedOptions {
  readonly logLevel?: LogLevel;
}

interface ExecuteOptions extends Options {
  readonly params: string;
}

interface ServerOptions extends Options {
  readonly transport: "stdio" | "http";
  readonly host: string;
  readonly port: number;
}

/** Exit code of `toolyard core` commands for every kind of failure (G43). */
const FAILED = 1;

export const list: CommandAction<Options> = (_args, options, io) =>
  answer(options, io, { level: "warning", isWhole: true, work: (mcp) => mcp.getCapabilities() });

export const execute: CommandAction<ExecuteOptions> = ([name = ""], options, io) =>
  answer(options, io, {
    logger: SILENT_LOGGER,
    work: async (mcp) => {
      const result = await mcp.executeTool(name, readParams(options.params), { signal: io.interrupted });
      return { status: "success", result };
    },
  });

export const resource: CommandAction<Options> = ([uri = ""], options, io) =>
  answer(options, io, {
    logger: SILENT_LOGGER,
    work: async (mcp) => ({
      status: "success",
      resource: await mcp.getResource(uri, { signal: io.interrupted }),
    }),
  });

export const server: CommandAction<ServerOptions> = async (_args, options, io) => {
  // Stdout is reserved before anything else can print, because with stdio it belongs to the protocol.
  const output = options.transport === "stdio" ? guardStdout() : undefined;
  try {
    await assertOwnFile(options, io);
    const [mcp] = await initialize(true, false, coreOptions(options, io));
    if (!output) return await serveHttp(mcp, options, io);
    await print(io.stderr, "Starting MCP server on stdio...");
    await new StdioServer({ output }).start(mcp);
    return EXIT.ok;
  } finally {
    await closeMcpInstance();
    output?.release();
  }
};

async function serveHttp(mcp: MCP, { host, port }: ServerOptions, io: Io): Promise<number> {
  const http = new MCPHTTPServer(mcp, host, port);
  await http.start();
  await print(io.stderr, `Starting MCP server on HTTP http://${host}:${http.port}...`);
  await aborted(io.interrupted);
  await print(io.stderr, "Shutting down HTTP server...");
  await http.stop();
  return EXIT.ok;
}

/**
 * Prints the result of `work` on standard output, or the error on standard error, as JSON only. `level` and `logger`
 * set the log unless the user chose another level.
 */
async function answer(options: Options, io: Io, { work, isWhole = false, ...log }: CoreCommand): Promise<number> {
  // Modules may print. Their output must not be mixed with the answer.
  const guard = io.stdout === process.stdout ? guardStdout() : undefined;
  let value: unknown;
  let missing: string | undefined;
  try {
    await assertOwnFile(options, io);
    const [mcp] = await initialize(true, false, coreOptions(options, io, log));
    missing = whatIsMissing(await mcp.missingModules());
    value = await work(mcp);
  } catch (error) {
    await closeMcpInstance();
    guard?.release();
    await printJson(io.stderr, {
      status: "error",
      message: withHint(error, missing ?? nothingConfigured(options, io)),
    });
    return io.interrupted.aborted ? KINDS.cancelled.exit : FAILED;
  }
  await closeMcpInstance();
  guard?.release();
  await printJson(io.stdout, value);
  if (!isWhole || missing === undefined) return EXIT.ok;
  await printJson(io.stderr, { status: "error", message: missing });
  return FAILED;
}

/**
 * Asks the user to accept a configuration file found in this folder. With stdio no user can be asked, so the file is
 * refused.
 */
async function assertOwnFile(options: Options & { readonly transport?: string }, io: Io): Promise<void> {
  const { ask: _ask, ...unasked } = io;
  await assertAccepted(options, options.transport === "stdio" ? unasked : io);
}

interface Log {
  readonly level?: LogLevel;
  readonly logger?: Logger;
}

interface CoreCommand extends Log {
  readonly work: (mcp: MCP) => Promise<unknown>;
  /** True if the answer must be complete: the command then fails if a module is missing. @default false */
  readonly isWhole?: boolean;
}

function coreOptions({ config, logLevel, verbose }: Options, io: Io, log: Log = {}): MCPOptions {
  const asked = logLevel ?? (verbose ? "debug" : undefined);
  const { level, logger } = asked === undefined ? log : { level: asked };
  const sources = withDefaultSources({ variables: io.env, ...(config ? { config } : {}) }, io.cwd);
  const onWaiting = (modules: readonly string[]): void => void tellWaiting(modules, io);
  return {
    ...sources,
    onWaiting,
    ...(logger ? { logger } : {}),
    ...(level ? { settings: { logging: { level } } } : {}),
  };
}

/** Adds a hint to the message about an unknown tool or resource. */
function withHint(error: unknown, hint: string | undefined): string {
  const isNowhere = error instanceof MCPToolNotFoundError || error instanceof MCPResourceNotFoundError;
  return isNowhere && hint !== undefined ? `${messageOf(error)} ${hint}` : messageOf(error);
}

/**
 * Returns the hint that a core without modules has only its own tools. Undefined if it has a configuration or modules.
 */
function nothingConfigured(options: Options, io: Io): string | undefined {
  const { config = [], paths = [] } = coreOptions(options, io);
  if (config.length > 0 || paths.length > 0) return undefined;
  return (
    `No modules are configured: ${io.cwd} has no toolyard.toml and no folder src. ` +
    "Run the command in the project's folder, or name a file with --config."
  );
}

function readParams(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    throw new MCPError(`--params must be a JSON object: ${messageOf(error)}. In a shell, put it in single quotes.`);
  }
  if (isJsonObject(value)) return value;
  throw new MCPError(
    `--params must be a JSON object such as {"key":"value"}, got ` +
      `${value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`}.`,
  );
}
