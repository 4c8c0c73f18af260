import { OptionError } from "../../core/errors.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions, type ValuesOf } from "../../core/options/option-values.ts";
import { durationOption } from "../../core/text/duration.ts";
import type { Conventions } from "./names.ts";
import { SAMPLERS, type SamplerName } from "./sampler.ts";
import { lowerCase, readVariables, SIGNALS, type OtelVariables, type SignalName } from "./variables.ts";

export const OtlpSchema = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({
        description:
          "Base address of the collector, such as `http://127.0.0.1:4318`. The hub adds `/v1/traces`, `/v1/metrics` " +
          "and `/v1/logs`. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`.",
        minLength: 1,
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.Secret(), { description: "Headers of each request, such as an API key.", default: {} }),
    ),
    service_name: Type.Optional(
      Type.String({
        description: "Name of this hub (`service.name`). Default: `OTEL_SERVICE_NAME`, else `toolyard`.",
        minLength: 1,
        maxLength: 200,
      }),
    ),
    traces: Type.Optional(Type.Boolean({ description: "Sends traces.", default: true })),
    metrics: Type.Optional(Type.Boolean({ description: "Sends metrics.", default: true })),
    logs: Type.Optional(Type.Boolean({ description: "Sends the lines of the log.", default: true })),
    audit: Type.Optional(Type.Boolean({ description: "Sends audit lines as log records.", default: false })),
    sampler: Type.Optional(
      Type.Enum([...SAMPLERS], {
        description: "Decides which traces are recorded. Default: `OTEL_TRACES_SAMPLER`, else `parentbased_always_on`.",
      }),
    ),
    ratio: Type.Optional(
      Type.Number({
        description: "Part of new traces that the sampler `traceidratio` records: 0.01 is one in 100.",
        minimum: 0,
        maximum: 1,
      }),
    ),
    conventions: Type.Optional(
      Type.Enum(["current", "previous"], {
        description: "Names of attributes: the semantic conventions for MCP and GenAI, or the names before them.",
        default: "current",
      }),
    ),
    arguments: Type.Optional(
      Type.Boolean({ description: "Adds arguments to spans, without secrets, shortened.", default: false }),
    ),
    results: Type.Optional(
      Type.Boolean({ description: "Adds results to spans, without secrets, shortened.", default: false }),
    ),
    max_queue: Type.Optional(
      Type.Integer({
        description: "Spans, and log records, that wait while the collector does not take them. Further ones are lost.",
        default: 4096,
        minimum: 1,
        maximum: 1_000_000,
      }),
    ),
    interval: Type.Optional(
      durationOption({ description: "Time between two exports of metrics. At least 1 second.", default: "60s" }),
    ),
    timeout: Type.Optional(durationOption({ description: "Time limit of one export.", default: "10s" })),
  },
  { description: "Traces, metrics and logs by OTLP/HTTP." },
);

export type OtlpConfig = Static<typeof OtlpSchema>;

/** Address of one signal. */
export interface SignalTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** File with the certificates of authorities that are trusted in addition. */
  readonly certificate?: string;
}

export interface OtlpOptions {
  /** Absent signals are not sent. */
  readonly targets: Readonly<Partial<Record<SignalName, SignalTarget>>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  readonly ratio: number;
  readonly conventions: Conventions;
  readonly hasArguments: boolean;
  readonly hasResults: boolean;
  readonly hasLog: boolean;
  readonly hasAudit: boolean;
  readonly maxQueue: number;
  readonly intervalMs: number;
  /** Value of `OTEL_TRACES_SAMPLER` if it is no known sampler. Undefined if the configuration sets `sampler`. */
  readonly unknownSampler: string | undefined;
}

const DEFAULT_ENDPOINT = "http://localhost:4318";
const MIN_INTERVAL_MS = 1000;

/**
 * Returns the options of `[telemetry.otlp]` and the variables `OTEL_*`; the configuration has precedence. Returns
 * `undefined` if neither requests telemetry, or if `OTEL_SDK_DISABLED` is true. Throws an `OptionError`.
 */
