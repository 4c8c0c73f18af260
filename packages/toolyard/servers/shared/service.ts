import { createHub, OptionError, VERSION, type LibraryHub, type ModuleHub, type ServedHttp } from "toolyard";
import type { Environment } from "./environment.ts";

/** An MCP server with one tool. */
export interface Service {
  /** Name on the command line. */
  readonly name: string;
  /** Name in compose files and registries. @default `name` with `-mcp` */
  readonly host?: string;
  readonly tool: string;
  /** Default port. */
  readonly port: number;
  /** Registers the tool with the settings of the environment. Throws an `OptionError` if a variable is invalid. */
  register(hub: ModuleHub, environment: Environment): void;
}

export interface ServiceOptions {
  /** Environment from which providers and settings are read. @default process.env */
  readonly environment?: Environment;
  /** Address to listen on. @default "127.0.0.1" */
  readonly host?: string;
  /** Port to listen on; 0 selects a free port. @default the service's default port */
  readonly port?: number;
  /** True to listen on all network interfaces without requiring a token. @default false */
  readonly insecure?: boolean;
}

/** Maximum number of concurrent calls of one service. Further calls wait, and are refused if too many wait. */
const IN_FLIGHT = 64;

/** Creates the hub of one service without serving it. Rejects with an `OptionError` if a variable is invalid. */
export function openService(
  service: Service,
  { environment = process.env, host = "127.0.0.1", port = service.port, insecure = false }: ServiceOptions = {},
): Promise<LibraryHub> {
  return createHub({
    variables: ownVariables(environment),
    registerTools: (hub) => service.register(hub, environment),
    settings: {
      server: { host, port, insecure },
      // Offers only the tool of the service: no other tools of the hub, and no tool that runs code.
      builtin: { meta_tools: false, execute_code: false },
      limits: { in_flight: IN_FLIGHT },
      ...(environment["TOOLYARD_LOGGING_LEVEL"] ? {} : { logging: { level: "warning" } }),
    },
  });
}

export interface RunningService extends AsyncDisposable {
  readonly service: Service;
  readonly hub: LibraryHub;
  readonly served: ServedHttp;
  close(): Promise<void>;
}

/** Serves a service at `http://host:port/mcp`. Rejects with an `OptionError` if it cannot listen there. */
export async function startService(service: Service, options: ServiceOptions = {}): Promise<RunningService> {
  const hub = await openService(service, options);
  const close = (): Promise<void> => hub.close();
  try {
    return { service, hub, served: await hub.serve(), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the user agent, which identifies this program to providers. Throws an `OptionError` for text that a header
 * cannot contain.
 */
export function userAgentOf(environment: Environment): string {
  const text = environment["SERVICES_USER_AGENT"] || `toolyard/${VERSION} (MCP services)`;
  if (/^[ -~]{1,200}$/.test(text)) return text;
  throw new OptionError(
    "SERVICES_USER_AGENT must be 1 to 200 printable ASCII characters, such as my-yard/1.0 (me@example.org).",
  );
}

/**
 * Returns the `TOOLYARD_…` variables that apply to services: those for the log and the data folder. The others
 * configure the hub of this machine.
 */
function ownVariables(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !name.startsWith("TOOLYARD_") || name === "TOOLYARD_HOME" || name.startsWith("TOOLYARD_LOGGING_"),
    ),
  );
}
