import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { Client } from "../../../core/calls/call.ts";
import type { HubPort, ListKind, View } from "../../../core/ports/hub-port.ts";
import { messageOf } from "../../../core/errors.ts";
import { objectMember, type JsonObject } from "../../../core/json/json.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { Tasks } from "../../../core/ports/tasks.ts";
import { Shares, type Holder } from "../../../core/fairness/shares.ts";
import { RPC, rpcError, type RpcRequest } from "../../../wire/messages.ts";
import { ListenSubscription } from "./listen.ts";
import { ListenBoard } from "./listen-board.ts";
import { holderIn, type AdmittedFacts } from "./facts.ts";
import type { ModernOutlet } from "./outlet.ts";
import { declaresTasks, UNDECLARED, wireTask } from "./task-methods.ts";

export interface ListenOptions {
  readonly maxSubscriptions: number;
  readonly maxSubscribedResources: number;
  /** Tasks. Absent: no task is reported. */
  readonly tasks?: Tasks | undefined;
}

/** Changes about which a caller is notified: of lists, resources and tasks. */
interface Filter {
  readonly lists: ReadonlySet<ListKind>;
  readonly uris: readonly string[];
  /** Ids of the tasks whose changes are reported. */
  readonly taskIds: readonly string[];
  /** Filter as the acknowledgement contains it, without the URIs. */
  readonly wire: JsonObject;
}

/** Caller, and the `_meta` that identifies the server. */
interface ListenClient {
  readonly facts: AdmittedFacts;
  readonly identity: JsonObject;
}

/** Serves `subscriptions/listen`: streams that notify callers of changed lists and resources. */
export class Listens {
  readonly #hub: HubPort;
  readonly #logger: Logger;
  readonly #options: ListenOptions;
  readonly #board: ListenBoard;
  readonly #open = new Map<ListenSubscription, Holder>();
  readonly #shares = new Shares();

