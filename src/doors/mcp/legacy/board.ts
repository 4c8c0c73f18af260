import { messageOf } from "../../../core/errors.ts";
import type { HubPort, ListKind, View } from "../../../core/hub-port.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Logger } from "../../../core/ports.ts";

/** Versions of the lists that one view shows now. */
export type ListVersions = ReadonlyMap<ListKind, string>;

/** A session as the board sees it. */
export interface BoardMember {
  readonly view: View;
  /** Compares with what its client has seen and tells it of what differs. */
  listsMayHaveChanged(versions: ListVersions): void;
  resourceUpdated(text: string): void;
  logged(level: unknown, text: string): void;
}

/**
 * Spreads the hub's events to the sessions of one door: one listener for all of them, each view looked at once a change, each
 * message serialised once.
 */
export class SessionBoard {
  readonly #hub: HubPort;
  readonly #logger: Logger;
  readonly #members = new Set<BoardMember>();
  readonly #watchers = new Map<string, Set<BoardMember>>();
  readonly #dirty = new Set<ListKind>();
  readonly #stop: readonly (() => void)[];
  #isSweeping = false;

  constructor(hub: HubPort, logger: Logger) {
    this.#hub = hub;
    this.#logger = logger;
    this.#stop = [
      hub.events.listsChanged.on(({ lists }) => this.#changed(lists)),
      hub.events.resourceUpdated.on(({ uri, params }) => this.#updated(uri, params)),
      hub.events.log.on((params) => this.#logged(params)),
    ];
  }

  /** Members hear of changed lists and of log messages. */
  join(member: BoardMember): void {
    this.#members.add(member);
  }

  leave(member: BoardMember): void {
    this.#members.delete(member);
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
    this.#members.clear();
    this.#watchers.clear();
  }

  #changed(lists: readonly ListKind[]): void {
    if (this.#members.size === 0) return;
    for (const kind of lists) this.#dirty.add(kind);
    // Changes during a sweep are taken up by the same run, so that a storm of them costs no more than one after another.
    if (!this.#isSweeping) void this.#sweep();
  }

  async #sweep(): Promise<void> {
    this.#isSweeping = true;
    while (this.#dirty.size > 0) {
      const kinds = Array.from(this.#dirty);
      this.#dirty.clear();
      for (const members of this.#byView()) await this.#compare(kinds, members);
    }
    this.#isSweeping = false;
  }

  #byView(): Iterable<BoardMember[]> {
    const groups = new Map<string, BoardMember[]>();
    for (const member of this.#members) {
      const key = `${member.view.mode} ${member.view.principal.id}`;
      const group = groups.get(key);
      if (group) group.push(member);
      else groups.set(key, [member]);
    }
    return groups.values();
  }

  async #compare(kinds: readonly ListKind[], members: readonly BoardMember[]): Promise<void> {
    const view = members[0]?.view;
    if (!view) return;
    const versions = new Map<ListKind, string>();
    for (const kind of kinds) {
      try {
        versions.set(kind, (await this.#hub.list(kind, view)).version);
      } catch (error) {
        this.#logger.warning("A changed list could not be read, so sessions were not told of it.", { list: kind, error: messageOf(error) });
      }
    }
    for (const member of members) if (this.#members.has(member)) member.listsMayHaveChanged(versions);
  }

  #updated(uri: string, params: JsonObject): void {
    const watchers = this.#watchers.get(uri);
    if (!watchers) return;
    const text = JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri, ...params } });
    for (const member of watchers) member.resourceUpdated(text);
  }

  #logged(params: JsonObject): void {
    if (this.#members.size === 0) return;
    const text = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params });
    for (const member of this.#members) member.logged(params["level"], text);
  }
}
