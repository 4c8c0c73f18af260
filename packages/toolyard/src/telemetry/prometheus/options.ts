import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";

export const PrometheusSchema = Type.Object(
  {
    listen: Type.Optional(
      Type.String({
        description:
          "Address of `GET /metrics`: `127.0.0.1:9464`, `[::1]:9464`, or a port of 127.0.0.1. Default: none.",
        minLength: 1,
      }),
    ),
    token: Type.Optional(
      Type.Secret({ description: "Bearer token that Prometheus must send to this address.", minLength: 1 }),
    ),
    insecure: Type.Optional(
      Type.Boolean({ description: "Listens beyond this machine without a token.", default: false }),
    ),
    max_histograms: Type.Optional(
      Type.Integer({
        description:
          "Tools with a latency histogram of their own; further tools share the histogram `other` of their source. " +
          "`max_tools` of `[telemetry]` limits all other counts.",
        default: 200,
        minimum: 0,
        maximum: 10_000,
      }),
    ),
    main_port: Type.Optional(
      Type.Boolean({
        description: "Serves `/metrics` on the hub's own port too. Callers must authenticate there.",
        default: false,
      }),
    ),
  },
  { description: "Metrics for Prometheus, while the hub serves HTTP." },
);

export const PROMETHEUS_SECTION = {
  telemetry: Type.Optional(Type.Object({ prometheus: Type.Optional(PrometheusSchema) })),
} as const;

export type PrometheusConfig = Static<typeof PrometheusSchema>;

/** Address at which metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  readonly token?: string;
}

export interface PrometheusOptions {
  /** Absent: the metrics have no separate address. */
  readonly address?: MetricsAddress;
  readonly isOnMainPort: boolean;
  readonly maxHistograms: number;
}

export function resolvePrometheus(raw: PrometheusConfig = {}): PrometheusOptions {
  const options = readOptions(PrometheusSchema, raw, "telemetry.prometheus.");
  const { listen, token, insecure } = options;
  const rest = { isOnMainPort: options.main_port, maxHistograms: options.max_histograms };
  if (listen === undefined) return Object.freeze(rest);
  const { host, port } = parseListen(listen);
  if (!isLoopbackHost(host) && token === undefined && !insecure)
    throw new OptionError(
      `\`telemetry.prometheus.listen\` is ${listen}, which other machines can reach without a token. Set ` +
        "`telemetry.prometheus.token`, listen on 127.0.0.1, or set `telemetry.prometheus.insecure = true`.",
    );
  return Object.freeze({ ...rest, address: Object.freeze({ host, port, ...(token !== undefined && { token }) }) });
}

const ADDRESS = /^(?:(?<host>\[[\da-f:.]+\]|[\w.-]+)?:)?(?<port>\d{1,5})$/i;
const MAX_PORT = 65_535;

function parseListen(text: string): { readonly host: string; readonly port: number } {
  const { host = "127.0.0.1", port = "" } = ADDRESS.exec(text)?.groups ?? {};
  if (port !== "" && Number(port) <= MAX_PORT) return { host, port: Number(port) };
  throw new OptionError(
    "`telemetry.prometheus.listen` must be an address such as `127.0.0.1:9464`, or a port, got " +
      `${JSON.stringify(text)}.`,
  );
}
