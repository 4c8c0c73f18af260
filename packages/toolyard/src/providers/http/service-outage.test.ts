import { describe, expect, test } from "vitest";
import { NO_SHAPE } from "../../core/sources/listing-shape.ts";
import type { Source } from "../../core/sources/records.ts";
import { serviceOutage } from "./service-outage.ts";

const outage = serviceOutage({ name: "Weather MCP", port: 50_053 });
const source: Source = { id: "w1", kind: "http", namespace: "w1", order: 0, outage };

test("reports the name and port of the service as a message and as a JSON object", () => {
  expect(outage.message).toBe("Weather MCP unavailable on port 50053");
  expect(JSON.parse(outage.text)).toEqual({ error: outage.message });
});

describe("similarity of a tool name and a service name", () => {
  test.each<[string, number, Source]>([
    ["get_weather", 1, source],
    ["weathers_now", 1, source],
    ["get_forecast", 0, source],
    ["get_mcp_tool", 0, source],
    ["weather_w1", 2, source],
    ["wea", 0, source],
    ["forecast_daily", 1, { ...source, id: "forecasts" }],
    ["forecast", Infinity, { ...source, shape: { ...NO_SHAPE, include: ["forecast"] } }],
    ["short", Infinity, { ...source, shape: { ...NO_SHAPE, rename: { long_name: "short" } } }],
  ])("rates `%s` as %s", (name, fit, from) => {
    expect(outage.fit(name, from)).toBe(fit);
  });
});
