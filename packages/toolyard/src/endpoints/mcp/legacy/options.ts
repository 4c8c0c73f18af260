import { durationOption } from "../../../core/text/duration.ts";
import { Type, type Static } from "../../../core/options/option-schema.ts";
import { readOptions } from "../../../core/options/option-values.ts";

/** Schema of `[server.sessions]`: sessions of the legacy era. */
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
        description: "Maximum number of sessions; the least recently used one is closed for a new one.",
        default: 10_000,
        minimum: 1,
      }),
    ),
    ask_timeout: Type.Optional(
      durationOption({
        description: "Time that a client has to answer a server request (elicitation, sampling).",
        default: "10m",
      }),
    ),
    max_in_flight: Type.Optional(
      Type.Integer({ description: "Maximum number of concurrent requests of one session.", default: 1000, minimum: 1 }),
    ),
    max_subscriptions: Type.Optional(
      Type.Integer({
        description: "Maximum number of resources to which one session can subscribe.",
        default: 1000,
        minimum: 1,
      }),
    ),
    replay: Type.Optional(
      durationOption({
        description: "Time for which events are kept for clients that lost their stream.",
        default: "5m",
      }),
    ),
    replay_max_bytes: Type.Optional(
      Type.Integer({
        description:
          "Maximum number of bytes of events that are kept for all sessions together; one session can use a " +
          "sixteenth of it.",
        default: 67_108_864,
        minimum: 0,
      }),
    ),
    replay_max_events: Type.Optional(
      Type.Integer({
        description:
          "Maximum number of events that are kept for one session; all sessions together can have 64 times as many.",
        default: 1000,
        minimum: 0,
      }),
    ),
    retry: Type.Optional(
      durationOption({
        description: "Reconnection delay sent to clients for lost streams.",
        default: "1s",
      }),
    ),
  },
  { description: "Sessions of MCP's revisions up to 2025-11-25." },
);

export type LegacySessionConfig = Static<typeof LegacySessionSchema>;

export interface LegacySessionOptions {
  readonly idleMs: number;
  readonly maxSessions: number;
  readonly askTimeoutMs: number;
  readonly maxInFlight: number;
  readonly maxSubscriptions: number;
  readonly replayMs: number;
  readonly replayMaxBytes: number;
  readonly replayMaxEvents: number;
  readonly retryMs: number;
}

export function resolveLegacySessions(raw: LegacySessionConfig = {}): LegacySessionOptions {
  const options = readOptions(LegacySessionSchema, raw, "server.sessions.");
  return Object.freeze({
    idleMs: options.idle,
    maxSessions: options.max,
    askTimeoutMs: options.ask_timeout,
    maxInFlight: options.max_in_flight,
    maxSubscriptions: options.max_subscriptions,
    replayMs: options.replay,
    replayMaxBytes: options.replay_max_bytes,
    replayMaxEvents: options.replay_max_events,
    retryMs: options.retry,
  });
}
