import { bytesOption } from "../core/text/bytes.ts";
import { durationOption } from "../core/text/duration.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../core/options/option-values.ts";

/** Default calls per minute of one client. */
export const RATE_PER_MINUTE = 600;

const BreakerSchema = Type.Object(
  {
    failures: Type.Optional(
      Type.Integer({
        description: "Number of consecutive failures after which calls to the server stop.",
        default: 5,
        minimum: 1,
      }),
    ),
    cool_down: Type.Optional(
      durationOption({ description: "Time before one call tries the server again.", default: "5s" }),
    ),
  },
  {
    description:
      "Circuit breaker: stops calls to a server that is down. Only an unreachable server and invalid messages " +
      "count, not failures that tools report.",
  },
);

const RetriesSchema = Type.Object(
  {
    attempts: Type.Optional(
      Type.Integer({
        description: "Maximum number of attempts for a call; 1 means no retry.",
        default: 3,
        minimum: 1,
        maximum: 10,
      }),
    ),
    base_delay: Type.Optional(
      durationOption({
        description:
          "Maximum pause before the first retry. It doubles with each retry; the actual pause is a random part of it.",
        default: "100ms",
      }),
    ),
    max_delay: Type.Optional(durationOption({ description: "Maximum pause before a retry.", default: "2s" })),
  },
  {
    description:
      "A request that did not reach its server is sent again. A request that did is repeated only if the tool " +
      "is annotated as read-only or idempotent.",
  },
);

/** Schema of the section `[limits]`. */
export const LimitsSchema = Type.Object(
  {
    call_timeout: Type.Optional(
      durationOption(
        {
          description:
            "Maximum time of a call without activity; progress resets it. Sources and tools can have their own limit.",
          default: "60s",
        },
        ABOVE_ZERO,
      ),
    ),
    total_timeout: Type.Optional(
      durationOption(
        { description: "Maximum duration of a call, with or without progress.", default: "1h" },
        ABOVE_ZERO,
      ),
    ),
    rate_per_minute: Type.Optional(
      Type.Integer({
        description:
          "Calls per minute of each client; 0 means no limit. If it is not set, local callers without a token have " +
          "no limit.",
        default: RATE_PER_MINUTE,
        minimum: 0,
      }),
    ),
    in_flight: Type.Optional(
      Type.Integer({
        description: "Maximum number of concurrent calls of one client; 0 means no limit.",
        default: 64,
        minimum: 0,
      }),
    ),
    queue: Type.Optional(
      Type.Integer({
        description: "Maximum number of calls that wait for one tool with `max_concurrent`.",
        default: 100,
        minimum: 0,
      }),
    ),
    max_result_bytes: Type.Optional(
      bytesOption({ description: "Largest result of a call.", default: "10MB" }, ABOVE_ZERO),
    ),
    slow_call: Type.Optional(
      durationOption({ description: "Duration above which a call is mentioned in the log.", default: "10s" }),
    ),
    output_validation: Type.Optional(
      Type.Enum(["off", "warn", "strict"], {
        description:
          "What happens when structured content does not fit the tool's own output schema: nothing, a line in " +
          "the log, or a failed call.",
        default: "warn",
      }),
    ),
    confirm_destructive: Type.Optional(
      Type.Boolean({
        description: "Tools that are destructive by annotation run only with `confirm: true` among their arguments.",
        default: false,
      }),
    ),
    breaker: Type.Optional(BreakerSchema),
    retries: Type.Optional(RetriesSchema),
  },
  { description: "Limits of every call." },
);

export type LimitsConfig = Static<typeof LimitsSchema>;
export type OutputValidation = "off" | "warn" | "strict";

export interface BreakerOptions {
  readonly failures: number;
  readonly coolDownMs: number;
}

export interface RetryOptions {
  readonly attempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

export interface LimitsOptions {
  readonly callTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** Absent: `RATE_PER_MINUTE` for callers that are not local. */
  readonly ratePerMinute?: number;
  readonly inFlight: number;
  readonly queue: number;
  readonly maxResultBytes: number;
  readonly slowCallMs: number;
  readonly outputValidation: OutputValidation;
  readonly confirmDestructive: boolean;
  readonly breaker: BreakerOptions;
  readonly retries: RetryOptions;
}

export function resolveLimits(raw: LimitsConfig = {}): LimitsOptions {
  const limits = readOptions(LimitsSchema, raw);
  return Object.freeze({
    callTimeoutMs: limits.call_timeout,
    totalTimeoutMs: limits.total_timeout,
    ...(raw.rate_per_minute !== undefined && { ratePerMinute: limits.rate_per_minute }),
    inFlight: limits.in_flight,
    queue: limits.queue,
    maxResultBytes: limits.max_result_bytes,
    slowCallMs: limits.slow_call,
    outputValidation: limits.output_validation,
    confirmDestructive: limits.confirm_destructive,
    breaker: resolveBreaker(raw.breaker),
    retries: resolveRetries(raw.retries),
  });
}

function resolveBreaker(raw: LimitsConfig["breaker"]): BreakerOptions {
  const { failures, cool_down: coolDownMs } = readOptions(BreakerSchema, raw, "breaker.");
  return Object.freeze({ failures, coolDownMs });
}

function resolveRetries(raw: LimitsConfig["retries"]): RetryOptions {
  const { attempts, base_delay: baseDelayMs, max_delay: maxDelayMs } = readOptions(RetriesSchema, raw, "retries.");
  return Object.freeze({ attempts, baseDelayMs, maxDelayMs });
}
