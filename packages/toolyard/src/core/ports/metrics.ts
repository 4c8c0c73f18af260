/** Metrics of the hub, while at least one place at which it is served has them open. */
export interface OpenMetrics {
  /** Returns the metrics in the text format of Prometheus. */
  text(): string;
  /** Releases the metrics. The last release closes their own address. Idempotent. */
  release(): void;
}

export interface Metrics {
  /** Opens the metrics and, once for all users, their own address. Rejects with an `OptionError` if it is not free. */
  open(): Promise<OpenMetrics>;
}
