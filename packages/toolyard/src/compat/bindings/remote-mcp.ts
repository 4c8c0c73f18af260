import { messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { resolveRemoteServer, type RemoteServerConfig } from "../../providers/http/options.ts";
import { assertOptions, parseSeconds, snakeKeys, toSnake } from "../option-keys.ts";
import type { SourceHubOptions } from "../source-hub.ts";
import { HubBinding, type BindingProblem } from "./hub-binding.ts";
import { ignoredKeysMessage, readRemoteEntry } from "./server-entry.ts";
import { assertAlias, assertServers } from "./standard-mcp.ts";
import { checkServers } from "./usable-servers.ts";

/** Credentials for the server. */
export type AuthConfig =
  | { readonly type: "bearer"; readonly token: string }
  | {
      readonly type: "api_key";
      readonly key: string;
      /** Name of the header. @default "X-API-Key" */ readonly header_name?: string;
      readonly headerName?: string;
    }
  | OAuthConfig;

/** OAuth 2 for programs: a token for a client id and secret. Keys are also accepted in camelCase. */
export interface OAuthConfig {
  readonly type: "oauth2" | "client_credentials";
  readonly grant_type?: "client_credentials";
  readonly grantType?: "client_credentials";
  /** Token endpoint: `https`, or `http` on this machine. */
  readonly token_url?: string;
  readonly tokenUrl?: string;
  readonly client_id?: string;
  readonly clientId?: string;
  readonly client_secret?: string;
  readonly clientSecret?: string;
  /** Scopes separated by spaces. */
  readonly scope?: string;
  /** URI of the resource for which the token is requested (RFC 8707). */
  readonly resource?: string;
  /** Client authentication method. @default "basic" */
  readonly client_auth?: "basic" | "post";
  readonly clientAuth?: "basic" | "post";
}

/** Entry of `serversInfos`. */
export interface RemoteServer {
  readonly serverUrl?: string | URL;
  readonly server_url?: string | URL;
  readonly authConfig?: AuthConfig;
  readonly auth_config?: AuthConfig;
  /** Time limit for connecting to the server: seconds, or text with a unit. @default 30 */
  readonly timeout?: number | string;
}

export interface RemoteMCPOptions extends RemoteServer {
  /** Alias of the server. @default "remote_server" */
  readonly alias?: string;
  /** Several servers by alias, instead of `server_url`. An unusable server is omitted and listed in `diagnostics`. */
  readonly serversInfos?: Readonly<Record<string, RemoteServer>>;
  readonly servers_infos?: Readonly<Record<string, RemoteServer>>;
  /** Logger. @default standard error, from level warning */
  readonly logger?: Logger;
}

const EXAMPLE = 'server_url: "http://my-mcp-server.com/mcp"';
const SERVER_KEYS = ["server_url", "auth_config", "timeout"] as const;
/** Keys of an entry of `servers_infos`. */
const ENTRY_KEYS = [...SERVER_KEYS, "headers", "enabled"] as const;

/**
 * A binding for MCP servers on HTTP: Streamable HTTP, or HTTP+SSE if a server supports nothing else. Their tools are
 * called `alias::tool`, and also respond to the bare name. Throws an `OptionError` if the single `server_url`, its
 * alias or its credentials are invalid.
 */
export class RemoteMCPBinding extends HubBinding {
  readonly #refused: readonly BindingProblem[];
  /** Servers that were excluded when the settings were last loaded. */
  #unusable: readonly BindingProblem[] = [];

  constructor(options: RemoteMCPOptions) {
    const {
      alias = "remote_server",
      servers_infos: several,
      logger,
      ...one
    } = snakeKeys(assertOptions("RemoteMCPBinding", options, EXAMPLE), [
      "alias",
      "servers_infos",
      "logger",
      ...SERVER_KEYS,
    ]);
    if (several !== undefined) assertServers("servers_infos", several);
    if (several !== undefined && one["server_url"] !== undefined)
      throw new OptionError("`server_url` and `servers_infos` both define servers. Remove one of the two.");
    const { servers, refused } =
      several === undefined
        ? { servers: new Map([[String(alias), toHttp(alias, one)]]), refused: [] }
        : readServers(several as Readonly<Record<string, RemoteServer>>);
    const hub: Omit<SourceHubOptions, "endpoint"> = {
      settings: () => this.#settings(servers),
      ...(logger ? { logger: logger as Logger } : {}),
    };
    const given = several === undefined ? { alias, ...one } : { servers_infos: several };
    super("remote_mcp", { ...given, ...(logger ? { logger } : {}) }, hub);
    this.#refused = refused;
  }

  override get diagnostics(): readonly BindingProblem[] {
    return [...this.#refused, ...this.#unusable, ...super.diagnostics];
  }

  async #settings(servers: ReadonlyMap<string, RemoteServerConfig>): Promise<HubConfig> {
    const toConfig = (_alias: string, server: RemoteServerConfig) => ({ mcp: { remote_servers: [server] } });
    const { usable, problems } = await checkServers(servers, toConfig);
    this.#unusable = problems;
    return { mcp: { remote_servers: [...usable.values()] } };
  }

  /**
   * Replaces the hub's option names in a message. Only whole phrases are replaced, because a tool may have a parameter
   * of that name.
   */
  protected override inOwnWords(message: string): string {
    return message
      .replace("or correct `url`.", "or correct `server_url`.")
      .replace("Check that `url` points", "Check that `server_url` points");
  }
}

interface ReadServers {
  readonly servers: ReadonlyMap<string, RemoteServerConfig>;
  /** Servers that cannot be used, and keys that are ignored. */
  readonly refused: readonly BindingProblem[];
}

function readServers(several: Readonly<Record<string, RemoteServer>>): ReadServers {
  const servers = new Map<string, RemoteServerConfig>();
  const refused: BindingProblem[] = [];
  for (const [name, given] of Object.entries(several)) {
    try {
      const { server, ignored } = readRemoteEntry({ ...assertOptions("servers_infos", given, EXAMPLE) }, ENTRY_KEYS);
      servers.set(name, toHttp(name, server));
      if (ignored.length > 0) refused.push({ source: name, message: ignoredKeysMessage(ignored) });
    } catch (error) {
      refused.push({ source: name, message: messageOf(error) });
    }
  }
  return { servers, refused };
}

function toHttp(
  alias: unknown,
  { server_url: url, auth_config: auth, timeout, headers, enabled }: Partial<Record<string, unknown>>,
): RemoteServerConfig {
  assertAlias(alias);
  if (!(url instanceof URL) && typeof url !== "string")
    throw new OptionError(
      `\`server_url\` must be the server's address, such as http://my-mcp-server.com/mcp, got ${JSON.stringify(url)}.`,
    );
  const options: RemoteServerConfig = {
    namespace: alias,
    url: String(url),
    start: "lazy",
    ...(auth === undefined || auth === null ? {} : { auth: toAuth(auth) }),
    ...(timeout === undefined ? {} : { connect_timeout: parseSeconds(timeout, "timeout") }),
    ...(isJsonObject(headers) ? { headers: headers as Readonly<Record<string, string>> } : {}),
    ...(enabled === false ? { enabled } : {}),
  };
  inOwnWords(() => resolveRemoteServer(options));
  return options;
}

function inOwnWords(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(toOwnWords(error.message), { cause: error });
  }
}

