import { messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Logger } from "../../core/ports.ts";
import { resolveHttp, type HttpOptions } from "../../providers/http/options.ts";
import { parseSeconds, snakeKeys } from "../option-keys.ts";
import type { SourceHubOptions } from "../source-hub.ts";
import { HubBinding, type BindingProblem } from "./hub-binding.ts";
import { assertAlias } from "./standard-mcp.ts";

/** How the server is told who calls. */
export type AuthConfig =
  | { readonly type: "bearer"; readonly token: string }
  | { readonly type: "api_key"; readonly key: string; /** @default "X-API-Key" */ readonly header_name?: string; readonly headerName?: string };

/** One server of several. */
export interface RemoteServer {
  readonly serverUrl?: string | URL;
  readonly server_url?: string | URL;
  readonly authConfig?: AuthConfig;
  readonly auth_config?: AuthConfig;
  /** How long the server may take to be reached: seconds, or text with a unit. @default 30 */
  readonly timeout?: number | string;
}

export interface RemoteMCPOptions extends RemoteServer {
  /** @default "remote_server" */
  readonly alias?: string;
  /** Several servers by alias, in place of `server_url`. One that cannot be used is left out and stands in `diagnostics`. */
  readonly serversInfos?: Readonly<Record<string, RemoteServer>>;
  readonly servers_infos?: Readonly<Record<string, RemoteServer>>;
  /** @default standard error, from warnings on */
  readonly logger?: Logger;
}

const SERVER_KEYS = ["server_url", "auth_config", "timeout"] as const;

/**
 * MCP servers on HTTP: Streamable HTTP, or HTTP+SSE where a server knows nothing else. Their tools are called `alias::tool`, and answer to
 * the bare name, too. Throws an `OptionError` when the one `server_url`, its alias or its credentials cannot be used.
 */
export class RemoteMCPBinding extends HubBinding {
  readonly #refused: readonly BindingProblem[];

  constructor(options: RemoteMCPOptions) {
    const { alias = "remote_server", servers_infos: several, logger, ...one } = snakeKeys(options, ["alias", "servers_infos", "logger", ...SERVER_KEYS]);
    if (several !== undefined && one["server_url"] !== undefined) throw new OptionError("`server_url` and `servers_infos` both say where servers are. Remove one of them.");
    const servers: HttpOptions[] = [];
    const refused: BindingProblem[] = [];
    if (several === undefined) servers.push(toHttp(alias, one));
    for (const [name, server] of Object.entries((several ?? {}) as Readonly<Record<string, RemoteServer>>)) {
      try {
        servers.push(toHttp(name, snakeKeys(server, SERVER_KEYS)));
      } catch (error) {
        refused.push({ source: name, message: messageOf(error) });
      }
    }
    const hub: Omit<SourceHubOptions, "door"> = { settings: () => ({ mcp: { remote_servers: servers } }), ...(logger ? { logger: logger as Logger } : {}) };
    super("remote_mcp", several === undefined ? { alias, ...one } : { servers_infos: several }, hub);
    this.#refused = refused;
  }

  override get diagnostics(): readonly BindingProblem[] {
    return [...this.#refused, ...super.diagnostics];
  }
}

function toHttp(alias: unknown, { server_url: url, auth_config: auth, timeout }: Partial<Record<string, unknown>>): HttpOptions {
  assertAlias(alias);
  if (!(url instanceof URL) && typeof url !== "string") throw new OptionError(`\`server_url\` must be the server's address, such as http://my-mcp-server.com/mcp, got ${JSON.stringify(url)}.`);
  const options: HttpOptions = {
    namespace: alias,
    url: String(url),
    start: "lazy",
    ...(auth === undefined || auth === null ? {} : { auth: toAuth(auth) }),
    ...(timeout === undefined ? {} : { connect_timeout: parseSeconds(timeout, "timeout") }),
  };
  resolveHttp(options);
  return options;
}

function toAuth(raw: unknown): NonNullable<HttpOptions["auth"]> {
  const auth: Partial<JsonObject> = isJsonObject(raw) ? snakeKeys(raw, ["type", "token", "key", "header_name"]) : {};
  const { type, token, key, header_name: header = "X-API-Key" } = auth;
  if (type === "bearer" && typeof token === "string") return { type, token };
  if (type === "api_key" && typeof key === "string" && typeof header === "string") return { type, key, header };
  throw new OptionError('`auth_config` must be {type: "bearer", token} or {type: "api_key", key, header_name?}.');
}
