import { bytesOption, parseBytes } from "../core/bytes.ts";
import { durationOption, parseDuration } from "../core/duration.ts";
import { OptionError } from "../core/errors.ts";
import { Type, type Static } from "../core/option-schema.ts";

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
      durationOption({
        description:
          "How long a call may take without a sign of life; progress resets it. Sources and tools may set their own.",
        default: "60s",
      }),
    ),
    total_timeout: Type.Optional(
      durationOption({ description: "How long a call may take in all, progress or not.", default: "1h" }),
    ),
    rate_per_minute: Type.Optional(
      Type.Integer({ description: "Calls a minute for each client; 0 for no bound.", default: 600, minimum: 0 }),
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
    max_result_bytes: Type.Optional(bytesOption({ description: "Largest result of a call.", default: "10MB" })),
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
  readonly ratePerMinute: number;
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
  return Object.freeze({
    callTimeoutMs: positive("call_timeout", parseDuration(raw.call_timeout ?? "60s", "call_timeout")),
    totalTimeoutMs: positive("total_timeout", parseDuration(raw.total_timeout ?? "1h", "total_timeout")),
    ratePerMinute: whole("rate_per_minute", raw.rate_per_minute ?? 600, 0),
    inFlight: whole("in_flight", raw.in_flight ?? 64, 0),
    queue: whole("queue", raw.queue ?? 100, 0),
    maxResultBytes: positive("max_result_bytes", parseBytes(raw.max_result_bytes ?? "10MB", "max_result_bytes")),
    slowCallMs: parseDuration(raw.slow_call ?? "10s", "slow_call"),
    outputValidation: outputValidation(raw.output_validation ?? "warn"),
    confirmDestructive: raw.confirm_destructive ?? false,
    breaker: resolveBreaker(raw.breaker),
    retries: resolveRetries(raw.retries),
  });
}

function resolveBreaker({ failures = 5, cool_down = "5s" }: Static<typeof BreakerSchema> = {}): BreakerOptions {
  return Object.freeze({
    failures: whole("breaker.failures", failures, 1),
    coolDownMs: parseDuration(cool_down, "breaker.cool_down"),
  });
}

function resolveRetries({
  attempts = 3,
  base_delay = "100ms",
  max_delay = "2s",
}: Static<typeof RetriesSchema> = {}): RetryOptions {
  return Object.freeze({
    attempts: whole("retries.attempts", attempts, 1),
    baseDelayMs: parseDuration(base_delay, "retries.base_delay"),
    maxDelayMs: parseDuration(max_delay, "retries.max_delay"),
  });
}

function positive(name: string, value: number): number {
  if (value > 0) return value;
  throw new OptionError(`\`${name}\` must be above 0, got ${value}.`);
}

function whole(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new OptionError(`\`${name}\` must be a whole number of at least ${least}, got ${JSON.stringify(value)}.`);
}

function outputValidation(value: string): OutputValidation {
  if (value === "off" || value === "warn" || value === "strict") return value;
  throw new OptionError(`\`output_validation\` must be "off", "warn" or "strict", got ${JSON.stringify(value)}.`);
}
