import { existsSync } from "node:fs";
import { FailError, OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { ServerSettings } from "../../hub/create-hub.ts";
import { childEnvironment } from "../../process/environment.ts";
import { RemoteServerSchema, resolveRemoteServer, type RemoteServerConfig } from "../../providers/http/options.ts";
import { resolveStdioServer, StdioServerSchema, type StdioServerConfig } from "../../providers/stdio/options.ts";
import { scriptCommandLine } from "../../runtimes/scripts/command-line.ts";
import { parseSeconds, snakeKeys } from "../option-keys.ts";
import { withSeconds } from "../server-times.ts";

type Seconds = number | string;

/** Time settings of a client: numbers are seconds, text has a unit (`"500ms"`, `"10m"`). */
export interface ClientTimes {
  /** Maximum time of a call without activity. @default 60 */
  readonly timeout?: Seconds;
  /** Timeouts of individual tools, by name. @default none */
  readonly toolTimeouts?: Readonly<Record<string, Seconds>>;
  readonly tool_timeouts?: Readonly<Record<string, Seconds>>;
  /** Time limit for starting the server and listing its tools. @default 30 */
  readonly connectTimeout?: Seconds;
  readonly connect_timeout?: Seconds;
}

export interface ClientSettings extends ClientTimes {
  /**
   * Protocol. `"legacy"`: the first message is `initialize`, also for a server that ignores unknown methods. @default
   * "auto"
   */
  readonly era?: StdioServerConfig["era"];
  /** Revision in `initialize`, such as `"2024-11-05"`; implies the legacy era. @default the newest */
  readonly protocolVersion?: string;
  readonly protocol_version?: string;
  /** Maximum number of attempts to reach a server. @default 1 */
  readonly connectAttempts?: number;
  readonly connect_attempts?: number;
  /**
   * Logger for connections, the server's stderr (level `debug`), and failures. @default standard error, from level
   * warning
   */
  readonly logger?: Logger;
}

type OwnSetting = keyof ClientSettings;

/**
 * A server to start (`command`), or a server on HTTP (`url`, or `host` and `port`). Keys are those of `toolyard.toml`,
 * in either spelling; a time without a unit is in seconds.
 */
export type ClientServer = (Omit<StdioServerConfig, OwnSetting> | Omit<RemoteServerConfig, OwnSetting>) &
  ClientSettings;

export interface ResolvedClient {
  readonly timeoutMs: number;
  readonly toolTimeoutsMs: ReadonlyMap<string, number>;
  readonly connectTimeoutMs: number;
  readonly connectAttempts: number;
  readonly logger: Logger | undefined;
  /**
   * Returns the settings with which the server is reached. If the server is a script, its file is located when the
   * client starts.
   */
  readonly server: () => Promise<ServerSettings>;
}

const OWN_KEYS = ["timeout", "tool_timeouts", "connect_timeout", "connect_attempts", "logger"] as const;
const SERVER_OPTIONS = { ...StdioServerSchema.properties, ...RemoteServerSchema.properties };
const SERVER_KEYS = Object.keys(SERVER_OPTIONS);

/** Checks the settings and adds defaults. Throws an `OptionError`. `server` is a script's path, a URL, or settings. */
export function resolveClient(
  server: string | URL | ClientServer,
  given: Readonly<Record<string, string | null | undefined>>,
  settings: ClientSettings,
): ResolvedClient {
  assertServer(server);
  assertEnv(given);
  const env = setOnly(given);
  const {
    timeout = 60,
    tool_timeouts: toolTimeouts = {},
    connect_timeout: connectTimeout = 30,
    connect_attempts: connectAttempts = 1,
    logger,
    ...rest
  } = snakeKeys({ ...(isSettings(server) ? server : {}), ...settings }, [...OWN_KEYS, ...SERVER_KEYS]);
  if (!Number.isInteger(connectAttempts) || (connectAttempts as number) < 1)
    throw new OptionError(
      `\`connect_attempts\` must be a whole number above 0, got ${JSON.stringify(connectAttempts)}.`,
    );
  if (!isJsonObject(toolTimeouts))
    throw new OptionError("`tool_timeouts` must be an object with a time for each tool.");
  return Object.freeze({
    timeoutMs: parseSeconds(timeout, "timeout"),
    toolTimeoutsMs: new Map(
      Object.entries(toolTimeouts).map(([tool, value]) => [tool, parseSeconds(value, `tool_timeouts.${tool}`)]),
    ),
    connectTimeoutMs: parseSeconds(connectTimeout, "connect_timeout"),
    connectAttempts: connectAttempts as number,
    logger: logger as Logger | undefined,
    server: isSettings(server)
      ? settled(withSeconds(rest, SERVER_OPTIONS), env)
      : named(String(server), env, protocolOf(rest)),
  });
}

function isSettings(server: string | URL | ClientServer): server is ClientServer {
  return typeof server === "object" && !(server instanceof URL);
}

function assertServer(server: unknown): void {
  if (server instanceof URL || (typeof server === "string" && server !== "")) return;
  if (!isJsonObject(server))
    throw new OptionError(
      "The server must be a script's path, an address, or settings with `command` or `url`; got " +
        `${server === "" ? "an empty text" : (JSON.stringify(server) ?? "nothing")}.`,
    );
  const both = ["url", "host"].find((name) => server["command"] !== undefined && server[name] !== undefined);
  if (both !== undefined)
    throw new OptionError(`\`command\` and \`${both}\` both define the server. Remove one of the two.`);
}

/** Throws unless `env` is an object of texts. Values may be secrets, so the message omits them. */
function assertEnv(env: unknown): void {
  if (!isJsonObject(env)) throw new OptionError(`\`env\` must be an object of names and texts, got a ${typeof env}.`);
  const wrong = Object.entries(env).find(
    ([, value]) => !["string", "undefined"].includes(typeof value) && value !== null,
  );
  if (wrong) throw new OptionError(`\`env.${wrong[0]}\` must be text, got a ${typeof wrong[1]}.`);
}

/** Removes variables without a value, because programs may pass variables that are not set. */
function setOnly(env: Readonly<Record<string, string | null | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}

function settled(
  rest: Partial<Record<string, unknown>>,
  env: Readonly<Record<string, string>>,
): ResolvedClient["server"] {
  const isCommand = rest["command"] !== undefined;
  const settings = (
    isCommand ? { ...rest, env: { ...setOnly((rest["env"] ?? {}) as Record<string, string>), ...env } } : rest
  ) as ServerSettings;
  if ("command" in settings) resolveStdioServer(settings);
  else resolveRemoteServer(settings);
  return () => Promise.resolve(settings);
}

/** Protocol settings, which a script's path or a URL does not contain. */
type Protocol = Pick<StdioServerConfig, "era" | "protocol_version">;

function protocolOf({ era, protocol_version: version }: Partial<Record<string, unknown>>): Protocol {
  const protocol = { ...(era !== undefined && { era }), ...(version !== undefined && { protocol_version: version }) };
  resolveStdioServer({ command: "server", ...(protocol as Protocol) });
  return protocol as Protocol;
}

function named(server: string, env: Readonly<Record<string, string>>, protocol: Protocol): ResolvedClient["server"] {
  if (/^https?:\/\//i.test(server)) {
    resolveRemoteServer({ url: server });
    return () => Promise.resolve({ url: server, ...protocol });
  }
  return async () => {
    if (!existsSync(server))
      throw new FailError(
        fail("unavailable", `There is no server script at ${server}. Check the path.`, { retryable: false }),
      );
    // A script given by path gets this program's complete environment, as in the specified interface; `env` overrides
    // it.
    const { command, args } = await scriptCommandLine(server, {
      env: childEnvironment({ own: env, inherit: Object.keys(process.env) }),
    });
    return { command: [command, ...args], env: { ...env }, inherit_env: Object.keys(process.env), ...protocol };
  };
}
