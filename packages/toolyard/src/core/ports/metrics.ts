/** Metrics of the hub. They stay open while at least one address of the hub uses them. */
export interface OpenMetrics {
  /** Returns the metrics in the text format of Prometheus. */
  text(): string;
  /** Releases the metrics for one user. The last release closes the separate address of the metrics. Idempotent. */
  release(): void;
}

export interface Metrics {
  /**
   * Opens the metrics and, for the first user, their separate address. Rejects with an `OptionError` if the address is
   * in use.
   */
  open(): Promise<OpenMetrics>;
}
