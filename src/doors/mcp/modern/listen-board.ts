import { messageOf } from "../../../core/errors.ts";
import type { HubPort, ListKind, View } from "../../../core/hub-port.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Logger } from "../../../core/ports.ts";

export type ListVersions = ReadonlyMap<ListKind, string>;

export interface BoardListener {
  readonly view: View;
  readonly uris: ReadonlySet<string>;
  listsMayHaveChanged(versions: ListVersions): void;
  resourceUpdated(uri: string, params: JsonObject): void;
}

/** Spreads the hub's events to open `subscriptions/listen` requests: each view is looked at once a change, however many listen. */
export class ListenBoard {
  readonly #hub: HubPort;
  readonly #logger: Logger;
  readonly #listeners = new Set<BoardListener>();
  readonly #dirty = new Set<ListKind>();
  readonly #stop: readonly (() => void)[];
  #isSweeping = false;

  constructor(hub: HubPort, logger: Logger) {
    this.#hub = hub;
    this.#logger = logger;
    this.#stop = [
      hub.events.listsChanged.on(({ lists }) => this.#changed(lists)),
      hub.events.resourceUpdated.on(({ uri, params }) => {
        for (const listener of this.#listeners) if (listener.uris.has(uri)) listener.resourceUpdated(uri, params);
      }),
    ];
  }

  join(listener: BoardListener): void {
    this.#listeners.add(listener);
  }

  leave(listener: BoardListener): void {
    this.#listeners.delete(listener);
  }

  /** The versions of these lists now; a list that cannot be read is left out. */
  async versions(kinds: Iterable<ListKind>, view: View): Promise<Map<ListKind, string>> {
    const versions = new Map<ListKind, string>();
    for (const kind of kinds) {
      try {
        versions.set(kind, (await this.#hub.list(kind, view)).version);
      } catch (error) {
        this.#logger.warning("A list could not be read, so listeners cannot be told of its changes.", { list: kind, error: messageOf(error) });
      }
    }
    return versions;
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#listeners.clear();
  }

  #changed(lists: readonly ListKind[]): void {
    if (this.#listeners.size === 0) return;
    for (const kind of lists) this.#dirty.add(kind);
    // Changes during a sweep are taken up by the same run: a storm of them costs no more than one after another.
    if (!this.#isSweeping) void this.#sweep();
  }

  async #sweep(): Promise<void> {
    this.#isSweeping = true;
    while (this.#dirty.size > 0) {
      const kinds = Array.from(this.#dirty);
      this.#dirty.clear();
      for (const listeners of this.#byView()) {
        const versions = await this.versions(kinds, listeners[0]!.view);
        for (const listener of listeners) if (this.#listeners.has(listener)) listener.listsMayHaveChanged(versions);
      }
    }
    this.#isSweeping = false;
  }

  #byView(): Iterable<readonly BoardListener[]> {
    const groups = new Map<string, BoardListener[]>();
    for (const listener of this.#listeners) {
      const key = JSON.stringify([listener.view.mode, listener.view.principal.id]);
      const group = groups.get(key);
      if (group) group.push(listener);
      else groups.set(key, [listener]);
    }
    return groups.values();
  }
}
