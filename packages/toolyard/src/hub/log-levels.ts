import { messageOf } from "../core/errors.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { Provider } from "../core/sources/provider.ts";

/** Log levels of MCP, the most verbose first. */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** Stores the log level of each connection, and sets the sources to the most verbose one. */
export class LogLevels {
  readonly #logger: Logger;
  readonly #wanted = new Map<string, string>();
  #current: string | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  async set(connection: string, level: string, providers: readonly Provider[]): Promise<void> {
    this.#wanted.set(connection, level);
    await this.#spread(providers);
  }

  async release(connection: string, providers: readonly Provider[]): Promise<void> {
    if (this.#wanted.delete(connection)) await this.#spread(providers);
  }

  /** Sets the log level of a source that was added later. */
  async applyTo(provider: Provider): Promise<void> {
    if (this.#current !== undefined) await this.#setOne(provider, this.#current);
  }

  async #spread(providers: readonly Provider[]): Promise<void> {
    const level = LEVELS.find((one) => [...this.#wanted.values()].includes(one));
    if (level === undefined || level === this.#current) return;
    this.#current = level;
    await Promise.all(providers.map((provider) => this.#setOne(provider, level)));
  }

  async #setOne(provider: Provider, level: string): Promise<void> {
    try {
      await provider.setLogLevel?.(level);
    } catch (error) {
      // If a source rejects the level, it keeps its own level. Endpoints filter messages by level in any case.
      this.#logger.debug("A source rejected the log level.", {
        source: provider.source.id,
        level,
        error: messageOf(error),
      });
    }
  }
}
