import { describe, expect, test } from "vitest";
import { resolveOtlp, type OtlpConfig } from "./options.ts";
import { createSampler } from "./sampler.ts";

const urls = (config: OtlpConfig | undefined, variables: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(resolveOtlp(config, variables)?.targets ?? {}).map(([signal, { url }]) => [signal, url.href]),
  );

describe("resolveOtlp", () => {
  test.each<[string, Record<string, string>]>([
    ["nothing", {}],
    ["an empty address", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }],
    ["only a name", { OTEL_SERVICE_NAME: "hub" }],
    ["a disabled SDK", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_SDK_DISABLED: "TRUE" }],
  ])("returns undefined for %s", (_name, variables) => {
    expect(resolveOtlp(undefined, variables)).toBeUndefined();
  });

  test("returns undefined for a configuration with a disabled SDK", () => {
    expect(resolveOtlp({}, { OTEL_SDK_DISABLED: "true" })).toBeUndefined();
  });

  test.each<[string, OtlpConfig | undefined, Record<string, string>, string]>([
    ["the default", {}, {}, "http://localhost:4318/v1/traces"],
    ["a base address", { endpoint: "https://c/otlp" }, {}, "https://c/otlp/v1/traces"],
    ["a base address with a slash", { endpoint: "https://c/otlp/" }, {}, "https://c/otlp/v1/traces"],
    ["a variable", undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: "http://v:1" }, "http://v:1/v1/traces"],
    ["its own variable", undefined, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://v:1/x" }, "http://v:1/x"],
    [
      "the configuration before its own variable",
      { endpoint: "http://c:2" },
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://v:1/x" },
      "http://c:2/v1/traces",
    ],
  ])("sends traces to the address of %s", (_name, config, variables, url) => {
    expect(urls(config, variables)["traces"]).toBe(url);
  });

  test("omits signals that the configuration or a variable disables", () => {
    expect(Object.keys(urls({ logs: false }, { OTEL_METRICS_EXPORTER: "none" }))).toEqual(["traces"]);
  });

  test.each(["ftp://c", "http://user:pass@c", "no address"])(
    "refuses the address %s without repeating it",
    (endpoint) => {
      expect(() => resolveOtlp({ endpoint }, {})).toThrow(/^The address of the OTLP collector must start/);
    },
  );

  test("joins headers, attributes and the sampler of the variables with the configuration", () => {
    const options = resolveOtlp(
      { headers: { "X-Key": "own" }, service_name: "own" },
      {
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=general,other=a%2Cb,broken",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "other=traces",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment=test,__proto__=x",
        OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.25",
      },
    );
    expect(options).toMatchObject({
      targets: { traces: { headers: { "x-key": "own", other: "traces" } }, logs: { headers: { other: "a,b" } } },
      resource: { "service.name": "own", "deployment.environment": "test" },
      sampler: "parentbased_traceidratio",
      ratio: 0.25,
    });
  });
});

test("reports an unknown sampler in the variables, unless the configuration sets a sampler", () => {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a:1", OTEL_TRACES_SAMPLER: "jaeger_remote" };
  expect(resolveOtlp(undefined, variables)).toMatchObject({
    sampler: "parentbased_always_on",
    unknownSampler: "jaeger_remote",
  });
  expect(resolveOtlp({ sampler: "always_off" }, variables)!.unknownSampler).toBeUndefined();
  const known = { ...variables, OTEL_TRACES_SAMPLER: "always_on" };
  expect(resolveOtlp(undefined, known)!.unknownSampler).toBeUndefined();
});

test("prefers the certificate of a signal to the general certificate", () => {
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://a:1",
    OTEL_EXPORTER_OTLP_CERTIFICATE: "general.pem",
    OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: "traces.pem",
  };
  const { targets } = resolveOtlp(undefined, variables)!;
  expect([targets.traces!.certificate, targets.logs!.certificate]).toEqual(["traces.pem", "general.pem"]);
});

describe("createSampler", () => {
  const words = Array.from({ length: 1000 }, (_, index) => index * 4_294_967);

  test.each([
    ["always_on", 1, 1000],
    ["always_off", 1, 0],
    ["traceidratio", 0.01, 10],
    ["traceidratio", 0, 0],
    ["traceidratio", 1, 1000],
    ["parentbased_traceidratio", 0.5, 500],
  ] as const)("records with %s of ratio %d the expected part of new traces", (name, ratio, count) => {
    const sampler = createSampler(name, ratio);
    expect(Math.abs(words.filter((word) => sampler.recordsNew(word)).length - count)).toBeLessThanOrEqual(1);
  });

  test("samples a caller's trace by its id, as it samples a new trace", () => {
    const sampler = createSampler("traceidratio", 0.3);
    for (const word of words) {
      const traceparent = `00-${word.toString(16).padStart(32, "0")}-b7ad6b7169203331-00`;
      expect(sampler.recordsCallers(traceparent, false)).toBe(sampler.recordsNew(word));
    }
  });

  test("follows the caller's decision only if the sampler is parent-based", () => {
    expect(createSampler("parentbased_always_off", 1).recordsCallers("0", true)).toBe(true);
    expect(createSampler("parentbased_always_on", 1).recordsCallers("0", false)).toBe(false);
    expect(createSampler("always_off", 1).recordsCallers("0", true)).toBe(false);
    expect(createSampler("always_on", 1).recordsCallers("0", false)).toBe(true);
  });

  test("refuses a ratio that is not from 0 to 1", () => {
    expect(() => createSampler("traceidratio", 2)).toThrow(/from 0 to 1, got `2`/);
  });
});
