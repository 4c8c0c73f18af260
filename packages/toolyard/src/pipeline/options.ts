import { bytesOption } from "../core/text/bytes.ts";
import { durationOption } from "../core/text/duration.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../core/options/option-values.ts";

/** Calls a minute of one client, where nothing else is said. */
export const RATE_PER_MINUTE = 600;

const BreakerSchema = Type.Object(
  {
    failures: Type.Optional(
      Type.Integer({
        description: "Calls in a row that must fail before a server is left alone for a while.",
        default: 5,
        minimum: 1,
      }),
    ),
    cool_down: Type.Optional(
      durationOption({ description: "How long it is left alone before one call tries it again.", default: "5s" }),
    ),
  },
  {
    description:
      "Keeps calls from waiting for a server that is down. " +
      "Failures of tools do not count, only a server that is not there or answers nonsense.",
  },
);

const RetriesSchema = Type.Object(
  {
    attempts: Type.Optional(
      Type.Integer({
        description: "How often a call is made at most; 1 means no retry.",
        default: 3,
        minimum: 1,
        maximum: 10,
      }),
    ),
    base_delay: Type.Optional(
      durationOption({
        description: "Longest pause before the first retry; it doubles with each, and a random part of it is waited.",
        default: "100ms",
      }),
    ),
    max_delay: Type.Optional(durationOption({ description: "Longest pause before any retry.", default: "2s" })),
  },
  {
    description:
      "What never reached its server is tried again; what did, only if the tool is read-only or " +
      "idempotent by annotation.",
  },
);

/** The section `[limits]`. */
export const LimitsSchema = Type.Object(
  {
    call_timeout: Type.Optional(
      durationOption(
        {
          description:
            "How long a call may take without a sign of life; progress resets it. Sources and tools may set their own.",
          default: "60s",
        },
        ABOVE_ZERO,
      ),
    ),
    total_timeout: Type.Optional(
      durationOption({ description: "How long a call may take in all, progress or not.", default: "1h" }, ABOVE_ZERO),
    ),
    rate_per_minute: Type.Optional(
      Type.Integer({
        description:
          "Calls a minute for each client; 0 for no bound. Where it is not set, callers of this machine without " +
          "a token have none.",
        default: RATE_PER_MINUTE,
        minimum: 0,
      }),
    ),
    in_flight: Type.Optional(
      Type.Integer({
        description: "Calls of one client that may run at the same time; 0 for no bound.",
        default: 64,
        minimum: 0,
      }),
    ),
    queue: Type.Optional(
      Type.Integer({
        description: "Calls that may wait for one tool with `max_concurrent`.",
        default: 100,
        minimum: 0,
      }),
    ),
    max_result_bytes: Type.Optional(
      bytesOption({ description: "Largest result of a call.", default: "10MB" }, ABOVE_ZERO),
    ),
    slow_call: Type.Optional(
      durationOption({ description: "Calls that take longer are mentioned in the log.", default: "10s" }),
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
  { description: "Bounds of every call." },
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
  /** Absent: `RATE_PER_MINUTE` for whoever is not local. */
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
