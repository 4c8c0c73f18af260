import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { MCPSDKNotFoundError } from "./errors.ts";
import { MCP } from "./mcp.ts";
import { withDefaultSources, type MCPOptions } from "./settings.ts";

export interface InitializeOptions extends MCPOptions {
  /** Packages that the program cannot do without, as its own files would import them. @default none */
  readonly requires?: readonly string[];
}

/**
 * `[mcp, sdkFound, forced]`: `forced` says that a critical dependency is missing and the caller wanted to go on all the
 * same.
 */
export type CoreInitialization = [mcp: MCP, sdkFound: boolean, forced: boolean];

/** What this server itself cannot do without: nothing is called before its arguments were checked. */
const OWN_REQUIREMENTS = ["ajv"];

let initializing: Promise<CoreInitialization> | undefined;

/**
 * Makes the one `MCP` of this process and discovers its modules; a further call gives the same again and discovers
 * nothing. Without options it stands on `./toolyard.toml` or the user's own, else on the source root `src`.
 * @param haltOnMissingSdk reject with an `MCPSDKNotFoundError` when a critical dependency is missing
 * @param forceProceedFlag go on even so
 *
 * @example
 * ```ts
 * import { initialize } from "toolyard/core";
 *
 * const [mcp] = await initialize();
 * mcp.registerTool("text.shout", ({ text }: { text: string }) => text.toUpperCase(), {
 *   type: "object",
 *   properties: { text: { type: "string" } },
 *   required: ["text"],
 * });
 * console.log(await mcp.executeTool("text.shout", { text: "hello" }));
 * await mcp.close();
 * ```
 */
export function initialize(
  haltOnMissingSdk = true,
  forceProceedFlag = false,
  options: InitializeOptions = {},
): Promise<CoreInitialization> {
  initializing ??= start(haltOnMissingSdk, forceProceedFlag, options).catch((error: unknown) => {
    // What failed leaves nothing behind, so that it can be tried again.
    initializing = undefined;
    throw error;
  });
  return initializing;
}

/** The one `MCP` of this process, initialised if it was not. */
export async function getMcpInstance(): Promise<MCP> {
  const [mcp] = await initialize();
  return mcp;
}

/** Ends the one `MCP` of this process; the next `initialize` makes a new one. */
export async function closeMcpInstance(): Promise<void> {
  const ending = initializing;
  initializing = undefined;
  const [mcp] = (await ending?.catch(() => undefined)) ?? [];
  await mcp?.close();
}

async function start(halt: boolean, force: boolean, options: InitializeOptions): Promise<CoreInitialization> {
  const { requires = [], ...own } = options;
  const mcp = new MCP(withDefaultSources(own));
  const sdkFound = await isThere(requires, mcp.logger);
  if (!sdkFound && halt && !force) throw new MCPSDKNotFoundError();
  try {
    await mcp.discoverModules();
  } catch (error) {
    await mcp.close();
    throw error;
  }
  return [mcp, sdkFound, !sdkFound && force];
}

async function isThere(requires: readonly string[], logger: Logger): Promise<boolean> {
  const here = createRequire(import.meta.url);
  const there = createRequire(join(process.cwd(), "package.json"));
  const own = OWN_REQUIREMENTS.map((name) => resolves(name, here, logger));
  const given = await Promise.all(requires.map((name) => imports(name, there, logger)));
  return [...own, ...given].every(Boolean);
}

function resolves(name: string, require: NodeJS.Require, logger: Logger): boolean {
  try {
    require.resolve(name);
    return true;
  } catch (error) {
    logger.error(`The package ${name} is missing: ${messageOf(error)}`);
    return false;
  }
}

/** Found is not enough: it must start, too. */
async function imports(name: string, require: NodeJS.Require, logger: Logger): Promise<boolean> {
  try {
    await import(name.startsWith("node:") ? name : pathToFileURL(require.resolve(name)).href);
    return true;
  } catch (error) {
    logger.error(`The package ${name} is missing or failed to initialize: ${messageOf(error)}`);
    return false;
  }
}
