import { OptionError } from "../../../core/errors.ts";
import { Type, type Static } from "../../../core/option-schema.ts";

/** `[mcp.sessions]`: sessions of the legacy era. */
export const legacySessionSchema = Type.Object({
  idle_seconds: Type.Optional(Type.Number({ description: "A session without requests and open streams ends after this time.", default: 1800, minimum: 1 })),
  max: Type.Optional(Type.Integer({ description: "Sessions at once; the one idle for longest makes room for a new one.", default: 10_000, minimum: 1 })),
  ask_timeout_seconds: Type.Optional(
    Type.Number({ description: "How long a client may take to answer a question that a tool puts to it (elicitation, sampling).", default: 600, minimum: 1 }),
  ),
  max_in_flight: Type.Optional(Type.Integer({ description: "Requests of one session that may run at once.", default: 1000, minimum: 1 })),
  max_subscriptions: Type.Optional(Type.Integer({ description: "Resources that one session may subscribe to.", default: 1000, minimum: 1 })),
  replay_seconds: Type.Optional(Type.Number({ description: "How long events are kept for clients that lost their stream.", default: 300, minimum: 0 })),
  replay_max_bytes: Type.Optional(
    Type.Integer({ description: "Bytes of events kept for all sessions together; one session gets a sixteenth of it.", default: 67_108_864, minimum: 0 }),
  ),
  replay_max_events: Type.Optional(Type.Integer({ description: "Events kept for one session.", default: 1000, minimum: 0 })),
  retry_ms: Type.Optional(Type.Integer({ description: "What clients are told to wait before they take up a lost stream again.", default: 1000, minimum: 0 })),
});

export type LegacySessionSettings = Static<typeof legacySessionSchema>;

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

export function resolveLegacySessions(settings: LegacySessionSettings = {}): LegacySessionOptions {
  const options: LegacySessionOptions = {
    idleMs: (settings.idle_seconds ?? 1800) * 1000,
    maxSessions: settings.max ?? 10_000,
    askTimeoutMs: (settings.ask_timeout_seconds ?? 600) * 1000,
    maxInFlight: settings.max_in_flight ?? 1000,
    maxSubscriptions: settings.max_subscriptions ?? 1000,
    replayMs: (settings.replay_seconds ?? 300) * 1000,
    replayMaxBytes: settings.replay_max_bytes ?? 64 * 1024 * 1024,
    replayMaxEvents: settings.replay_max_events ?? 1000,
    retryMs: settings.retry_ms ?? 1000,
  };
  for (const [name, value] of Object.entries(options)) {
    if (!Number.isFinite(value) || value < 0) throw new OptionError(`\`${name}\` of the legacy sessions must be a number from 0 on, got \`${value}\`.`);
  }
  return Object.freeze(options);
}
