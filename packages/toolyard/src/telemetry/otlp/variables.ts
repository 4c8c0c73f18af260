import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import { OptionError } from "../../core/errors.ts";
import { SAMPLERS, type SamplerName } from "./sampler.ts";

export type SignalName = "traces" | "metrics" | "logs";

interface SignalVariables {
  readonly endpoint?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly compression?: string;
  readonly certificate?: string;
}

/** Values of the standard variables `OTEL_*`. */
export interface OtelVariables {
  readonly isDisabled: boolean;
  /** True if a variable names a collector. Other variables alone do not start an export. */
  readonly isRequested: boolean;
  readonly omitted: ReadonlySet<SignalName>;
  readonly endpoint?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly compression?: string;
  readonly certificate?: string;
  readonly signals: Readonly<Record<SignalName, SignalVariables>>;
  readonly serviceName?: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler?: SamplerName;
  readonly ratio?: number;
  readonly intervalMs?: number;
  /** Name of a sampler that this program does not have. The default sampler is then used. */
  readonly unknownSampler?: string;
}

export const SIGNALS: readonly SignalName[] = ["traces", "metrics", "logs"];
/** Maximum number of attributes in `OTEL_RESOURCE_ATTRIBUTES`, and of headers. */
const MAX_PAIRS = 100;

/** Reads the standard variables. An empty variable counts as absent (OpenTelemetry specification). */
export function readVariables(environment: EnvironmentVariables): OtelVariables {
  const read = (name: string): string | undefined => {
    const text = environment[name]?.trim();
    return text === "" ? undefined : text;
  };
  const general = signalVariables("OTEL_EXPORTER_OTLP", read);
  const ofSignal = (signal: SignalName): SignalVariables =>
    signalVariables(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`, read);
  const signals = { traces: ofSignal("traces"), metrics: ofSignal("metrics"), logs: ofSignal("logs") };
  const isRequested = [general, ...Object.values(signals)].some(({ endpoint }) => endpoint !== undefined);
  const isDisabled = read("OTEL_SDK_DISABLED")?.toLowerCase() === "true";
  if (isRequested && !isDisabled) assertProtocol(read);
  const samplerName = read("OTEL_TRACES_SAMPLER");
  const resource = parsePairs(read("OTEL_RESOURCE_ATTRIBUTES"));
  return {
    ...optional({
      ...general,
      serviceName: read("OTEL_SERVICE_NAME") ?? resource["service.name"],
      sampler: samplerOf(samplerName),
      unknownSampler: samplerOf(samplerName) === undefined ? samplerName : undefined,
      ratio: ratioOf(read("OTEL_TRACES_SAMPLER_ARG")),
      intervalMs: numberOf(read("OTEL_METRIC_EXPORT_INTERVAL")),
    }),
    headers: general.headers,
    isDisabled,
    isRequested,
    omitted: new Set(SIGNALS.filter((signal) => read(`OTEL_${signal.toUpperCase()}_EXPORTER`) === "none")),
    signals,
    resource,
  };
}

type VariableReader = (name: string) => string | undefined;

function signalVariables(prefix: string, read: VariableReader): SignalVariables {
  return {
    headers: lowerCase(parsePairs(read(`${prefix}_HEADERS`))),
    ...optional({
      endpoint: read(`${prefix}_ENDPOINT`),
      timeoutMs: numberOf(read(`${prefix}_TIMEOUT`)),
      compression: read(`${prefix}_COMPRESSION`),
      certificate: read(`${prefix}_CERTIFICATE`),
    }),
  };
}

function assertProtocol(read: VariableReader): void {
  for (const part of ["", "_TRACES", "_METRICS", "_LOGS"]) {
    const name = `OTEL_EXPORTER_OTLP${part}_PROTOCOL`;
    const protocol = read(name) ?? "http/protobuf";
    if (protocol !== "http/protobuf")
      throw new OptionError(
        `\`${name}\` is ${JSON.stringify(protocol)}, but the hub sends only \`http/protobuf\`. Use the collector's ` +
          "HTTP port, usually 4318, or set `OTEL_SDK_DISABLED=true`.",
      );
  }
}

function samplerOf(text: string | undefined): SamplerName | undefined {
  return SAMPLERS.find((name) => name === text);
}

/** Returns a ratio. The specification ignores values that are none. */
function ratioOf(text: string | undefined): number | undefined {
  const ratio = numberOf(text);
  return ratio !== undefined && ratio <= 1 ? ratio : undefined;
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Parses `name=value,name=value`, percent-encoded. Ignores invalid parts, as the specification requires. */
function parsePairs(text = ""): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const part of text.split(",").slice(0, MAX_PAIRS)) {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name === "" || name === "__proto__") continue;
    const value = part.slice(at + 1).trim();
    pairs[name] = decoded(value);
  }
  return pairs;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Returns headers with their names in lower case. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns an object without members that are `undefined`. */
function optional<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
