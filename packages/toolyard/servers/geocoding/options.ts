import { timeOf, urlOf, type Environment } from "../shared/environment.ts";
import { userAgentOf } from "../shared/service.ts";

export interface GeocodingOptions {
  /** Base URL of a Nominatim server. */
  readonly url: URL;
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Minimum time between two requests, in milliseconds. */
  readonly intervalMs: number;
  /** Time for which an answer is cached, in milliseconds. */
  readonly cacheMs: number;
  readonly environment: Environment;
}

/** Reads the options. Throws an `OptionError` that names the invalid variable. */
export function resolveGeocoding(environment: Environment): GeocodingOptions {
  return Object.freeze({
    url: urlOf(environment, "NOMINATIM_URL", "https://nominatim.openstreetmap.org"),
    userAgent: userAgentOf(environment),
    timeoutMs: timeOf(environment, "NOMINATIM_TIMEOUT", 10_000),
    intervalMs: timeOf(environment, "NOMINATIM_INTERVAL", 1000),
    cacheMs: timeOf(environment, "NOMINATIM_CACHE", 24 * 3_600_000),
    environment,
  });
}
