import type { HubContent, ListKind, View } from "../../../core/ports/hub-port.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { isFor } from "../../../core/sources/provider.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { ListWatch, type ListVersions, type ListWatcher } from "../list-watch.ts";

export interface BoardListener extends ListWatcher {
  readonly uris: ReadonlySet<string>;
  resourceUpdated(uri: string, params: JsonObject): void;
}

/** Distributes the hub's events to open `subscriptions/listen` requests. */
export class ListenBoard {
  readonly #lists: ListWatch<BoardListener>;
  readonly #stop: () => void;

  constructor(hub: HubContent, logger: Logger) {
    this.#lists = new ListWatch(hub, logger);
    this.#stop = hub.events.resourceUpdated.on((update) => {
      const { uri, params } = update;
      for (const listener of this.#lists.members)
        if (listener.uris.has(uri) && isFor(update, listener.view.principal)) listener.resourceUpdated(uri, params);
    });
  }

  join(listener: BoardListener): void {
    this.#lists.members.add(listener);
  }

  leave(listener: BoardListener): void {
    this.#lists.members.delete(listener);
  }

  /** Resolves with the current versions of these lists, without lists that cannot be read. */
  versions(kinds: Iterable<ListKind>, view: View): Promise<ListVersions> {
    return this.#lists.versions(kinds, view);
  }

  close(): void {
    this.#stop();
    this.#lists.close();
  }
}
