import type { Logger } from "toolyard";
import { MCPManager } from "toolyard/manager";
import { ServiceFailure } from "../shared/failure.ts";
import type { WeatherOptions } from "./options.ts";

/** The location of a forecast. */
export interface ForecastLocation {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly country?: string;
}

/** Requests coordinates from the geocoding service over MCP. */
export class Geocoder {
  readonly #manager: MCPManager;
  /**
   * Message that `MCPManager` also has for an unavailable service. It is used if the service returns no usable answer.
   */
  readonly #unavailable: string;
  readonly #timeoutMs: number;

  constructor({ geocoding: { url, token, timeoutMs } }: WeatherOptions, logger: Logger) {
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    this.#unavailable = `Geocoding MCP unavailable on port ${port}`;
    this.#timeoutMs = timeoutMs;
    const scheme = url.protocol === "https:" ? "https" : "http";
    const line = {
      host: url.hostname,
      port,
      path: url.pathname + url.search,
      scheme,
      name: "Geocoding",
      ...(token === undefined ? {} : { token }),
    } as const;
    this.#manager = new MCPManager({ geocode: line }, { logger });
  }

  /**
   * Returns the coordinates of an address. Rejects with a `ServiceFailure` with the message of `MCPManager`: `Geocoding
   * MCP unavailable on port 50054`.
   */
  async find(address: string, signal: AbortSignal): Promise<ForecastLocation> {
    const answer = await this.#manager.callTool("geocode", { address }, { signal, timeout: `${this.#timeoutMs}ms` });
    const error = isObject(answer) ? answer["error"] : undefined;
    if (typeof error === "string")
      throw new ServiceFailure(error, error === this.#unavailable ? "unavailable" : "tool_error");
    const spot = spotOf(answer, address);
    if (spot) return spot;
    throw new ServiceFailure(this.#unavailable, "malformed");
  }

  close(): Promise<void> {
    return this.#manager.close();
  }
}

/** Reads the first place of an answer. Other geocoding services return one place, or a list of places. */
function spotOf(answer: unknown, address: string): ForecastLocation | undefined {
  const results = isObject(answer) ? answer["results"] : answer;
  const best: unknown = Array.isArray(results) ? results[0] : answer;
  if (!isObject(best)) return undefined;
  const latitude = degrees(best["latitude"] ?? best["lat"], 90);
  const longitude = degrees(best["longitude"] ?? best["lon"], 180);
  if (latitude === undefined || longitude === undefined) return undefined;
  const { name, country } = best;
  return {
    name: typeof name === "string" && name !== "" ? name : address,
    latitude,
    longitude,
    ...(typeof country === "string" ? { country } : {}),
  };
}

function degrees(value: unknown, most: number): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Math.abs(number) <= most ? number : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
