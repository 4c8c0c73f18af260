import type { AccessPlan } from "../core/access.ts";
import { availableParallelism } from "node:os";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { isLoopbackHost } from "../core/uris/loopback.ts";
import { EVERYTHING, readOnlyRights, rightsWithin, type Rights } from "../core/ports/rights.ts";
import type { Profile } from "../core/ports/profiles.ts";
import { bytesOption } from "../core/text/bytes.ts";
import { durationOption } from "../core/text/duration.ts";
import { OptionError } from "../core/errors.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import type { JsonLimits } from "../wire/parse-json.ts";
import { ABOVE_ZERO, readOptions, type ValuesOf } from "../core/options/option-values.ts";

/** Maximum number of worker processes. */
const MAX_WORKERS = 64;

const TokenSchema = Type.Object({
  token: Type.Secret({ description: "The value of the caller's `Authorization: Bearer …` header.", minLength: 1 }),
  allow: Type.Optional(
    Type.Array(Type.String(), { description: "Globs over tool names; only these may be used.", default: ["*"] }),
  ),
  deny: Type.Optional(
    Type.Array(Type.String(), { description: "Globs over tool names that may not be used.", default: [] }),
  ),
  read_only: Type.Optional(
    Type.Boolean({ description: "Only tools that are read-only by annotation.", default: false }),
  ),
  rate_per_minute: Type.Optional(
    Type.Integer({
      description:
        "Calls per minute of each client with this token; 0 means no limit. Default: `[limits] rate_per_minute`.",
      minimum: 0,
    }),
  ),
});

