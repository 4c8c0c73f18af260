import type { Logger } from "../../core/ports/ports.ts";
import { METRICS_PATH } from "../../endpoints/paths.ts";
import { createListener } from "../../http/adapters/node/listener.ts";
import type { PortListener } from "../../http/listening/listener.ts";
import { resolveHttp } from "../../http/options.ts";
import { createTokenAccess } from "../../http/request/tokens.ts";
import { HubMetrics, type MetricsParts } from "../../telemetry/prometheus/hub-metrics.ts";
import { METRICS_CONTENT } from "../../telemetry/prometheus/metrics-text.ts";
import type { MetricsAddress } from "../../telemetry/prometheus/options.ts";

/** Maximum number of connections of scrapers. One Prometheus keeps one connection. */
const MAX_CONNECTIONS = 50;

export interface MetricsServerParts extends MetricsParts {
  readonly logger: Logger;
}

/** The metrics, and the listener of their separate address if there is one. */
export class MetricsServer {
  readonly #metrics: HubMetrics;
  readonly #listener: PortListener | undefined;

  private constructor(metrics: HubMetrics, listener: PortListener | undefined) {
    this.#metrics = metrics;
    this.#listener = listener;
  }

  /** Opens the metrics. Rejects with an `OptionError` if the address is in use. */
  static async start(parts: MetricsServerParts, address: MetricsAddress | undefined): Promise<MetricsServer> {
    const metrics = new HubMetrics(parts);
    if (!address) return new MetricsServer(metrics, undefined);
    const listener = listenerFor(address, parts.logger);
    listener.route({ methods: ["GET", "HEAD"], path: METRICS_PATH }, ({ answer }) =>
      answer.send(200, ["cache-control", "no-store", "content-type", METRICS_CONTENT], metrics.text()),
    );
    try {
      const { url } = await listener.listen();
      parts.logger.info("Metrics for Prometheus are served.", { url: `${url}${METRICS_PATH}` });
      return new MetricsServer(metrics, listener);
    } catch (error) {
      metrics.close();
      throw error;
    }
  }

  text(): string {
    return this.#metrics.text();
  }

  async close(): Promise<void> {
    this.#metrics.close();
    await this.#listener?.close();
  }
}

/**
 * Uses the hub's own listener, with its checks of hosts, origins and tokens, and its limits of connections and time.
 */
function listenerFor({ host, port, token }: MetricsAddress, logger: Logger): PortListener {
  const http = resolveHttp({
    host,
    port,
    insecure: true,
    max_connections: MAX_CONNECTIONS,
    shutdown_grace: 0,
    ...(token !== undefined && { token }),
  });
  return createListener(http, logger, createTokenAccess(http).authenticator);
}
