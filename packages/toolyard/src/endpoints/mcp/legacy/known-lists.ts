import type { ListKind, RenderedList } from "../../../core/ports/hub-port.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { versionOf, type ListVersions } from "../list-watch.ts";
import { LIST_NOTIFICATIONS } from "./list-notifications.ts";

/**
 * State of the lists as one client last saw them. The client is notified of changed content and of changes that sources
 * announced, but only for lists that the handshake advertised.
 */
export class KnownLists {
  readonly #versions = new Map<ListKind, string>();
  readonly #announcements = new Map<ListKind, number>();
  #capabilities: JsonObject = {};

  /** Records the lists and the advertised capabilities at the handshake. */
  offered(lists: Readonly<Record<ListKind, RenderedList>>, capabilities: JsonObject): void {
    this.#capabilities = capabilities;
    for (const kind of KINDS) {
      const { version, announcements } = versionOf(lists[kind]);
      this.saw(kind, version);
      this.#announcements.set(kind, announcements);
    }
  }

  saw(kind: ListKind, version: string): void {
    this.#versions.set(kind, version);
  }

  /** Returns the notifications for changes in `versions`, and records `versions` as known. */
  outdated(versions: ListVersions): ReadonlySet<string> {
    const notifications = new Set<string>();
    for (const [kind, { version, announcements }] of versions) {
      if (this.#versions.get(kind) === version && this.#announcements.get(kind) === announcements) continue;
      this.saw(kind, version);
      this.#announcements.set(kind, announcements);
      const { capability, notification } = LIST_NOTIFICATIONS[kind];
      if (capability in this.#capabilities) notifications.add(notification);
    }
    return notifications;
  }
}

const KINDS: readonly ListKind[] = ["tools", "resources", "templates", "prompts"];