/** Keys of `[server]` that the listener reads. Endpoints add further keys to the same table. */
export const HTTP_OPTION_SCHEMAS = {
  host: Type.Optional(
    Type.String({
      description: "Address to listen on. Anything but loopback needs a token.",
      default: "127.0.0.1",
      minLength: 1,
    }),
  ),
  port: Type.Optional(
    Type.Integer({ description: "Port to listen on; 0 takes a free one.", default: 8808, minimum: 0, maximum: 65_535 }),
  ),
  base_path: Type.Optional(
    Type.String({ description: "Path prefix of every endpoint, such as `/tools`.", default: "" }),
  ),
  token: Type.Optional(
    Type.Secret({ description: "The one token that callers must send; for several, use `tokens`.", minLength: 1 }),
  ),
  tokens: Type.Optional(
    Type.Record(TokenSchema, {
      description: "Named tokens, each with its rights; the name appears in the audit log.",
      default: {},
    }),
  ),
  profile: Type.Optional(
    Type.Enum(["full", "safe"], {
      description:
        "`safe`: callers over HTTP, with any token, can list and call only tools that are annotated as read-only.",
      default: "full",
    }),
  ),
  insecure: Type.Optional(
    Type.Boolean({
      description:
        "Allow an address other than loopback without a token. `Host` must then be an address, a name of this " +
        "machine, or one of `allowed_hosts` and `public_url`.",
      default: false,
    }),
  ),
  allowed_hosts: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: "Further host names that requests may name in `Host` and `Origin`, without port.",
      default: [],
    }),
  ),
  cors_origins: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: "Origins of web pages that may call the hub, such as `https://app.example`; `*` allows all.",
      default: [],
    }),
  ),
  public_url: Type.Optional(
    Type.String({
      description:
        "Address, with base path, at which browsers on other machines reach this hub. Sign-ins return to " +
        "`/oauth/callback` of this address. With https, the hub serves its client metadata at " +
        "`/oauth/client.json`.",
      examples: ["https://hub.example.com"],
    }),
  ),
  trusted_proxy: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description:
        "Addresses or ranges (`10.0.0.0/8`) of reverse proxies. The hub uses `X-Forwarded-For`, `-Host` and " +
        "`-Proto` from these addresses only.",
      default: [],
    }),
  ),
  max_body_bytes: Type.Optional(bytesOption({ description: "Largest request body.", default: "4MiB" })),
  max_arriving_bytes: Type.Optional(
    bytesOption({
      description:
        "Memory for incomplete requests of all clients together; one token can use at most half of it. Beyond " +
        "the limit, the hub refuses the slowest sender of the client that uses the most. At least twice " +
        "`max_body_bytes`.",
      default: "64MiB",
    }),
  ),
  max_json_depth: Type.Optional(
    Type.Integer({ description: "Maximum nesting of a JSON request.", default: 128, minimum: 8, maximum: 1000 }),
  ),
  max_json_keys: Type.Optional(
    Type.Integer({
      description:
        "Maximum number of keys of one object in a JSON request; all its objects together may have 20 times as many.",
      default: 10_000,
      minimum: 100,
    }),
  ),
  max_header_bytes: Type.Optional(bytesOption({ description: "Largest request head.", default: "32KiB" })),
  max_connections: Type.Optional(
    Type.Integer({
      description: "Maximum number of open connections; further ones are closed.",
      default: 10_000,
      minimum: 1,
    }),
  ),
  request_timeout: Type.Optional(
    durationOption(
      {
        description: "Time within which a request must be complete. Responses and streams are not limited by it.",
        default: "1m",
      },
      ABOVE_ZERO,
    ),
  ),
  idle_timeout: Type.Optional(
    durationOption({ description: "Time that an unused connection is kept open.", default: "1m" }, ABOVE_ZERO),
  ),
  stream_keep_alive: Type.Optional(
    durationOption({ description: "Interval of comments on a quiet event stream.", default: "15s" }, ABOVE_ZERO),
  ),
  max_stream_backlog_bytes: Type.Optional(
    bytesOption({
      description: "Maximum data that wait for a slow reader of an event stream; above it, the stream is closed.",
      default: "4MiB",
    }),
  ),
  stream_stall: Type.Optional(
    durationOption(
      {
        description:
          "Time within which a reader must read some of the waiting data; otherwise its connection is closed.",
        default: "1m",
      },
      ABOVE_ZERO,
    ),
  ),
  shutdown_grace: Type.Optional(
    durationOption({ description: "Time for running requests when the program exits.", default: "10s" }),
  ),
  tls: Type.Optional(
    Type.Object(
      {
        cert: Type.Path({
          description: "PEM file with the server's certificate, followed by the others of its chain.",
          minLength: 1,
        }),
        key: Type.Path({ description: "PEM file with its private key, without a passphrase.", minLength: 1 }),
      },
      { description: "Serves HTTPS in place of HTTP. Both files are read again when they change." },
    ),
  ),
  workers: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: MAX_WORKERS }), Type.String({ pattern: "^(auto|[1-9]\\d?)$" })], {
      examples: ["auto", 4],
      description:
        "Number of processes that serve HTTP connections, in addition to the process that owns tools and " +
        "sessions. `auto`: depends on the cores, none on fewer than four. 1: one process serves everything.",
      default: 1,
    }),
  ),
} as const;

// These times must be above 0, because Node treats 0 as "no limit".
const HttpSchema = Type.Object(HTTP_OPTION_SCHEMAS, { description: "The HTTP listener." });
export type HttpConfig = Static<typeof HttpSchema>;

export interface TokenEntry {
  readonly name: string;
  readonly token: string;
  readonly rights: Rights;
  readonly ratePerMinute?: number;
}

