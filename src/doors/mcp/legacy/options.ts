import { durationOption, parseDuration } from "../../../core/duration.ts";
import { OptionError } from "../../../core/errors.ts";
import { Type, type Static } from "../../../core/option-schema.ts";

/** `[server.sessions]`: sessions of the legacy era. */
export const LegacySessionSchema = Type.Object(
  {
    idle: Type.Optional(
      durationOption({
        description: "A session without requests and open streams ends after this time.",
        default: "30m",
      }),
    ),
    max: Type.Optional(
      Type.Integer({
        description: "Sessions at once; the one idle for longest makes room for a new one.",
        default: 10_000,
        minimum: 1,
      }),
    ),
    ask_timeout: Type.Optional(
      durationOption({
        description: "How long a client may take to answer a question that a tool puts to it (elicitation, sampling).",
        default: "10m",
      }),
    ),
    max_in_flight: Type.Optional(
      Type.Integer({ description: "Requests of one session that may run at once.", default: 1000, minimum: 1 }),
    ),
    max_subscriptions: Type.Optional(
      Type.Integer({ description: "Resources that one session may subscribe to.", default: 1000, minimum: 1 }),
    ),
    replay: Type.Optional(
      durationOption({ description: "How long events are kept for clients that lost their stream.", default: "5m" }),
    ),
    replay_max_bytes: Type.Optional(
      Type.Integer({
        description: "Bytes of events kept for all sessions together; one session gets a sixteenth of it.",
        default: 67_108_864,
        minimum: 0,
      }),
    ),
    replay_max_events: Type.Optional(
      Type.Integer({
        description: "Events kept for one session; all together may have 64 times as many.",
        default: 1000,
        minimum: 0,
      }),
    ),
    retry: Type.Optional(
      durationOption({
        description: "What clients are told to wait before they take up a lost stream again.",
        default: "1s",
      }),
    ),
  },
  { description: "Sessions of MCP's revisions up to 2025-11-25." },
);

export type LegacySessionConfig = Static<typeof LegacySessionSchema>;

export interface LegacySessionOptions {
  /** @default 1_800_000 */
  readonly idleMs: number;
  /** @default 10_000 */
  readonly maxSessions: number;
  /** @default 600_000 */
  readonly askTimeoutMs: number;
  /** @default 1000 */
  readonly maxInFlight: number;
  /** @default 1000 */
  readonly maxSubscriptions: number;
  /** @default 300_000 */
  readonly replayMs: number;
  /** @default 67_108_864 */
  readonly replayMaxBytes: number;
  /** @default 1000 */
  readonly replayMaxEvents: number;
  /** @default 1000 */
  readonly retryMs: number;
}

export function resolveLegacySessions(raw: LegacySessionConfig = {}): LegacySessionOptions {
  const options: LegacySessionOptions = {
    idleMs: parseDuration(raw.idle ?? "30m", "server.sessions.idle"),
    maxSessions: raw.max ?? 10_000,
    askTimeoutMs: parseDuration(raw.ask_timeout ?? "10m", "server.sessions.ask_timeout"),
    maxInFlight: raw.max_in_flight ?? 1000,
    maxSubscriptions: raw.max_subscriptions ?? 1000,
    replayMs: parseDuration(raw.replay ?? "5m", "server.sessions.replay"),
    replayMaxBytes: raw.replay_max_bytes ?? 64 * 1024 * 1024,
    replayMaxEvents: raw.replay_max_events ?? 1000,
    retryMs: parseDuration(raw.retry ?? "1s", "server.sessions.retry"),
  };
  const counts = {
    max: options.maxSessions,
    max_in_flight: options.maxInFlight,
    max_subscriptions: options.maxSubscriptions,
  };
  for (const [name, value] of Object.entries(counts)) {
    if (!Number.isInteger(value) || value < 1)
      throw new OptionError(`\`server.sessions.${name}\` must be a whole number above 0, got \`${value}\`.`);
  }
  return Object.freeze(options);
}
