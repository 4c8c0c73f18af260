import { Emitter } from "../../core/events.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Provider, ProviderEvents, ProviderStatus } from "../../core/sources/provider.ts";
import { EMPTY_LISTING, type Listing, type Source } from "../../core/sources/records.ts";

/** Replaces a source that cannot be created, so that `status` and `check` report the reason. It has no tools. */
export class UnusableProvider implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #reason: string;

  constructor(source: Source, reason: string) {
    this.source = source;
    this.#reason = reason;
  }

  open(): void {}

  listing(): Listing {
    return EMPTY_LISTING;
  }

  call(): Promise<Outcome> {
    return Promise.resolve(fail("unavailable", `${this.source.id} is left out: ${this.#reason}`));
  }

  status(): ProviderStatus {
    return { state: "disabled", lastError: this.#reason };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
