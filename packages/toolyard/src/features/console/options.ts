import { Type, type Static } from "../../core/options/option-schema.ts";
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
    max_sessions: Type.Optional(
      Type.Integer({
        description: "Most browser sessions at a time; a further one ends the session that was used least recently.",
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
    maxSessions: read.max_sessions,
    maxStreams: read.max_streams,
    keptCalls: read.kept_calls,
    eventsPerSecond: read.events_per_second,
  });
}
