import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { ListKind, View } from "../../../core/ports/hub-port.ts";
import { objectMember, type JsonObject } from "../../../core/json/json.ts";
import { rpcResult, type RequestId } from "../../../wire/messages.ts";
import { META } from "../../../wire/modern/envelope.ts";
import type { ListVersion, ListVersions } from "../list-watch.ts";
import type { BoardListener } from "./listen-board.ts";
import type { ModernOutlet } from "./outlet.ts";

export interface ListenParts {
  readonly id: RequestId;
  readonly view: View;
  readonly outlet: ModernOutlet;
  readonly lists: ReadonlySet<ListKind>;
  readonly identity: JsonObject;
  readonly connection?: string;
}

/**
 * One open `subscriptions/listen` request. All its messages carry its id, and the acknowledgement is the first one.
 */
export class ListenSubscription implements BoardListener {
  readonly view: View;
  readonly connection: string | undefined;
  /** Resolves when no more messages will be sent. */
  readonly ended: Promise<void>;
  readonly #parts: ListenParts;
  readonly #uris = new Set<string>();
  #seen = new Map<ListKind, ListVersion>();
  /** Changes that arrived while the first versions were read. */
  #early: ListVersions[] | undefined = [];
  #isOpen = true;
  #end: () => void = () => {};

  constructor(parts: ListenParts) {
    this.view = parts.view;
    this.connection = parts.connection;
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get uris(): ReadonlySet<string> {
    return this.#uris;
  }

  /** Acknowledges the filter. Changes are sent from then on. */
  begin(versions: ListVersions, uris: readonly string[], honoured: JsonObject): void {
    for (const uri of uris) this.#uris.add(uri);
    this.#seen = new Map(versions);
    this.#send("notifications/subscriptions/acknowledged", { notifications: honoured });
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const changed of early) this.listsMayHaveChanged(changed);
  }

  listsMayHaveChanged(versions: ListVersions): void {
    if (this.#early) return void this.#early.push(versions);
    const notifications = new Set<string>();
    for (const [kind, version] of versions) {
      const seen = this.#seen.get(kind);
      const isSame = seen?.version === version.version && seen.announcements === version.announcements;
      if (!this.#parts.lists.has(kind) || isSame) continue;
      this.#seen.set(kind, version);
      // A change of the templates is reported as a change of the resources, because templates have no separate
      // notification.
      notifications.add(kind === "templates" ? "resources" : kind);
    }
    for (const list of notifications) this.#send(`notifications/${list}/list_changed`, {});
  }

  resourceUpdated(uri: string, params: JsonObject): void {
    this.#send("notifications/resources/updated", { ...params, uri });
  }

  /**
   * Reports a changed task. Drops changes before the acknowledgement, because the caller reads the task after the
   * acknowledgement.
   */
  taskChanged(task: JsonObject): void {
    if (!this.#early) this.#send("notifications/tasks", task);
  }

  /** Ends the request with a result. The server sends nothing more. */
  finish(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { id, identity, outlet } = this.#parts;
    const _meta = { ...identity, [META.subscriptionId]: id };
    outlet.reply(stringifyExact(rpcResult(id, { resultType: "complete", _meta })), 200);
    this.#end();
  }

  /** Ends the request without a message, because the caller disconnected or cancelled it. */
  readonly drop = (): void => {
    this.#isOpen = false;
    this.#end();
  };

  #send(method: string, params: JsonObject): void {
    if (!this.#isOpen) return;
    const _meta = { ...objectMember(params, "_meta"), [META.subscriptionId]: this.#parts.id };
    this.#parts.outlet.note(stringifyExact({ jsonrpc: "2.0", method, params: { ...params, _meta } }));
  }
}
