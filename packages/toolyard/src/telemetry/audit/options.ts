import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions, type ValuesOf } from "../../core/options/option-values.ts";
import { bytesOption } from "../../core/text/bytes.ts";
import { durationOption } from "../../core/text/duration.ts";
import type { RotationOptions } from "./rotating-file.ts";
import type { SyslogAddress } from "./syslog-sink.ts";
import type { WebhookOptions } from "./webhook-sink.ts";

const SyslogSchema = Type.Object(
  {
    address: Type.String({
      description: "Server: `udp://127.0.0.1:514` or `tcp://logs.example.com:601`.",
      examples: ["udp://127.0.0.1:514"],
      minLength: 1,
    }),
    facility: Type.Optional(
      Type.Integer({
        description: "Number of the facility (RFC 5424); 13 is log audit.",
        default: 13,
        minimum: 0,
        maximum: 23,
      }),
    ),
  },
  { description: "Sends each line to a syslog server as a message of RFC 5424." },
);

const WebhookSchema = Type.Object(
  {
    url: Type.String({
      description: "Address that lines are posted to, gathered for a second, as `application/x-ndjson`.",
      minLength: 1,
    }),
    token: Type.Optional(Type.Secret({ description: "Sent as `Authorization: Bearer`.", minLength: 1 })),
  },
  { description: "Posts lines to a web server, with retries." },
);

/** Text for the user, who must accept the address to which lines are sent. */
const SENDS = "sends the audit to";

/** The section `[audit]`. */
export const AuditSchema = Type.Object(
  {
    file: Type.Optional(
      Type.Path({
        description: "File that gets one JSON line for each call and event: who, where, what, outcome; no values.",
      }),
    ),
    stderr: Type.Optional(Type.Boolean({ description: "Writes these lines to standard error.", default: false })),
    max_size: Type.Optional(
      bytesOption({ description: "Size at which the file is renamed and a new one begins. 0: never.", default: "0" }),
    ),
    keep: Type.Optional(
      Type.Integer({ description: "Renamed files that are kept. 0: all.", default: 0, minimum: 0, maximum: 100_000 }),
    ),
    retention: Type.Optional(
      durationOption({ description: "Age at which a renamed file is deleted, such as `90d`. 0: never.", default: 0 }),
    ),
    chain: Type.Optional(
      Type.Boolean({
        description: "Links the lines of the file by hashes, which `toolyard audit verify` checks.",
        default: false,
      }),
    ),
    chain_key: Type.Optional(
      Type.Secret({
        description: "Key of the hashes (HMAC), so that a file cannot be written anew without it.",
        minLength: 16,
      }),
    ),
    arguments: Type.Optional(
      Type.Boolean({ description: "Writes the arguments of calls too, without secrets, shortened.", default: false }),
    ),
    syslog: Type.Optional(
      Type.Table(SyslogSchema, { starts: { keys: ["address"], shownKeys: ["address"], before: SENDS } }),
    ),
    webhook: Type.Optional(
      Type.Table(WebhookSchema, {
        starts: { keys: ["url", "token"], shownKeys: ["url"], before: SENDS, sendsTo: ["url"] },
      }),
    ),
  },
  { description: "One line for each call, sign-in, change of the configuration and administrative action." },
);

export type AuditConfig = Static<typeof AuditSchema>;

export interface AuditFileOptions {
  readonly path: string;
  readonly rotation: RotationOptions;
  readonly isChained: boolean;
  readonly chainKey?: string;
}

/** Targets of audit lines. If there are none, no line is built. */
export interface AuditOptions {
  readonly file?: AuditFileOptions;
  readonly isOnStderr: boolean;
  readonly syslog?: SyslogAddress;
  readonly webhook?: WebhookOptions;
  readonly hasArguments: boolean;
}

export function resolveAudit(raw: AuditConfig = {}): AuditOptions {
  const options = readOptions(AuditSchema, raw, "audit.");
  const { file, stderr, syslog, webhook } = options;
  if (file !== undefined && stderr)
    throw new OptionError("`audit.file` and `audit.stderr` are both set. Keep only one.");
  if (file === undefined && (options.chain || options.chain_key !== undefined))
    throw new OptionError("`audit.chain` links the lines of a file. Set `audit.file`, or remove `audit.chain`.");
  return Object.freeze({
    isOnStderr: stderr,
    hasArguments: options.arguments,
    ...(file !== undefined && { file: fileOptions(file, options) }),
    ...(syslog && { syslog: parseSyslog(syslog) }),
    ...(webhook && { webhook: parseWebhook(webhook) }),
  });
}

function fileOptions(
  path: string,
  { max_size: maxBytes, keep, retention: retentionMs, chain, chain_key: chainKey }: ValuesOf<typeof AuditSchema>,
): AuditFileOptions {
  const isChained = chain || chainKey !== undefined;
  return { path, rotation: { maxBytes, keep, retentionMs }, isChained, ...(chainKey !== undefined && { chainKey }) };
}

function parseWebhook({ url, token }: Static<typeof WebhookSchema>): WebhookOptions {
  return { url: parseUrl(url), ...(token !== undefined && { token }) };
}

const SYSLOG = /^(?<protocol>udp|tcp):\/\/(?<host>\[[\da-f:.]+\]|[\w.-]+):(?<port>\d{1,5})$/i;
const DEFAULT_FACILITY = 13;
const MAX_PORT = 65_535;

function parseSyslog({ address, facility = DEFAULT_FACILITY }: Static<typeof SyslogSchema>): SyslogAddress {
  const { protocol = "", host = "", port = "" } = SYSLOG.exec(address)?.groups ?? {};
  if (protocol === "" || Number(port) > MAX_PORT)
    throw new OptionError(
      "`audit.syslog.address` must be an address such as `udp://127.0.0.1:514` or `tcp://logs.example.com:601`, got " +
        `${JSON.stringify(address)}.`,
    );
  return {
    protocol: protocol.toLowerCase() as "udp" | "tcp",
    host: host.replaceAll(/[[\]]/g, ""),
    port: Number(port),
    facility,
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw new OptionError(
    "`audit.webhook.url` must be an address that starts with https:// or http:// and has no user name or password. " +
      "Use `audit.webhook.token` for credentials.",
  );
}
