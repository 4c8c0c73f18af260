/** Metrics of the hub. They are open as long as at least one address of the hub uses them. */
export interface OpenMetrics {
  /** Returns the metrics in the text format of Prometheus. */
  text(): string;
  /** Releases the metrics. The last release closes their separate address. Idempotent. */
  release(): void;
}

export interface Metrics {
  /**
   * Opens the metrics and, for the first user, their separate address. Rejects with an `OptionError` if the address is
   * in use.
   */
  open(): Promise<OpenMetrics>;
}
