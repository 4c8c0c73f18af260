import type { Logger } from "../../core/ports/ports.ts";
import type { Provider } from "../../core/sources/provider.ts";
import { childEnvironment, installerVariables } from "../../process/environment.ts";
import { StdioTransport } from "../../upstream/transports/stdio-transport.ts";
import { createMcpServerProvider, type McpServerDeps } from "../mcp-server/provider.ts";
import type { Installer } from "../../upstream/links/installer.ts";
import { CommandInstaller } from "./install/command-installer.ts";
import { planInstall } from "./install/plan.ts";
import type { StdioServerOptions } from "./options.ts";

export interface StdioProviderDeps extends Pick<
  McpServerDeps,
  | "source"
  | "logger"
  | "cacheFolder"
  | "listingStore"
  | "isSecretFree"
  | "clientInfo"
  | "gate"
  | "coldWaitMs"
  | "requestIds"
  | "firstCallerEra"
  | "adapter"
> {
  readonly options: StdioServerOptions;
  /** Folder of the install records, for all hubs of this user. @default nothing is downloaded before a start */
  readonly installsFolder?: string | undefined;
  /** Installs what the command needs. Absent: planned from the words of the command. */
  readonly installer?: Installer | undefined;
}

/** Creates an MCP server that runs as a child process (L50, R1). Starts, supervises, restarts and ends it. */
export function createStdioProvider({
  options,
  installsFolder,
  installer: given,
  ...deps
}: StdioProviderDeps): Provider {
  const { command, args, cwd, upstream } = options;
  const logger = deps.logger.with({ source: deps.source.id });
  const installer = given ? undefined : createInstaller(options, { folder: installsFolder, logger });
  const openTransport = (): StdioTransport => {
    const environment = startEnvironment(options);
    return new StdioTransport({
      ...(installer?.words ?? { command, args }),
      ...(cwd !== undefined && { cwd }),
      env: environment,
      maxMessageBytes: upstream.maxMessageBytes,
      maxMessageParts: upstream.maxMessageParts,
      stopGraceMs: options.stopGraceMs,
      ...(installer && { supervisor: installer }),
      withheld: () => Object.keys(process.env).filter((name) => !Object.hasOwn(environment, name)),
    });
  };
  return createMcpServerProvider({
    ...deps,
    options: upstream,
    opensCheaply: false,
    legacyProcess: options.legacyProcess,
    openTransport,
    installer: given ?? installer,
    cacheKey: [command, ...args, cwd ?? ""],
  });
}

/**
 * Returns the environment of the server process. A program that downloads its server, such as `npx`, also gets the
 * variables of its package manager.
 */
function startEnvironment({ command, args, env, inheritEnv }: StdioServerOptions): Record<string, string> {
  const plain = childEnvironment({ own: env, inherit: inheritEnv });
  const plan = planInstall({ command, args }, { env: plain });
  if (!plan) return plain;
  // If no download precedes the start, the start itself downloads, and may need login variables.
  const withLogins = plan.install === undefined || plan.start === undefined;
  return childEnvironment({ own: env, inherit: [...inheritEnv, ...installerVariables({ withLogins })] });
}

function createInstaller(
  { command, args, cwd, env: own, inheritEnv, installTimeoutMs, upstream }: StdioServerOptions,
  { folder, logger }: { readonly folder: string | undefined; readonly logger: Logger },
): CommandInstaller | undefined {
  if (!upstream.enabled || folder === undefined) return undefined;
  // Read for each download, because a client with more environment variables may have joined since.
  const readEnvironment = (): Record<string, string> =>
    childEnvironment({ own, inherit: [...inheritEnv, ...installerVariables({ withLogins: true })] });
  const plan = planInstall({ command, args }, { env: readEnvironment() });
  if (!plan) return undefined;
  return new CommandInstaller({
    plan,
    command: { command, args },
    get env() {
      return readEnvironment();
    },
    ...(cwd !== undefined && { cwd }),
    folder,
    maxMs: installTimeoutMs,
    logger,
  });
}
