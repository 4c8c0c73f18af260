import { Type, type Static } from "../../core/options/option-schema.ts";
import type { CodeFlowClient } from "../../core/ports/code-flow.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { durationOption } from "../../core/text/duration.ts";

export const ConsoleSchema = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        description:
          "Serves the console at `/console` and its API at `/api/admin`. A hub that other machines can reach serves " +
          "them only if callers must authenticate.",
        default: true,
      }),
    ),
    admins: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Callers that may change sources and settings: `token:NAME`, `user:NAME`, `group:NAME` or `role:NAME`. " +
          "For users of an external issuer, `user:` is followed by the `sub` of the token, because users may choose " +
          "their names there. Callers also need rights that are not narrowed. Default: the tokens of `[server]`. A " +
          "hub without authentication is read-only here.",
      }),
    ),
    session_time: Type.Optional(
      durationOption(
        { description: "Time after which a browser session without requests ends.", default: "12h" },
        { least: 60_000, most: 30 * 86_400_000, must: "must be from 1 minute to 30 days" },
      ),
    ),
    client_id: Type.Optional(
      Type.String({
        description:
          "Client id of the console at the identity provider of `[auth.issuer]`. Its redirect address is the hub's " +
          "address followed by `/api/admin/callback`. Absent: users paste an access token. The hub's own sign-in " +
          "(`builtin`) needs none.",
        minLength: 1,
      }),
    ),
    client_secret: Type.Optional(
      Type.Secret({ description: "Client secret that belongs to `client_id`. Absent: a public client with PKCE." }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
        description:
          "Scopes that the console requests at the identity provider besides `auth.scopes`. With `offline_access`, " +
          "most providers issue a refresh token, which keeps the session beyond one access token.",
        default: ["openid"],
      }),
    ),
    resource_parameter: Type.Optional(
      Type.Boolean({
        description:
          "Names this hub in requests to the identity provider (`resource` of RFC 8707). Disable it for providers " +
          "that refuse the parameter, such as Entra ID.",
        default: true,
      }),
    ),
    max_sessions: Type.Optional(
      Type.Integer({
        description:
          "Most browser sessions at a time; a further one ends the session that was used least recently. With a " +
          "`[store]`, the number for all hubs.",
        default: 64,
        minimum: 1,
        maximum: 10_000,
      }),
    ),
    max_streams: Type.Optional(
      Type.Integer({
        description: "Most open event streams, over all browsers.",
        default: 64,
        minimum: 1,
        maximum: 10_000,
      }),
    ),
    kept_calls: Type.Optional(
      Type.Integer({
        description: "Number of recent calls that the console can show.",
        default: 1000,
        minimum: 10,
        maximum: 20_000,
      }),
    ),
    events_per_second: Type.Optional(
      Type.Integer({
        description:
          "Most calls, and most lines of the log, that one event stream sends in a second. The others are counted.",
        default: 50,
        minimum: 1,
        maximum: 1000,
      }),
    ),
  },
  { description: "The web console for people who run the hub." },
);
export type ConsoleConfig = Static<typeof ConsoleSchema>;

export interface ConsoleOptions {
  readonly enabled: boolean;
  /** Callers that may change sources and settings. Absent: the local caller, and callers with static tokens. */
  readonly admins?: readonly string[];
  readonly sessionMs: number;
  /** The console as a client of the external issuer. */
  readonly client: CodeFlowClient;
  readonly maxSessions: number;
  readonly maxStreams: number;
  readonly keptCalls: number;
  readonly eventsPerSecond: number;
}

/** Returns the options with defaults. Throws an `OptionError`. */
export function resolveConsole(raw: ConsoleConfig = {}): ConsoleOptions {
  const read = readOptions(ConsoleSchema, raw, "console.");
  return Object.freeze({
    enabled: read.enabled,
    ...(read.admins && { admins: read.admins }),
    sessionMs: read.session_time,
    client: {
      ...(read.client_id !== undefined && { clientId: read.client_id }),
      ...(read.client_secret !== undefined && { clientSecret: read.client_secret }),
      scopes: read.scopes,
      namesResource: read.resource_parameter,
    },
    maxSessions: read.max_sessions,
    maxStreams: read.max_streams,
    keptCalls: read.kept_calls,
    eventsPerSecond: read.events_per_second,
  });
}
