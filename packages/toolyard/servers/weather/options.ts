import { choiceOf, timeOf, urlOf, type Environment } from "../shared/environment.ts";
import { userAgentOf } from "../shared/service.ts";

export const UNIT_SYSTEMS = ["metric", "imperial"] as const;
export type UnitSystem = (typeof UNIT_SYSTEMS)[number];

export interface WeatherOptions {
  /** Base URL of an Open-Meteo server. */
  readonly url: URL;
  /** API key of a customer; the free service requires none. */
  readonly apiKey?: string;
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Time for which an answer is cached, in milliseconds. */
  readonly cacheMs: number;
  /** Units that apply if the caller names none. */
  readonly units: UnitSystem;
  readonly geocoding: {
    /** MCP endpoint of the geocoding service, or of a hub with its tool. */
    readonly url: URL;
    /** Bearer token, if the endpoint requires one. */
    readonly token?: string;
    readonly timeoutMs: number;
  };
  readonly environment: Environment;
}

/** Reads the options. Throws an `OptionError` that names the invalid variable. */
export function resolveWeather(environment: Environment): WeatherOptions {
  const { OPEN_METEO_API_KEY: apiKey, GEOCODING_TOKEN: token } = environment;
  return Object.freeze({
    url: urlOf(
      environment,
      "OPEN_METEO_URL",
      apiKey ? "https://customer-api.open-meteo.com" : "https://api.open-meteo.com",
    ),
    ...(apiKey ? { apiKey } : {}),
    userAgent: userAgentOf(environment),
    timeoutMs: timeOf(environment, "OPEN_METEO_TIMEOUT", 10_000),
    cacheMs: timeOf(environment, "OPEN_METEO_CACHE", 5 * 60_000),
    units: choiceOf(environment, "WEATHER_UNITS", { choices: UNIT_SYSTEMS, fallback: "metric" }),
    geocoding: {
      url: urlOf(environment, "GEOCODING_URL", "http://127.0.0.1:50054/mcp"),
      ...(token ? { token } : {}),
      timeoutMs: timeOf(environment, "GEOCODING_TIMEOUT", 10_000),
    },
    environment,
  });
}
