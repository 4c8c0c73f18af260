import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions, type ValuesOf } from "../../core/options/option-values.ts";
import { CREDENTIAL_MEMBERS } from "../../outbound/credentials/options.ts";
import { resolveClientCredentials } from "../../outbound/credentials/client-credentials.ts";
import { resolveHeaders } from "../../outbound/credentials/headers.ts";
import { resolveOAuth, type OAuthOptions } from "../../outbound/credentials/oauth.ts";
import type { ClientCredentials } from "../../outbound/credentials/token-source.ts";
import type { ServiceName } from "./service-outage.ts";
import { resolveMcpServer, MCP_SERVER_MEMBERS, type McpServerOptions } from "../mcp-server/options.ts";

/** Options of one `[[mcp.remote_servers]]` in the configuration. */
export const RemoteServerSchema = Type.Object({
  url: Type.Optional(
    Type.String({
      description: "Address of the server. Alternative: `host` with `port`, `path` and `scheme`.",
      examples: ["https://mcp.example.com/mcp"],
    }),
  ),
  host: Type.Optional(Type.String({ description: "Name or IP address of the server.", examples: ["weather-mcp"] })),
  port: Type.Optional(
    Type.Integer({
      description: "With `host`: port of the server. Absent: the default port of the scheme.",
      minimum: 1,
      maximum: 65535,
      examples: [50053],
    }),
  ),
  path: Type.Optional(Type.String({ description: "With `host`: path of the endpoint.", default: "/mcp" })),
  scheme: Type.Optional(
    Type.Enum(["http", "https"], { description: "With `host`: scheme of the address.", default: "http" }),
  ),
  display_name: Type.Optional(
    Type.String({
      description:
        "Name of the server in failures. If the server is unreachable, too slow or sends invalid answers, " +
        'a call fails with `{"error": "Weather MCP unavailable on port 50053"}`. Absent: the hub\'s own ' +
        "message, which has more details.",
      examples: ["Weather MCP"],
      minLength: 1,
    }),
  ),
  transport: Type.Optional(
    Type.Enum(["auto", "streamable", "sse"], {
      description:
        "`streamable`: Streamable HTTP. `sse`: HTTP+SSE of 2024-11-05. `auto`: Streamable HTTP, or " +
        "HTTP+SSE if the server supports only that.",
      default: "auto",
    }),
  ),
  ...CREDENTIAL_MEMBERS,
  credentials: Type.Optional(
    Type.Enum(["shared", "per-caller"], {
      description:
        "`shared`: one sign-in, by `toolyard login`, serves all callers of the hub. `per-caller`: each caller " +
        "signs in separately and has its own connection, lists and tokens; without a sign-in it gets the tools " +
        "that the server lists for everyone. A connection opens when its caller needs it, and closes after " +
        "`idle_stop`.",
      default: "shared",
    }),
  ),
  tool_visibility: Type.Optional(
    Type.Enum(["native", "ondemand"], { description: "Another spelling of `visibility`." }),
  ),
  ca: Type.Optional(
    Type.Path({ description: "PEM file of certificate authorities that are trusted in addition to the usual ones." }),
  ),
  proxy: Type.Optional(
    Type.Secret({
      description: "URL of a proxy, or `none`. Absent: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment.",
      examples: ["http://proxy.example.com:3128"],
    }),
  ),
  max_connections: Type.Optional(
    Type.Integer({
      description: "Maximum number of connections to this server; every open stream uses one.",
      minimum: 2,
      default: 256,
    }),
  ),
  ...MCP_SERVER_MEMBERS,
});

export type RemoteServerConfig = Static<typeof RemoteServerSchema>;

export type HttpTransportChoice = "auto" | "streamable" | "sse";

export interface RemoteServerOptions {
  readonly url: URL;
  /** Name of the server in failures. Absent: the failures have the hub's general message. */
  readonly service?: ServiceName;
  readonly transport: HttpTransportChoice;
  /** Headers sent with every request, including credentials. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly ca?: string;
  /** Present: an access token is fetched with these credentials and sent with every request. */
  readonly clientCredentials?: ClientCredentials;
  /** Owner of the sign-in: `shared` by all callers, or `per-caller`. */
  readonly credentials: "shared" | "per-caller";
  /** Configured parameters of the sign-in; absent: none. */
  readonly oauth?: Partial<OAuthOptions>;
  /** URL of a proxy or `none`; absent: from the environment. */
  readonly proxy?: string;
  readonly maxConnections: number;
  readonly upstream: McpServerOptions;
}

