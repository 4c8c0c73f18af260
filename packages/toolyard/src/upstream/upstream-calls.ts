import { cancellationOf, type Call } from "../core/calls/call.ts";
import type { Cancellation } from "../core/calls/cancellation.ts";
import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import { orAborted } from "../core/timing/wait.ts";
import type { Logger } from "../core/ports/ports.ts";
import { RPC } from "../wire/messages.ts";
import { couldNotAsk } from "./connection/server-request-failure.ts";
import type { CallRequest, Connection } from "./connection/connection.ts";
import { hangs, isUseless } from "./connection/pulse.ts";
import { failureOf } from "./faults.ts";
import type { IdleStop } from "./idle-stop.ts";
import type { Link } from "./links/link.ts";
import type { Links, ReachedLink } from "./links/links.ts";
import type { ListingTracker } from "./listing/listing-tracker.ts";
import type { TaskChannel } from "./tasks/follow-task.ts";
import { TASK_RESULT, withTask } from "./tasks/task-request.ts";
import type { UpstreamTask } from "../core/calls/task-offer.ts";

/**
 * Time in milliseconds without an answer to a ping after which a server counts as hanging, if a call has timed out
 * before.
 */
const PULSE_MS = 10_000;

export interface UpstreamCallsParts {
  readonly links: Links;
  readonly listings: ListingTracker;
  /** Absent for a server that is never stopped. */
  readonly idle: IdleStop | undefined;
  /** Id of the source, which is stored with the tasks of its server. */
  readonly source: string;
  readonly logger: Logger;
  readonly pulseMs?: number | undefined;
}

/** Makes calls to one server, each over a connection that can carry it. */
export class UpstreamCalls {
  readonly #parts: UpstreamCallsParts;
  #deciding: Promise<void> | undefined;
  #hasCalled = false;
  #isClosed = false;
  /** Ends the waits for tasks. Created for the first task. */
  #closer: AbortController | undefined;

  constructor(parts: UpstreamCallsParts) {
    this.#parts = parts;
  }

  /** Returns true if any call was made. */
  get hasCalled(): boolean {
    return this.#hasCalled;
  }

  /** Resolves once the options of the connection are known. Absent if they already are. */
  get deciding(): Promise<void> | undefined {
    return this.#deciding;
  }

  /** Makes calls wait until the options of the connection are known. `decision` must not reject. */
  waitFor(decision: Promise<unknown>): Promise<void> {
    this.#deciding = decision.then(() => void (this.#deciding = undefined));
    return this.#deciding;
  }

  /** Makes later calls fail. */
  close(): void {
    this.#isClosed = true;
    this.#closer?.abort(new FailError(CLOSED));
  }

