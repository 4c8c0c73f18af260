import { createHttpSource, type HttpSource } from "toolyard";
import type { GeocodingOptions } from "./options.ts";
import { ServiceFailure } from "../shared/failure.ts";

/** A place on the map. */
export interface GeocodedPlace {
  readonly name: string;
  /** Complete address, from the place to its country. */
  readonly display_name: string;
  readonly latitude: number;
  readonly longitude: number;
  /** Type of place: `city`, `administrative`, `house`, … */
  readonly type: string;
  readonly country?: string;
  /** ISO 3166-1 code in lower case. */
  readonly country_code?: string;
  /** Degrees: south, north, west, east. */
  readonly bounding_box?: readonly number[];
}

export interface PlaceQuery {
  readonly address: string;
  readonly limit: number;
  /** Language of the names (BCP 47). */
  readonly language: string;
  /** ISO 3166-1 codes of the countries to which the search is limited. */
  readonly countries: readonly string[];
}

/**
 * Number of cached answers. The usage policy https://operations.osmfoundation.org/policies/nominatim/ requires at most
 * one request per second, an identifying user agent and cached answers.
 */
const CACHED = 500;

/** Finds places by address with a Nominatim server. */
export class Nominatim {
  readonly #source: HttpSource;

  constructor({ url, userAgent, timeoutMs, intervalMs, cacheMs, environment }: GeocodingOptions) {
    this.#source = createHttpSource({
      service: "Nominatim",
      url,
      userAgent,
      timeoutMs,
      intervalMs,
      cacheMs,
      cacheEntries: CACHED,
      environment,
      reasonOf,
    });
  }

  /**
   * Resolves with at least one place, best first. Rejects with a `FailError`, or with a `ServiceFailure` if no place
   * matches.
   */
  async find(
    { address, limit, language, countries }: PlaceQuery,
    signal: AbortSignal,
  ): Promise<readonly GeocodedPlace[]> {
    const query = {
      q: address,
      format: "jsonv2",
      addressdetails: 1,
      limit,
      "accept-language": language,
      ...(countries.length > 0 ? { countrycodes: countries.join(",") } : {}),
    };
    const answer = await this.#source.getJson("search", query, signal);
    if (!Array.isArray(answer))
      throw new ServiceFailure("Nominatim did not return a list of places. Try again later.", "malformed");
    const places = answer.slice(0, limit).flatMap(toPlace);
    if (places.length > 0) return places;
    if (answer.length > 0)
      throw new ServiceFailure("Nominatim returned places without coordinates. Try again later.", "malformed");
    throw new ServiceFailure(`No place found for ${JSON.stringify(address)}. Check the spelling, or add the country.`);
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

/** Returns the error message of a response: `{"error": "…"}`, or `{"error": {"code": 400, "message": "…"}}`. */
function reasonOf(body: unknown): string | undefined {
  const error = isObject(body) ? body["error"] : undefined;
  return textOf(isObject(error) ? error["message"] : error);
}

function toPlace(row: unknown): GeocodedPlace[] {
  if (!isObject(row)) return [];
  const [latitude, longitude] = [degreesOf(row["lat"], 90), degreesOf(row["lon"], 180)];
  if (latitude === undefined || longitude === undefined) return [];
  const displayName = textOf(row["display_name"]) ?? "";
  const address = isObject(row["address"]) ? row["address"] : {};
  const [country, countryCode] = [textOf(address["country"]), textOf(address["country_code"])];
  const box = boxOf(row["boundingbox"]);
  return [
    {
      name: textOf(row["name"]) ?? displayName.split(",")[0]!.trim(),
      display_name: displayName,
      latitude,
      longitude,
      type: textOf(row["addresstype"]) ?? textOf(row["type"]) ?? "place",
      ...(country === undefined ? {} : { country }),
      ...(countryCode === undefined ? {} : { country_code: countryCode }),
      ...(box === undefined ? {} : { bounding_box: box }),
    },
  ];
}

function boxOf(value: unknown): readonly number[] | undefined {
  const sides = Array.isArray(value) ? value.map(Number) : [];
  return sides.length === 4 && sides.every(Number.isFinite) ? sides : undefined;
}

/** Returns a coordinate, which Nominatim sends as text; undefined if it is not a number in the range. */
function degreesOf(value: unknown, most: number): number | undefined {
  const degrees =
    typeof value === "number" || (typeof value === "string" && value.trim() !== "") ? Number(value) : Number.NaN;
  return Math.abs(degrees) <= most ? degrees : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
