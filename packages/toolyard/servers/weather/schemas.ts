import { UNIT_SYSTEMS } from "./options.ts";

export const INPUT = {
  type: "object",
  properties: {
    location: {
      type: "string",
      minLength: 1,
      maxLength: 300,
      description: "Name of a place, such as Tokyo or Springfield, Illinois.",
    },
    latitude: {
      type: "number",
      minimum: -90,
      maximum: 90,
      description: "Latitude in degrees. Give it with `longitude`, instead of `location`.",
    },
    longitude: { type: "number", minimum: -180, maximum: 180 },
    forecast_days: {
      type: "integer",
      minimum: 0,
      maximum: 16,
      description: "Number of forecast days, including today; 0 for the current weather only. Default: 3.",
    },
    units: { type: "string", enum: UNIT_SYSTEMS, description: "metric: °C, km/h, mm; imperial: °F, mph, inch." },
    temperature_unit: {
      type: "string",
      enum: ["celsius", "fahrenheit"],
      description: "Overrides the temperature unit of `units`.",
    },
    wind_speed_unit: {
      type: "string",
      enum: ["kmh", "ms", "mph", "kn"],
      description: "Overrides the wind speed unit of `units`.",
    },
    precipitation_unit: {
      type: "string",
      enum: ["mm", "inch"],
      description: "Overrides the precipitation unit of `units`.",
    },
  },
  additionalProperties: false,
};

const NUMBER = { type: ["number", "null"] };
const TEXT = { type: ["string", "null"] };

export const OUTPUT = {
  type: "object",
  properties: {
    location: {
      type: "object",
      properties: {
        name: { type: "string" },
        latitude: { type: "number" },
        longitude: { type: "number" },
        country: { type: "string" },
        timezone: { type: "string" },
      },
      required: ["name", "latitude", "longitude", "timezone"],
    },
    units: {
      type: "object",
      description: "Units of the numbers, by field name.",
      additionalProperties: { type: "string" },
    },
    current: {
      type: "object",
      properties: {
        time: { type: "string", description: "Local time of the place." },
        condition: { type: "string" },
        temperature: NUMBER,
        apparent_temperature: NUMBER,
        humidity: NUMBER,
        precipitation: NUMBER,
        wind_speed: NUMBER,
      },
      required: ["time", "condition", "temperature"],
    },
    forecast: {
      type: "array",
      items: {
        type: "object",
        properties: {
          date: { type: "string" },
          condition: { type: "string" },
          temperature_max: NUMBER,
          temperature_min: NUMBER,
          precipitation: NUMBER,
          precipitation_probability: NUMBER,
          sunrise: TEXT,
          sunset: TEXT,
        },
        required: ["date", "condition", "temperature_max", "temperature_min"],
      },
    },
    attribution: { type: "string" },
  },
  required: ["location", "units", "current", "forecast", "attribution"],
};