export function resolveOtlp(raw: OtlpConfig | undefined, environment: EnvironmentVariables): OtlpOptions | undefined {
  const variables = readVariables(environment);
  if (variables.isDisabled || (raw === undefined && !variables.isRequested)) return undefined;
  const values = readOptions(OtlpSchema, raw ?? {}, "telemetry.otlp.");
  const wanted = SIGNALS.filter((signal) => isWanted(signal, values) && !variables.omitted.has(signal));
  const hasConfig = raw !== undefined;
  const targets = Object.fromEntries(
    wanted.flatMap((signal) => {
      const target = targetOf(signal, values, { ...variables, hasConfig, hasTimeout: raw?.timeout !== undefined });
      return target ? [[signal, target]] : [];
    }),
  );
  return Object.freeze({
    targets,
    resource: { ...variables.resource, "service.name": values.service_name ?? variables.serviceName ?? "toolyard" },
    sampler: values.sampler ?? variables.sampler ?? "parentbased_always_on",
    ratio: values.ratio ?? variables.ratio ?? 1,
    conventions: values.conventions,
    hasArguments: values.arguments,
    hasResults: values.results,
    hasLog: values.logs,
    hasAudit: values.audit,
    maxQueue: values.max_queue,
    intervalMs: intervalOf(raw, variables, values),
    unknownSampler: values.sampler === undefined ? variables.unknownSampler : undefined,
  });
}

/** Returns the milliseconds between two exports of metrics. The configuration has precedence over the variable. */
function intervalOf(raw: OtlpConfig | undefined, { intervalMs }: OtelVariables, { interval }: Values): number {
  return Math.max(MIN_INTERVAL_MS, raw?.interval === undefined ? (intervalMs ?? interval) : interval);
}

type Values = ValuesOf<typeof OtlpSchema>;

function isWanted(signal: SignalName, values: Values): boolean {
  return signal === "logs" ? values.logs || values.audit : values[signal];
}

interface TargetSource extends OtelVariables {
  readonly hasConfig: boolean;
  /** True if the configuration has a time limit, which has precedence over those of variables. */
  readonly hasTimeout: boolean;
}

/** Returns the address of a signal. With variables alone, a signal without an address is not sent. */
function targetOf(signal: SignalName, values: Values, variables: TargetSource): SignalTarget | undefined {
  const own = variables.signals[signal];
  const url = urlOf(signal, values.endpoint, variables);
  if (!url) return undefined;
  const { compression, timeoutMs, headers, hasTimeout } = variables;
  const certificate = own.certificate ?? variables.certificate;
  return {
    url,
    headers: { ...headers, ...own.headers, ...lowerCase(values.headers) },
    timeoutMs: hasTimeout ? values.timeout : (own.timeoutMs ?? timeoutMs ?? values.timeout),
    isCompressed: (own.compression ?? compression) === "gzip",
    ...(certificate !== undefined && { certificate }),
  };
}

/**
 * Returns the URL of a signal. A signal's own variable is the whole address; a general address gets the path of the
 * signal (OTLP exporter).
 */
function urlOf(signal: SignalName, configured: string | undefined, variables: TargetSource): URL | undefined {
  const { endpoint: own } = variables.signals[signal];
  if (configured === undefined && own !== undefined) return parseAddress(own);
  const base = configured ?? variables.endpoint ?? (variables.hasConfig ? DEFAULT_ENDPOINT : undefined);
  if (base === undefined) return undefined;
  const url = parseAddress(base);
  url.pathname = `${url.pathname.endsWith("/") ? url.pathname.slice(0, -1) : url.pathname}/v1/${signal}`;
  return url;
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw new OptionError(
    "The address of the OTLP collector must start with http:// or https:// and have no user name or password. Use " +
      "`telemetry.otlp.headers` for credentials.",
  );
}
