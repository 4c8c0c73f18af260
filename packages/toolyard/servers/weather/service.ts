import type { ModuleHub } from "toolyard";
import type { Environment } from "../shared/environment.ts";
import { answering, ServiceFailure } from "../shared/failure.ts";
import type { Service } from "../shared/service.ts";
import { Geocoder, type ForecastLocation } from "./geocoder.ts";
import { OpenMeteo, UNITS, type Units } from "./open-meteo.ts";
import { resolveWeather, UNIT_SYSTEMS, type UnitSystem } from "./options.ts";
import { INPUT, OUTPUT } from "./schemas.ts";

interface WeatherArguments {
  readonly location?: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly forecast_days?: number;
  readonly units?: UnitSystem;
  readonly temperature_unit?: Units["temperature"];
  readonly wind_speed_unit?: Units["wind_speed"];
  readonly precipitation_unit?: Units["precipitation"];
}

const DEFAULT_DAYS = 3;
/** Time limit of a whole call; geocoding and forecast have shorter limits. */
const TOTAL_TIMEOUT = "25s";

/**
 * The weather service: returns the current weather and a forecast. Gets the coordinates of a place from the geocoding
 * service.
 */
export const weather: Service = { name: "weather", tool: "get_weather", port: 50_053, register };

function register(hub: ModuleHub, environment: Environment): void {
  const options = resolveWeather(environment);
  const [geocoder, openMeteo] = [new Geocoder(options, hub.logger), new OpenMeteo(options)];
  hub.onClose(async () => void (await Promise.all([geocoder.close(), openMeteo.close()])));
  const handler = answering<WeatherArguments>(async (args, { signal }) => {
    const spot = spotOf(args) ?? (await geocoder.find(locationOf(args), signal));
    const { timezone, ...answer } = await openMeteo.forecast(
      { ...spot, days: args.forecast_days ?? DEFAULT_DAYS, units: unitsOf(args, options.units) },
      signal,
    );
    return { location: { ...spot, timezone }, ...answer, attribution: "Weather data by Open-Meteo.com, CC BY 4.0" };
  });
  hub.registerTool(
    "get_weather",
    handler,
    INPUT,
    "Returns the current weather and a forecast for a place or coordinates. Units are metric unless `units` is " +
      "imperial.",
    {
      title: "Weather",
      aliases: ["get_weather_tool"],
      keywords: ["weather", "forecast", "temperature", "rain", "snow", "wind", UNIT_SYSTEMS.join(" ")],
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: true, openWorldHint: true },
      totalTimeout: TOTAL_TIMEOUT,
    },
  );
}

function spotOf({ location, latitude, longitude }: WeatherArguments): ForecastLocation | undefined {
  if (latitude === undefined && longitude === undefined) return undefined;
  if (latitude === undefined || longitude === undefined)
    throw new ServiceFailure("Give both `latitude` and `longitude`, or a `location`.", "invalid_params");
  return { name: location?.trim() || `${latitude}, ${longitude}`, latitude, longitude };
}

function locationOf({ location }: WeatherArguments): string {
  const text = location?.trim() ?? "";
  if (text !== "") return text;
  throw new ServiceFailure("Give `location`: a place such as Tokyo; or `latitude` and `longitude`.", "invalid_params");
}

function unitsOf(args: WeatherArguments, own: UnitSystem): Units {
  const { temperature, wind_speed: windSpeed, precipitation } = UNITS[args.units ?? own];
  return {
    temperature: args.temperature_unit ?? temperature,
    wind_speed: args.wind_speed_unit ?? windSpeed,
    precipitation: args.precipitation_unit ?? precipitation,
  };
}