/** Replaces the name of the hub's option with its name in this class. */
function toOwnWords(message: string): string {
  return message
    .replaceAll("`url`", "`server_url`")
    .replaceAll(/`auth(?=[`.])/g, "`auth_config")
    .replaceAll("`headers`", "`auth_config`")
    .replace("Put credentials into `token`, `auth_config` or `auth_config`.", "Put credentials into `auth_config`.");
}

function toAuth(raw: unknown): NonNullable<RemoteServerConfig["auth"]> {
  if (isJsonObject(raw) && (raw["type"] === "oauth2" || raw["type"] === "client_credentials")) return toOAuth(raw);
  const { type, token, key, header_name: header = "X-API-Key", ...foreign } = isJsonObject(raw) ? allSnake(raw) : {};
  if (Object.keys(foreign).length === 0) {
    if (type === "bearer" && typeof token === "string") return { type, token };
    if (type === "api_key" && typeof key === "string" && typeof header === "string") return { type, key, header };
  }
  throw new OptionError(
    '`auth_config` must be {type: "bearer", token}, {type: "api_key", key, header_name?} or {type: "oauth2", ' +
      "token_url, client_id, client_secret, scope?}. Sign-in with a browser " +
      "(authorization code) is not supported.",
  );
}

function allSnake(raw: JsonObject): Partial<JsonObject> {
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [toSnake(key), value]));
}

const OAUTH_KEYS = ["token_url", "client_id", "client_secret", "scope", "resource", "client_auth"] as const;
/** Keys of the OAuth grant for a user's sign-in. */
const BROWSER_KEYS = ["authorization_url", "redirect_uri", "code", "code_verifier"] as const;

function toOAuth(raw: JsonObject): NonNullable<RemoteServerConfig["auth"]> {
  const {
    type: _,
    grant_type: grant = "client_credentials",
    ...members
  } = snakeKeys(raw, ["type", "grant_type", ...OAUTH_KEYS, ...BROWSER_KEYS]);
  const foreign = BROWSER_KEYS.find((key) => key in members);
  if (grant !== "client_credentials" || foreign !== undefined) {
    const given = foreign === undefined ? `\`grant_type\` ${JSON.stringify(grant)}` : `\`${foreign}\``;
    throw new OptionError(
      `\`auth_config\` contains ${given}, but no user can sign in here. ` +
        "The only supported OAuth grant is `client_credentials`; " +
        "give `token_url`, `client_id` and `client_secret`, or a token.",
    );
  }
  const unusable = OAUTH_KEYS.find((key) => key in members && typeof members[key] !== "string");
  if (unusable !== undefined) throw new OptionError(`\`auth_config.${unusable}\` must be text.`);
  return { type: "client_credentials", ...members };
}
