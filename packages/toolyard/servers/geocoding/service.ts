import type { ModuleHub } from "toolyard";
import type { Environment } from "../shared/environment.ts";
import { answering, ServiceFailure } from "../shared/failure.ts";
import type { Service } from "../shared/service.ts";
import { Nominatim } from "./nominatim.ts";
import { resolveGeocoding } from "./options.ts";

interface GeocodingArguments {
  readonly address?: string;
  readonly location?: string;
  readonly limit?: number;
  readonly language?: string;
  readonly country_codes?: readonly string[];
}

const MAX_ADDRESS_CHARS = 300;

const INPUT = {
  type: "object",
  properties: {
    address: {
      type: "string",
      minLength: 1,
      maxLength: MAX_ADDRESS_CHARS,
      description: "Place or address, such as Tokyo or 10 Downing Street, London.",
    },
    location: {
      type: "string",
      minLength: 1,
      maxLength: MAX_ADDRESS_CHARS,
      description: "Alias of `address`.",
    },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: 10,
      default: 3,
      description: "Maximum number of places. The best match comes first.",
    },
    language: {
      type: "string",
      pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
      default: "en",
      description: "Language of the names, such as en or pt-BR.",
    },
    country_codes: {
      type: "array",
      items: { type: "string", pattern: "^[A-Za-z]{2}$" },
      maxItems: 10,
      description: 'ISO 3166-1 codes of the countries to search, such as ["fr"].',
    },
  },
  additionalProperties: false,
};

const PLACE = {
  type: "object",
  properties: {
    name: { type: "string" },
    display_name: { type: "string" },
    latitude: { type: "number" },
    longitude: { type: "number" },
    type: { type: "string" },
    country: { type: "string" },
    country_code: { type: "string" },
    bounding_box: { type: "array", items: { type: "number" }, description: "South, north, west, east." },
  },
  required: ["name", "display_name", "latitude", "longitude", "type"],
};

const OUTPUT = {
  type: "object",
  properties: {
    latitude: { type: "number", description: "Latitude of the best match." },
    longitude: { type: "number" },
    results: { type: "array", items: PLACE, description: "Matching places, best first; at least one." },
    attribution: { type: "string" },
  },
  required: ["latitude", "longitude", "results", "attribution"],
};

/** The geocoding service: returns the coordinates of an address. */
export const geocoding: Service = { name: "geocoding", tool: "geocode", port: 50_054, register };

function register(hub: ModuleHub, environment: Environment): void {
  const nominatim = new Nominatim(resolveGeocoding(environment));
  hub.onClose(() => nominatim.close());
  const handler = answering<GeocodingArguments>(async (args, { signal }) => {
    const results = await nominatim.find(
      {
        address: addressOf(args),
        limit: args.limit ?? 3,
        language: args.language ?? "en",
        countries: args.country_codes ?? [],
      },
      signal,
    );
    const { latitude, longitude } = results[0]!;
    return { latitude, longitude, results, attribution: "Data © OpenStreetMap contributors, ODbL 1.0" };
  });
  hub.registerTool(
    "geocode",
    handler,
    INPUT,
    "Returns the coordinates of a place or address: latitude, longitude, full name and country of the best matches.",
    {
      title: "Geocoding",
      aliases: ["geocode_tool"],
      keywords: ["place", "address", "coordinates", "latitude", "longitude", "map", "city"],
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
  );
}

function addressOf({ address, location }: GeocodingArguments): string {
  const text = (address ?? location ?? "").trim();
  if (text !== "") return text;
  throw new ServiceFailure("Give `address`: a place or address, such as Tokyo.", "invalid_params");
}
