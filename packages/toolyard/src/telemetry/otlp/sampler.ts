import { OptionError } from "../../core/errors.ts";

/** Names of the samplers (`OTEL_TRACES_SAMPLER`). */
export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** Decides whether a trace is recorded. */
export interface Sampler {
  /** Decides about a new trace, before it has an id. `word`: the last 32 bits of the id. */
  recordsNew(word: number): boolean;
  /** Decides about the trace of a caller. `traceparent` is its context, and `isSampled` its decision. */
  recordsCallers(traceparent: string, isSampled: boolean): boolean;
}

export function createSampler(name: SamplerName, ratio: number): Sampler {
  if (!(ratio >= 0 && ratio <= 1))
    throw new OptionError(`The ratio of traces must be a number from 0 to 1, got \`${ratio}\`.`);
  const recordsNew = ownSampler(name.replace("parentbased_", ""), ratio);
  const recordsCallers = name.startsWith("parentbased_")
    ? (_traceparent: string, isSampled: boolean) => isSampled
    : (traceparent: string) => recordsNew(Number.parseInt(traceparent.slice(27, 35), 16));
  return { recordsNew, recordsCallers };
}

function ownSampler(name: string, ratio: number): Sampler["recordsNew"] {
  if (name === "always_on") return () => true;
  if (name === "always_off") return () => false;
  // The last 32 bits of a trace id are random (W3C Trace Context Level 2), so all hubs decide alike.
  const bound = ratio * 2 ** 32;
  return (word) => word < bound;
}
