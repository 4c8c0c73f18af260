import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { HubContent } from "../../../core/ports/hub-port.ts";
import { isFor, type LogMessage, type ResourceUpdate } from "../../../core/sources/provider.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { ListWatch, type ListWatcher } from "../list-watch.ts";

/** Part of a session that the board uses. */
export interface BoardMember extends ListWatcher {
  resourceUpdated(text: string): void;
  logged(level: unknown, text: string): void;
}

/**
 * Sends the hub's events to the sessions of one endpoint. All sessions share one listener, each view is read once per
 * change, and each message is serialised once.
 */
export class SessionBoard {
  readonly #lists: ListWatch<BoardMember>;
  readonly #watchers = new Map<string, Set<BoardMember>>();
  readonly #stop: readonly (() => void)[];

  constructor(hub: HubContent, logger: Logger) {
    this.#lists = new ListWatch(hub, logger);
    this.#stop = [
      hub.events.resourceUpdated.on((update) => this.#updated(update)),
      hub.events.log.on((message) => this.#logged(message)),
    ];
  }

  /** Adds a session, which then receives list changes and log messages. */
  join(member: BoardMember): void {
    this.#lists.members.add(member);
  }

  leave(member: BoardMember): void {
    this.#lists.members.delete(member);
  }

  watch(uri: string, member: BoardMember): void {
    const watchers = this.#watchers.get(uri);
    if (watchers) watchers.add(member);
    else this.#watchers.set(uri, new Set([member]));
  }

  unwatch(uri: string, member: BoardMember): void {
    const watchers = this.#watchers.get(uri);
    watchers?.delete(member);
    if (watchers?.size === 0) this.#watchers.delete(uri);
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#lists.close();
    this.#watchers.clear();
  }

  #updated(update: ResourceUpdate): void {
    const { uri, params } = update;
    const watchers = this.#watchers.get(uri);
    if (!watchers) return;
    const text = stringifyExact({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri, ...params },
    });
    for (const member of watchers) if (isFor(update, member.view.principal)) member.resourceUpdated(text);
  }

  #logged(message: LogMessage): void {
    const { params } = message;
    if (this.#lists.members.size === 0) return;
    const text = stringifyExact({ jsonrpc: "2.0", method: "notifications/message", params });
    for (const member of this.#lists.members)
      if (isFor(message, member.view.principal)) member.logged(params["level"], text);
  }
}
