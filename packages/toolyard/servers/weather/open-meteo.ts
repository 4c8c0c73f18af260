import { createHttpSource, type HttpSource } from "toolyard";
import { ServiceFailure } from "../shared/failure.ts";
import { conditionOf } from "./conditions.ts";
import type { UnitSystem, WeatherOptions } from "./options.ts";

export interface Units {
  readonly temperature: "celsius" | "fahrenheit";
  readonly wind_speed: "kmh" | "ms" | "mph" | "kn";
  readonly precipitation: "mm" | "inch";
}

export const UNITS: Readonly<Record<UnitSystem, Units>> = {
  metric: { temperature: "celsius", wind_speed: "kmh", precipitation: "mm" },
  imperial: { temperature: "fahrenheit", wind_speed: "mph", precipitation: "inch" },
};

export interface ForecastQuery {
  readonly latitude: number;
  readonly longitude: number;
  /** Number of days, including today; 0 for the current weather only. */
  readonly days: number;
  readonly units: Units;
}

/** Forecast in the units that `units` names; unknown values are `null`. */
export interface Forecast {
  /** IANA name of the time zone of all times. */
  readonly timezone: string;
  readonly units: Readonly<Record<string, string>>;
  readonly current: Readonly<Record<string, string | number | boolean | null>>;
  readonly forecast: readonly Readonly<Record<string, string | number | null>>[];
}

/** Maps the members of the tool's answer to the provider's names. */
const CURRENT = {
  temperature: "temperature_2m",
  apparent_temperature: "apparent_temperature",
  humidity: "relative_humidity_2m",
  precipitation: "precipitation",
  cloud_cover: "cloud_cover",
  pressure: "pressure_msl",
  wind_speed: "wind_speed_10m",
  wind_direction: "wind_direction_10m",
  wind_gusts: "wind_gusts_10m",
} as const;

const DAILY = {
  temperature_max: "temperature_2m_max",
  temperature_min: "temperature_2m_min",
  precipitation: "precipitation_sum",
  precipitation_probability: "precipitation_probability_max",
  wind_speed_max: "wind_speed_10m_max",
  wind_gusts_max: "wind_gusts_10m_max",
} as const;

const CACHED = 500;

/** Requests the weather at coordinates from an Open-Meteo server. */
export class OpenMeteo {
  readonly #source: HttpSource;
  readonly #apiKey: string | undefined;

  constructor({ url, apiKey, userAgent, timeoutMs, cacheMs, environment }: WeatherOptions) {
    this.#source = createHttpSource({
      service: "Open-Meteo",
      url,
      userAgent,
      timeoutMs,
      cacheMs,
      cacheEntries: CACHED,
      environment,
      reasonOf,
    });
    this.#apiKey = apiKey;
  }

  /** Requests a forecast. Rejects with a `FailError`, or with a `ServiceFailure` if the answer is not a forecast. */
  async forecast({ latitude, longitude, days, units }: ForecastQuery, signal: AbortSignal): Promise<Forecast> {
    const query = {
      latitude: latitude.toFixed(4),
      longitude: longitude.toFixed(4),
      current: [...Object.values(CURRENT), "weather_code", "is_day"].join(","),
      ...(days > 0
        ? { daily: [...Object.values(DAILY), "weather_code", "sunrise", "sunset"].join(","), forecast_days: days }
        : {}),
      timezone: "auto",
      temperature_unit: units.temperature,
      wind_speed_unit: units.wind_speed,
      precipitation_unit: units.precipitation,
      apikey: this.#apiKey,
    };
    return readForecast(await this.#source.getJson("v1/forecast", query, signal), days);
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

/** Returns the reason in an error response: `{"error": true, "reason": "…"}`. */
function reasonOf(body: unknown): string | undefined {
  const reason = isObject(body) ? body["reason"] : undefined;
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}

function readForecast(answer: unknown, days: number): Forecast {
  const { current, current_units: currentUnits, daily, timezone } = isObject(answer) ? answer : {};
  if (!isObject(current) || typeof current["time"] !== "string") throw malformed("no current weather");
  if (days > 0 && !(isObject(daily) && Array.isArray(daily["time"]))) throw malformed("no forecast");
  const zone = typeof timezone === "string" ? timezone : "GMT";
  return {
    timezone: zone,
    units: unitsOf(isObject(currentUnits) ? currentUnits : {}),
    current: currentOf(current),
    forecast: isObject(daily) ? daysOf(daily, days) : [],
  };
}

function currentOf(current: ForecastRow): Forecast["current"] {
  const values = Object.entries(CURRENT).map(([name, theirs]) => [name, numberOf(current[theirs])] as const);
  const isDay = numberOf(current["is_day"]);
  return {
    time: String(current["time"]),
    ...conditionIn(current["weather_code"]),
    ...Object.fromEntries(values),
    is_day: isDay === null ? null : isDay === 1,
  };
}

// Converts the provider's columns, one per value, into one row per day.
function daysOf(daily: ForecastRow, days: number): Forecast["forecast"] {
  const cell = (name: string, day: number): unknown =>
    Array.isArray(daily[name]) ? (daily[name][day] as unknown) : undefined;
  const dates = (Array.isArray(daily["time"]) ? daily["time"] : []).slice(0, days);
  return dates.map((date, day) => ({
    date: String(date),
    ...conditionIn(cell("weather_code", day)),
    ...Object.fromEntries(Object.entries(DAILY).map(([name, theirs]) => [name, numberOf(cell(theirs, day))] as const)),
    sunrise: textOf(cell("sunrise", day)),
    sunset: textOf(cell("sunset", day)),
  }));
}

function unitsOf(theirs: ForecastRow): Readonly<Record<string, string>> {
  const units = Object.entries(CURRENT).flatMap(([name, column]) =>
    typeof theirs[column] === "string" ? [[name, theirs[column]] as const] : [],
  );
  return Object.fromEntries(units);
}

function conditionIn(code: unknown): { readonly condition: string; readonly weather_code: number | null } {
  const number = numberOf(code);
  return { condition: number === null ? "unknown" : conditionOf(number), weather_code: number };
}

function malformed(what: string): ServiceFailure {
  return new ServiceFailure(`Open-Meteo answered with ${what}. Try again later.`, "malformed");
}

type ForecastRow = Readonly<Record<string, unknown>>;

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isObject(value: unknown): value is ForecastRow {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