/** Paths of the port's certificate and of its key. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface HttpLimits extends JsonLimits {
  readonly maxBodyBytes: number;
  readonly maxArrivingBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly streamKeepAliveMs: number;
  readonly maxStreamBacklogBytes: number;
  readonly streamStallMs: number;
  readonly shutdownGraceMs: number;
}

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Base path: empty, or `/path` without a trailing slash. */
  readonly basePath: string;
  /** Tokens. If there are none, every client that can connect is the local principal. */
  readonly tokens: readonly TokenEntry[];
  /** True if requests must carry a token. Separate from `tokens`, which workers do not receive. */
  readonly needsToken: boolean;
  /** Profiles, served at `/mcp/<name>`. @default none */
  readonly profiles?: readonly Profile[];
  /** Rights of a caller if there are no tokens. */
  readonly openRights: Rights;
  readonly allowedHosts: readonly string[];
  /** URL for browsers on other machines, without a trailing slash. */
  readonly publicUrl?: string;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Number of processes. 1: only this process serves. */
  readonly workers: number;
  /** Files for encryption. Absent: the port serves plain HTTP. */
  readonly tls?: TlsFiles;
  readonly limits: HttpLimits;
}

/**
 * Applies the defaults. Throws an `OptionError` for an unsafe configuration, such as an address that is open to the
 * network if callers need no token and `access` does not guard the hub.
 */
export function resolveHttp(raw: HttpConfig = {}, access: Pick<AccessPlan, "isGuarded"> = OPEN): HttpOptions {
  const options = readOptions(HttpSchema, raw, "server.");
  const { host, port, trusted_proxy: trustedProxies } = options;
  const tokens = resolveTokens(options);
  assertGuarded(host, tokens.length > 0 || access.isGuarded, options.insecure);
  const isSafe = options.profile === "safe";
  return Object.freeze({
    host,
    port,
    basePath: resolveBasePath(options.base_path),
    tokens: isSafe ? tokens.map((entry) => Object.freeze({ ...entry, rights: readOnlyRights(entry.rights) })) : tokens,
    needsToken: tokens.length > 0 || access.isGuarded,
    openRights: isSafe ? readOnlyRights(EVERYTHING) : EVERYTHING,
    allowedHosts: options.allowed_hosts.map((name) => name.toLowerCase()),
    ...(options.public_url !== undefined && { publicUrl: resolvePublicUrl(options.public_url) }),
    corsOrigins: options.cors_origins.map(resolveOrigin),
    trustedProxies,
    workers: resolveWorkers(options.workers),
    ...(options.tls && { tls: Object.freeze({ certFile: options.tls.cert, keyFile: options.tls.key }) }),
    limits: limitsOf(options),
  });
}

/** Returns the limits for the JSON of a request, for every transport. */
export function resolveJsonLimits(raw: HttpConfig = {}): JsonLimits {
  const { max_json_depth: maxJsonDepth, max_json_keys: maxJsonKeys } = readOptions(HttpSchema, raw, "server.");
  return Object.freeze({ maxJsonDepth, maxJsonKeys });
}

function limitsOf(options: ValuesOf<typeof HttpSchema>): HttpLimits {
  return Object.freeze({
    maxBodyBytes: options.max_body_bytes,
    maxArrivingBytes: options.max_arriving_bytes,
    maxJsonDepth: options.max_json_depth,
    maxJsonKeys: options.max_json_keys,
    maxHeaderBytes: options.max_header_bytes,
    maxConnections: options.max_connections,
    requestTimeoutMs: options.request_timeout,
    idleTimeoutMs: options.idle_timeout,
    streamKeepAliveMs: options.stream_keep_alive,
    maxStreamBacklogBytes: options.max_stream_backlog_bytes,
    streamStallMs: options.stream_stall,
    shutdownGraceMs: options.shutdown_grace,
  });
}

/**
 * Returns the number of workers for `auto`. Below four cores, workers and callers compete for the cores; above four
 * workers, the primary is the bottleneck.
 */
export function autoWorkers(cores: number): number {
  return cores < 4 ? 1 : Math.min(cores - 1, 4);
}