  constructor(hub: HubPort, logger: Logger, options: ListenOptions) {
    this.#hub = hub;
    this.#logger = logger;
    this.#options = options;
    this.#board = new ListenBoard(hub, logger);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Serves one request. Resolves when it has ended. */
  async serve({ id, params }: RpcRequest, outlet: ModernOutlet, { facts, identity }: ListenClient): Promise<void> {
    const refuse = (code: number, message: string): void =>
      outlet.reply(stringifyExact(rpcError(id, { code, message })), 200);
    const holder = holderIn(facts);
    if (!this.#hasRoomFor(holder)) return refuse(RPC.internal, "Subscription limit reached");
    const filter = readFilter(params, this.#options.maxSubscribedResources);
    if (typeof filter === "string") return refuse(RPC.invalidParams, `Invalid params: ${filter}`);
    if (filter.taskIds.length > 0 && this.#options.tasks?.isOffered === true && !declaresTasks(facts.envelope))
      return outlet.reply(stringifyExact(rpcError(id, UNDECLARED)), 400);
    const view: View = { mode: facts.mode, principal: facts.principal };
    const listen = new ListenSubscription({
      id,
      view,
      outlet,
      identity,
      lists: filter.lists,
      ...(facts.connection !== undefined && { connection: facts.connection }),
    });
    this.#open.set(listen, holder);
    this.#shares.add(holder);
    this.#board.join(listen);
    facts.signal.addEventListener("abort", listen.drop, { once: true });
    if (facts.signal.aborted) listen.drop();
    const releases = await this.#begin(listen, filter, view);
    await listen.ended;
    facts.signal.removeEventListener("abort", listen.drop);
    this.#board.leave(listen);
    this.#forget(listen);
    await Promise.all(releases.map((release) => this.#release(release)));
  }

  /** Ends the requests of a lasting connection, or all requests without one, with their results. */
  finish(connection: string | undefined): void {
    for (const listen of this.#open.keys()) if (listen.connection === connection) listen.finish();
  }

  close(): void {
    for (const listen of this.#open.keys()) listen.finish();
    this.#board.close();
  }

  /**
   * Returns true if there is room for a request. At the limit, ends the oldest request of the principal that exceeds
   * its share.
   */
  #hasRoomFor(newcomer: Holder): boolean {
    if (this.#open.size < this.#options.maxSubscriptions) return true;
    const [oldest] = this.#shares.debtorTo(newcomer, this.#open, { holder: ([, holder]) => holder }) ?? [];
    if (!oldest) return false;
    oldest.finish();
    this.#forget(oldest);
    return true;
  }

  #forget(listen: ListenSubscription): void {
    const holder = this.#open.get(listen);
    if (holder && this.#open.delete(listen)) this.#shares.remove(holder);
  }

  async #begin(listen: ListenSubscription, filter: Filter, view: View): Promise<readonly (() => Promise<void>)[]> {
    // The listener is added before the versions are read, so that no change is missed.
    const [versions, subscribed] = await Promise.all([
      this.#board.versions(filter.lists, view),
      this.#subscribe(filter.uris, view),
    ]);
    const honoured = Array.from(subscribed.keys());
    const watch = filter.taskIds.length > 0 ? await this.#watchTasks(listen, filter.taskIds) : undefined;
    const wire = {
      ...filter.wire,
      ...(honoured.length > 0 && { resourceSubscriptions: honoured }),
      ...(watch && { taskIds: watch.ids }),
    };
    listen.begin(versions, honoured, wire);
    if (Object.keys(wire).length === 0) listen.finish();
    return [...subscribed.values(), ...(watch ? [async () => watch.stop()] : [])];
  }

  /** Reports the changes of the caller's own tasks. Returns the ids that belong to the caller. */
  async #watchTasks(
    listen: ListenSubscription,
    wanted: readonly string[],
  ): Promise<{ readonly ids: readonly string[]; readonly stop: () => void } | undefined> {
    const { tasks } = this.#options;
    const { principal } = listen.view;
    for (const id of wanted) await tasks?.ready({ id, principal });
    const ids = wanted.filter((id) => tasks?.get(id, principal) !== undefined);
    if (!tasks || ids.length === 0) return undefined;
    const stop = tasks.changed.on(({ task }) => {
      if (ids.includes(task.id)) listen.taskChanged(wireTask(task));
    });
    return { ids, stop };
  }

  /**
   * Subscribes to the URIs. Omits URIs that do not support subscriptions; the acknowledgement does not contain them.
   */
  async #subscribe(uris: readonly string[], { principal }: View): Promise<ReadonlyMap<string, () => Promise<void>>> {
    const subscribed = new Map<string, () => Promise<void>>();
    const attempts = uris.map(async (uri) => {
      try {
        subscribed.set(uri, await this.#hub.subscribe(uri, { principal, client: MODERN_CLIENT }));
      } catch (error) {
        this.#logger.debug("A resource cannot be subscribed to.", { uri, error: messageOf(error) });
      }
    });
    await Promise.all(attempts);
    return subscribed;
  }

  async #release(release: () => Promise<void>): Promise<void> {
    try {
      await release();
    } catch (error) {
      this.#logger.debug("Ending a subscription failed; its source has no subscribers any more.", {
        error: messageOf(error),
      });
    }
  }
}

/** Client of a listen request: it receives notifications and no server requests. */
const MODERN_CLIENT: Client = Object.freeze({ era: "modern", capabilities: {} });

/** Returns the filter, or the problem of the parameters. */
function readFilter(params: JsonObject | undefined, maxUris: number): Filter | string {
  const notifications = params && objectMember(params, "notifications");
  if (!notifications) return "`notifications` is required and must be an object";
  const lists = new Set<ListKind>();
  const wire: JsonObject = {};
  for (const [member, kinds] of LIST_MEMBERS) {
    const wanted = notifications[member];
    if (wanted !== undefined && typeof wanted !== "boolean") return `\`notifications.${member}\` must be true or false`;
    if (!wanted) continue;
    wire[member] = true;
    for (const kind of kinds) lists.add(kind);
  }
  const uris = readIds(notifications, "resourceSubscriptions", maxUris);
  if (typeof uris === "string") return uris;
  const taskIds = readIds(notifications, "taskIds", maxUris);
  return typeof taskIds === "string" ? taskIds : { lists, uris, taskIds, wire };
}

/** Returns the list without duplicates, or the problem of the list. */
function readIds(notifications: JsonObject, member: string, most: number): readonly string[] | string {
  const ids = notifications[member] ?? [];
  if (!Array.isArray(ids) || !ids.every((id): id is string => typeof id === "string"))
    return `\`notifications.${member}\` must be a list of ${ID_NAMES[member]}`;
  if (ids.length <= most) return Array.from(new Set(ids));
  return `\`notifications.${member}\` names ${ids.length} ${ID_KINDS[member]}, and ${most} are allowed`;
}

const ID_NAMES: Readonly<Record<string, string>> = { resourceSubscriptions: "URIs", taskIds: "task ids" };
const ID_KINDS: Readonly<Record<string, string>> = { resourceSubscriptions: "resources", taskIds: "tasks" };

const LIST_MEMBERS: readonly (readonly [string, readonly ListKind[]])[] = [
  ["toolsListChanged", ["tools"]],
  ["promptsListChanged", ["prompts"]],
  ["resourcesListChanged", ["resources", "templates"]],
];
