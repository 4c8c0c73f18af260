import type { ListKind, RenderedList } from "../../../core/hub-port.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ListVersions } from "../list-watch.ts";
import { LIST_NOTICES } from "./list-notices.ts";

/** What one client knows of the lists, so that it is told of changes only, and only of lists that it was offered. */
export class KnownLists {
  readonly #versions = new Map<ListKind, string>();
  #capabilities: JsonObject = {};

  /** The lists at the handshake, and the capabilities that were advertised. */
  offered(lists: Readonly<Record<ListKind, RenderedList>>, capabilities: JsonObject): void {
    this.#capabilities = capabilities;
    for (const kind of KINDS) this.saw(kind, lists[kind].version);
  }

  saw(kind: ListKind, version: string): void {
    this.#versions.set(kind, version);
  }

  /** The notices that tell of what is new in `versions`, which count as known from now on. */
  outdated(versions: ListVersions): ReadonlySet<string> {
    const notices = new Set<string>();
    for (const [kind, version] of versions) {
      if (this.#versions.get(kind) === version) continue;
      this.saw(kind, version);
      const { capability, notice } = LIST_NOTICES[kind];
      if (capability in this.#capabilities) notices.add(notice);
    }
    return notices;
  }
}

const KINDS: readonly ListKind[] = ["tools", "resources", "templates", "prompts"];