  /**
   * Makes a call: over the shared connection, or over that of the caller's session. Expected failures are outcomes.
   */
  async call(call: Call, given: CallRequest): Promise<Outcome> {
    const { idle, links } = this.#parts;
    idle?.callBegins();
    try {
      if (this.#isClosed) throw new FailError(CLOSED);
      if (this.#deciding) await orAborted(this.#deciding, cancellationOf(call));
      if (call.follows) return await this.#follow(call, call.follows);
      const startedAt = performance.now();
      const reaching = links.reach(call, cancellationOf(call), given);
      const reached = reaching instanceof Promise ? await reaching : reaching;
      const request = given.execution === undefined ? given : withTask(call, given, reached.connection.era);
      this.#hasCalled = true;
      const first = await reached.connection.call(call, request);
      const outcome = first.ok ? first : await this.#onFail(first, { call, request, startedAt, ...reached });
      if (!outcome.ok || outcome.result["resultType"] !== TASK_RESULT) return outcome;
      return await this.#delegated(outcome.result, { call, request, era: reached.connection.era.name });
    } catch (error) {
      return failureOf(error);
    } finally {
      idle?.callEnds();
    }
  }

  /** Follows a task that an earlier hub of the same configuration started at the server, until it ends. */
  async #follow(call: Call, task: UpstreamTask): Promise<Outcome> {
    call.taskOffer?.delegated?.(task);
    const { followTask } = await import("./tasks/follow-task.ts");
    return await followTask({ task, state: { status: "working", pollInterval: 1 } }, call, this.#channel(call));
  }

  /** Follows the task that the server created for a call. */
  async #delegated(
    state: JsonObject,
    { call, request, era }: Pick<CallAttempt, "call" | "request"> & Pick<UpstreamTask, "era">,
  ): Promise<Outcome> {
    const { taskId } = state;
    if (typeof taskId !== "string" || taskId === "")
      return fail("malformed", "The server created a task without `taskId`. The author of the server must fix that.");
    const task: UpstreamTask = { source: this.#parts.source, taskId, era };
    call.taskOffer?.delegated?.(task);
    const { followTask } = await import("./tasks/follow-task.ts");
    return await followTask({ task, state }, call, this.#channel(call, request));
  }

  /**
   * Returns the channel for requests about a task. `request`: the call's request, by which the server's link was
   * chosen.
   */
  #channel(call: Call, request?: CallRequest): TaskChannel {
    const reach = (cancellation: Cancellation) => this.#parts.links.reach(call, cancellation, request);
    this.#closer ??= new AbortController();
    return {
      closed: this.#closer.signal,
      request: async (method, params, signal = NEVER) =>
        (await reach(signal)).connection.request(method, params, signal),
      call: async (method, params) => {
        try {
          return await (await reach(cancellationOf(call))).connection.call(call, { method, params });
        } catch (error) {
          return failureOf(error);
        }
      },
    };
  }

  /** Handles a failed call. Repeats it if that may help. */
  async #onFail(failure: Fail, { call, request, link, connection, startedAt }: CallAttempt): Promise<Outcome> {
    if (failure.rpcError?.code === RPC.headerMismatch)
      return await this.#callWithFreshSchema(call, request, connection);
    if (couldNotAsk(failure) && this.#parts.links.couldNotAsk(link, call, request))
      return await this.#callOverOther(failure, { call, request, link });
    if (failure.kind === "timeout") void this.#checkPulse(link, connection, startedAt);
    const isUnsent = failure.kind === "unavailable" && failure.details?.["sent"] === false;
    if (!isUnsent || cancellationOf(call).aborted || !isUseless(connection, failure)) return failure;
    // If the call never reached the server, another connection may carry it.
    leave(link, connection, failure);
    const next = await link.get(cancellationOf(call));
    return await next.call(call, { ...request, afterLoss: failure.details?.["sessionLost"] === true });
  }

  /** Repeats a call over the link that `reach` returns now. If that is the same link, the failure is final. */
  async #callOverOther(
    failure: Fail,
    { call, request, link }: Pick<CallAttempt, "call" | "request" | "link">,
  ): Promise<Outcome> {
    const next = await this.#parts.links.reach(call, cancellationOf(call), request);
    return next.link === link ? failure : await next.connection.call(call, request);
  }

  // Repeats a call that failed because the server compared its headers with a schema that is newer than the hub's.
  // Reads the list first.
  async #callWithFreshSchema(call: Call, request: CallRequest, connection: Connection): Promise<Outcome> {
    await this.#parts.listings.refresh();
    const { name } = request.params;
    const listing = await this.#parts.listings.listing();
    const inputSchema = listing.tools.find((tool) => tool["name"] === name)?.["inputSchema"];
    return await connection.call(
      call,
      inputSchema === undefined ? request : { ...request, inputSchema: inputSchema as JsonObject },
    );
  }

  async #checkPulse(link: Link, connection: Connection, startedAt: number): Promise<void> {
    if (!(await hangs(connection, startedAt, this.#parts.pulseMs ?? PULSE_MS))) return;
    this.#parts.logger.warning("The server hangs: it answers neither calls nor pings. It is ended and started again.");
    link.replace(
      connection,
      fail("unavailable", "The server hung and was started again.", { retryable: false, details: { sent: true } }),
      { isUseless: true },
    );
  }
}

const CLOSED = fail("unavailable", "This source was closed.", { retryable: false });
const NEVER = new AbortController().signal;

/** A call that was made over a connection. */
interface CallAttempt extends ReachedLink {
  readonly call: Call;
  readonly request: CallRequest;
  /** Time on the clock of `performance.now()`. */
  readonly startedAt: number;
}

/** Removes a useless connection from its link. */
function leave(link: Link, connection: Connection, failure: Fail): void {
  if (failure.details?.["sessionLost"] === true) link.retire(connection, failure);
  // Other calls on the connection were already sent, so their failure must not report them as unsent.
  else link.replace(connection, { ...failure, retryable: false, details: { ...failure.details, sent: true } });
}
