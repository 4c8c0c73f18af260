import type { Catalog } from "../../catalog/catalog.ts";
import type { HubEvents } from "../../core/ports/hub-port.ts";
import type { EventOwner, Provider } from "../../core/sources/provider.ts";
import type { Redactor } from "../../telemetry/redactor.ts";

interface SourceEventsParts {
  readonly catalog: Catalog;
  readonly redactor: Pick<Redactor, "knownIn">;
  /** Receiver of events for callers. */
  readonly events: Pick<HubEvents, "resourceUpdated" | "log">;
}

/** Forwards events of sources, with the URIs that callers know and without secrets. */
export class SourceEvents {
  readonly #parts: SourceEventsParts;
  readonly #listeners = new Map<Provider, readonly (() => void)[]>();

  constructor(parts: SourceEventsParts) {
    this.#parts = parts;
  }

  listenTo(provider: Provider): void {
    const { events } = this.#parts;
    const { id } = provider.source;
    this.#listeners.set(provider, [
      provider.events.resourceUpdated.on(({ uri, params, ...owner }) => {
        const shown = this.#catalogOf(owner).current.shownUri(id, uri);
        events.resourceUpdated.emit({ uri: shown, params: { ...params, uri: shown }, ...owner });
      }),
      provider.events.log.on(({ params, ...owner }) =>
        events.log.emit({ params: this.#parts.redactor.knownIn(params), ...owner }),
      ),
    ]);
  }

  leave(provider: Provider): void {
    for (const off of this.#listeners.get(provider) ?? []) off();
    this.#listeners.delete(provider);
  }

  /** Returns the catalog of the event's principal, or the common catalog if the principal has none. */
  #catalogOf({ principal }: EventOwner): Catalog {
    const { catalog } = this.#parts;
    return (principal === undefined ? undefined : catalog.known(principal)) ?? catalog;
  }
}
