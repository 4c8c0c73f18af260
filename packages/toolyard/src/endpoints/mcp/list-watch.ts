import { messageOf } from "../../core/errors.ts";
import type { HubContent, ListKind, RenderedList, View } from "../../core/ports/hub-port.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { permissionOf } from "../../core/ports/rights.ts";

/** State of one list, which is compared to decide if a client is notified. */
export interface ListVersion {
  /** Digest of the content. */
  readonly version: string;
  /** Number of changes that the list's sources announced. */
  readonly announcements: number;
}

/** Current states of the lists in one view. */
export type ListVersions = ReadonlyMap<ListKind, ListVersion>;

export function versionOf({ version, announcements = 0 }: RenderedList): ListVersion {
  return { version, announcements };
}

/** Notifies one client of changed lists. */
export interface ListWatcher {
  readonly view: View;
  /** Compares `versions` with those that the client has seen, and notifies the client of differences. */
  listsMayHaveChanged(versions: ListVersions): void;
}

/** Distributes changes of the hub's lists. All members share one listener, and each view is read once per change. */
export class ListWatch<Member extends ListWatcher> {
  readonly members = new Set<Member>();
  readonly #hub: HubContent;
  readonly #logger: Logger;
  readonly #dirty = new Set<ListKind>();
  readonly #stop: () => void;
  #isSweeping = false;

  constructor(hub: HubContent, logger: Logger) {
    this.#hub = hub;
    this.#logger = logger;
    this.#stop = hub.events.listsChanged.on(({ lists }) => this.#changed(lists));
  }

  /** Resolves with the current versions of these lists, without lists that cannot be read. */
  async versions(kinds: Iterable<ListKind>, view: View): Promise<Map<ListKind, ListVersion>> {
    const versions = new Map<ListKind, ListVersion>();
    for (const kind of kinds) {
      try {
        versions.set(kind, versionOf(await this.#hub.list(kind, view)));
      } catch (error) {
        this.#logger.warning("A list could not be read, so clients are not notified of its changes.", {
          list: kind,
          error: messageOf(error),
        });
      }
    }
    return versions;
  }

  close(): void {
    this.#stop();
    this.members.clear();
  }

  #changed(lists: readonly ListKind[]): void {
    if (this.members.size === 0) return;
    for (const kind of lists) this.#dirty.add(kind);
    // A running sweep also handles changes that arrive during it, so no second sweep is started.
    if (!this.#isSweeping) void this.#sweep();
  }

  async #sweep(): Promise<void> {
    this.#isSweeping = true;
    while (this.#dirty.size > 0) {
      const kinds = Array.from(this.#dirty);
      this.#dirty.clear();
      for (const members of this.#byView()) {
        const versions = await this.versions(kinds, members[0]!.view);
        for (const member of members) if (this.members.has(member)) member.listsMayHaveChanged(versions);
      }
    }
    this.#isSweeping = false;
  }

  #byView(): Iterable<readonly Member[]> {
    const groups = new Map<string, Member[]>();
    for (const member of this.members) {
      const { mode, principal } = member.view;
      const key = `${mode} ${principal.toolNames ?? "mcp"} ${principal.id} ${permissionOf(principal.rights).key}`;
      const group = groups.get(key);
      if (group) group.push(member);
      else groups.set(key, [member]);
    }
    return groups.values();
  }
}