/** Returns the checked options with defaults. Throws an `OptionError` that names the option and shows no secret. */
export function resolveRemoteServer(options: RemoteServerConfig): RemoteServerOptions {
  const values = readOptions(RemoteServerSchema, options);
  const { transport, ca, proxy, max_connections: maxConnections } = values;
  const clientCredentials = resolveClientCredentials(options.auth);
  const oauth = resolveOAuth(options.auth);
  const url = resolveUrl(options, values);
  const service = serviceOf(options, url);
  const headers = resolveHeaders(options);
  if (values.credentials === "per-caller") assertPerCaller(options, headers, oauth);
  return Object.freeze({
    url,
    ...(service && { service }),
    transport,
    headers,
    credentials: values.credentials,
    ...(clientCredentials && { clientCredentials }),
    ...(oauth && { oauth }),
    ...(ca !== undefined && { ca }),
    ...(proxy !== undefined && { proxy }),
    maxConnections,
    upstream: resolveMcpServer({ ...options, ...visibilityOf(options) }),
  });
}

/** Throws unless each caller must sign in: configured credentials are shared by all callers. */
function assertPerCaller(
  { auth }: RemoteServerConfig,
  headers: RemoteServerOptions["headers"],
  oauth: Partial<OAuthOptions> | undefined,
): void {
  const isGiven = "authorization" in headers || (auth !== undefined && auth.type !== "oauth");
  const { grant = "authorization_code" } = oauth ?? {};
  if (!isGiven && grant === "authorization_code") return;
  const what = isGiven ? "shared credentials are configured" : `\`grant = "${grant}"\` needs no user`;
  throw new OptionError(
    `\`credentials = "per-caller"\` requires each caller to sign in, but ${what}. Remove one of the two.`,
  );
}

function serviceOf({ display_name: name }: RemoteServerConfig, { port, protocol }: URL): ServiceName | undefined {
  if (name === undefined) return undefined;
  return { name, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

function visibilityOf({
  visibility,
  tool_visibility: toolVisibility,
}: RemoteServerConfig): Pick<RemoteServerConfig, "visibility"> {
  if (toolVisibility === undefined) return {};
  if (visibility === undefined || visibility === toolVisibility) return { visibility: toolVisibility };
  throw new OptionError(
    `\`visibility\` is "${visibility}" and \`tool_visibility\` is "${toolVisibility}". They are the ` +
      "same setting; remove one.",
  );
}

function resolveUrl(
  given: RemoteServerConfig,
  { url, host, port, path, scheme }: ValuesOf<typeof RemoteServerSchema>,
): URL {
  if (url === undefined && host === undefined) throw new OptionError("`url` or `host` is required.");
  const extra = (["host", "port", "path", "scheme"] as const).find((name) => given[name] !== undefined);
  if (url !== undefined && extra !== undefined)
    throw new OptionError(`\`url\` and \`${extra}\` cannot be combined; remove one.`);
  return url === undefined ? joinUrl(host ?? "", { port, path, scheme }) : checkedUrl(url);
}

function joinUrl(
  host: string,
  { port, path, scheme }: { port: number | undefined; path: string; scheme: string },
): URL {
  if (!/^[^\s/?#@]+$/.test(host))
    throw new OptionError(
      `\`host\` must be a name or an IP address alone, got ${JSON.stringify(host)}. Use \`url\` for a whole address.`,
    );
  const isBareIpv6 = host.includes(":") && !host.startsWith("[") && host.split(":").length > 2;
  const name = isBareIpv6 ? `[${host}]` : host;
  const slash = path.startsWith("/") ? "" : "/";
  const text = `${scheme}://${name}${port === undefined ? "" : `:${port}`}${slash}${path}`;
  if (URL.canParse(text)) return new URL(text);
  throw new OptionError(
    `\`host\` and \`port\` are not a valid address: got ${JSON.stringify(host)} and ${JSON.stringify(port)}.`,
  );
}

// A URL may hold keys, so messages do not repeat it.
function checkedUrl(text: string): URL {
  if (!URL.canParse(text))
    throw new OptionError("`url` is not a valid address. It must look like https://mcp.example.com/mcp.");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new OptionError(`\`url\` must begin with http:// or https://, got ${JSON.stringify(url.protocol)}.`);
  if (url.username !== "" || url.password !== "")
    throw new OptionError(
      "`url` contains a user name or a password. Put credentials into `token`, `auth` or `headers`.",
    );
  url.hash = "";
  return url;
}
