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

/** Decides whether a trace is recorded. `parent`: the decision of the caller; absent for a new trace. */
export type Sampler = (traceId: string, parent: boolean | undefined) => boolean;

export function createSampler(name: SamplerName, ratio: number): Sampler {
  if (!(ratio >= 0 && ratio <= 1))
    throw new OptionError(`The ratio of traces must be a number from 0 to 1, got \`${ratio}\`.`);
  const own = ownSampler(name.replace("parentbased_", ""), ratio);
  return name.startsWith("parentbased_") ? (traceId, parent) => parent ?? own(traceId) : (traceId) => own(traceId);
}

function ownSampler(name: string, ratio: number): (traceId: string) => boolean {
  if (name === "always_on") return () => true;
  if (name === "always_off") return () => false;
  // The last 32 bits of a trace id are random (W3C Trace Context Level 2), so all hubs decide alike.
  const bound = ratio * 2 ** 32;
  return (traceId) => Number.parseInt(traceId.slice(-8), 16) < bound;
}
