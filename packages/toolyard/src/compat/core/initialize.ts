import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { MCPSDKNotFoundError } from "./errors.ts";
import { MCP } from "./mcp.ts";
import { withDefaultSources, type MCPOptions } from "./settings.ts";

export interface InitializeOptions extends MCPOptions {
  /** Packages that the program requires, with the names of its imports. @default none */
  readonly requires?: readonly string[];
}

/**
 * Result of `initialize`: `[mcp, sdkFound, forced]`. `forced` means that a critical dependency is missing and the
 * caller chose to continue.
 */
export type CoreInitialization = [mcp: MCP, sdkFound: boolean, forced: boolean];

/** Packages that this server requires, because arguments must be checked before each call. */
const OWN_REQUIREMENTS = ["ajv"];

let initializing: Promise<CoreInitialization> | undefined;

/**
 * Creates the only `MCP` of this process and discovers its modules. A further call returns the same instance and
 * discovers nothing. Without options it uses `./toolyard.toml` or the user's file, else the source root `src`.
 * @param haltOnMissingSdk True to reject with an `MCPSDKNotFoundError` if a critical dependency is missing.
 * @param forceProceedFlag True to continue anyway.
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
    // A failure leaves no state, so initialisation can be repeated.
    initializing = undefined;
    throw error;
  });
  return initializing;
}

/** Returns the only `MCP` of this process. Initialises it if necessary. */
export async function getMcpInstance(): Promise<MCP> {
  const [mcp] = await initialize();
  return mcp;
}

/** Closes the only `MCP` of this process. The next `initialize` creates a new one. */
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

/** Returns whether a package can be imported. It must not only exist but also load. */
async function imports(name: string, require: NodeJS.Require, logger: Logger): Promise<boolean> {
  try {
    await import(name.startsWith("node:") ? name : pathToFileURL(require.resolve(name)).href);
    return true;
  } catch (error) {
    logger.error(`The package ${name} is missing or failed to initialize: ${messageOf(error)}`);
    return false;
  }
}