function resolveWorkers(wanted: number | string): number {
  if (wanted === "auto") return autoWorkers(availableParallelism());
  // The value is a string if it comes from an environment variable.
  const workers = Number(wanted);
  if (Number.isInteger(workers) && workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw new OptionError(
    `\`server.workers\` must be a whole number from 1 to ${MAX_WORKERS}, or "auto", got ${JSON.stringify(wanted)}.`,
  );
}

function resolveBasePath(path: string): string {
  const trimmed = path.replace(/(?<!\/)\/+$/, "");
  if (trimmed === "") return "";
  if (/^(\/[A-Za-z0-9._~-]+)+$/.test(trimmed)) return trimmed;
  throw new OptionError(`\`server.base_path\` must be a path such as "/tools", got ${JSON.stringify(path)}.`);
}

function resolvePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isEncrypted = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (url && isEncrypted && url.search === "" && url.hash === "" && url.username === "" && url.password === "")
    return url.href.replace(/(?<!\/)\/+$/, "");
  throw new OptionError(
    "`server.public_url` must be an address that begins with https://, or with http:// on this machine, such as " +
      `"https://hub.example.com"; got ${JSON.stringify(text)}.`,
  );
}

function resolveOrigin(origin: string): string {
  if (origin === "*" || origin === "null") return origin;
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined;
  if (parsed && parsed.host !== "" && parsed.pathname.length <= 1 && parsed.search === "")
    return `${parsed.protocol}//${parsed.host}`;
  throw new OptionError(
    `\`server.cors_origins\` takes origins such as "https://app.example", got ${JSON.stringify(origin)}.`,
  );
}

function resolveTokens({ token, tokens }: ValuesOf<typeof HttpSchema>): readonly TokenEntry[] {
  const entries: TokenEntry[] = token === undefined ? [] : [{ name: "token", token, rights: EVERYTHING }];
  for (const [name, entry] of Object.entries(tokens)) {
    assertOwnName(name, token);
    const rights = rightsWithin({
      ...(entry.allow && { allow: entry.allow }),
      ...(entry.deny && { deny: entry.deny }),
      ...(entry.read_only && { readOnly: true }),
      origin: `token ${name}`,
    });
    const { token: secret, rate_per_minute: ratePerMinute } = entry;
    entries.push({ name, token: secret, rights, ...(ratePerMinute !== undefined && { ratePerMinute }) });
  }
  assertDistinct(entries);
  return Object.freeze(entries);
}

// Throws an `OptionError` if a token's name is reserved. Sessions and parked calls belong to the name, so it must be
// unique.
function assertOwnName(name: string, token: string | undefined): void {
  if (name === LOCAL_PRINCIPAL.id || (name === "token" && token !== undefined)) {
    throw new OptionError(
      `\`server.tokens.${name}\`: \`${name}\` is what ` +
        `${name === "token" ? "the caller of `server.token`" : "a caller without a token"} is called. ` +
        "Choose another name.",
    );
  }
}

function assertDistinct(entries: readonly TokenEntry[]): void {
  const names = new Map<string, string>();
  for (const { name, token } of entries) {
    // The token must not contain a space or a control character, because a header could not carry it.
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new OptionError(
        `The token of \`server.tokens.${name}\` is empty or holds spaces or characters beyond ASCII. ` +
          "Use letters, digits and punctuation only.",
      );
    }
    const other = names.get(token);
    if (other !== undefined)
      throw new OptionError(
        `\`server.tokens\`: \`${name}\` and \`${other}\` have the same token. Give each caller its own.`,
      );
    names.set(token, name);
  }
}

const OPEN: Pick<AccessPlan, "isGuarded"> = { isGuarded: false };

function assertGuarded(host: string, isGuarded: boolean, insecure: boolean): void {
  if (isLoopbackHost(host) || isGuarded || insecure) return;
  throw new OptionError(
    `Refusing to listen on ${host} without a token: any client that reaches this machine could call every tool. ` +
      "Set `server.token` (or --token-env NAME), listen on 127.0.0.1, or pass --insecure (`server.insecure = " +
      "true`) if something else guards the port.",
  );
}
