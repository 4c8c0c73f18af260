import { nextCallId } from "../../../core/calls/call-id.ts";
import { FailError, messageOf } from "../../../core/errors.ts";
import type { Call } from "../../../core/calls/call.ts";
import { stringMember, type JsonObject } from "../../../core/json/json.ts";
import { RPC } from "../../../wire/messages.ts";
import { errorAnswer, internalAnswer, resultAnswer, type McpAnswer } from "../answers.ts";
import { failureAnswer, type FailureRules } from "../failures.ts";
import type { MethodsDeps } from "../methods.ts";
import type { BoardMember, SessionBoard } from "./board.ts";
import type { LegacySessionOptions } from "./options.ts";

export interface SubscriptionDeps extends MethodsDeps {
  readonly board: SessionBoard;
  readonly options: LegacySessionOptions;
}

type SubscriptionEnd = Promise<() => Promise<void>>;

/** Resource subscriptions of one session. */
export class SessionSubscriptions {
  readonly #deps: SubscriptionDeps;
  readonly #member: BoardMember & Pick<Call, "principal" | "client">;
  /** Called with all subscribed URIs each time they change. */
  readonly #onChange: (uris: readonly string[]) => void;
  #byUri: Map<string, SubscriptionEnd> | undefined;

  constructor(
    deps: SubscriptionDeps,
    member: BoardMember & Pick<Call, "principal" | "client">,
    onChange: (uris: readonly string[]) => void,
  ) {
    this.#deps = deps;
    this.#member = member;
    this.#onChange = onChange;
  }

  /** Handles `resources/subscribe`. A second subscription to the same URI has no effect. */
  async add(params: JsonObject, rules: FailureRules): Promise<McpAnswer> {
    const uri = stringMember(params, "uri");
    if (uri === undefined) return errorAnswer(RPC.invalidParams, "Invalid params: `uri` must be a string.");
    const byUri = (this.#byUri ??= new Map<string, SubscriptionEnd>());
    const { maxSubscriptions } = this.#deps.options;
    if (!byUri.has(uri) && byUri.size >= maxSubscriptions) {
      return errorAnswer(
        RPC.invalidParams,
        `Too many subscriptions: this session has ${maxSubscriptions}. Unsubscribe from some first.`,
      );
    }
    const known = byUri.get(uri);
    const subscribing = known ?? this.#deps.hub.subscribe(uri, this.#member);
    byUri.set(uri, subscribing);
    try {
      await subscribing;
      if (byUri.get(uri) === subscribing) this.#deps.board.watch(uri, this.#member);
      if (!known) this.#onChange(Array.from(byUri.keys()));
      return resultAnswer({});
    } catch (error) {
      if (byUri.get(uri) === subscribing) byUri.delete(uri);
      return this.#refused(error, uri, rules);
    }
  }

  /** Handles `resources/unsubscribe`. An unknown subscription is ignored. */
  async remove(params: JsonObject): Promise<McpAnswer> {
    const uri = stringMember(params, "uri");
    if (uri === undefined) return errorAnswer(RPC.invalidParams, "Invalid params: `uri` must be a string.");
    const subscribing = this.#byUri?.get(uri);
    this.#byUri?.delete(uri);
    if (!subscribing) return resultAnswer({});
    this.#onChange(Array.from(this.#byUri?.keys() ?? []));
    await this.#end(uri, subscribing);
    return resultAnswer({});
  }

  close(): void {
    const held = this.#byUri;
    this.#byUri = undefined;
    if (!held) return;
    for (const [uri, subscribing] of held) void this.#end(uri, subscribing);
    held.clear();
  }

  async #end(uri: string, subscribing: SubscriptionEnd): Promise<void> {
    this.#deps.board.unwatch(uri, this.#member);
    try {
      const unsubscribe = await subscribing;
      await unsubscribe();
    } catch (error) {
      this.#deps.logger.debug("Ending a subscription failed; the source does not send updates to this hub any more.", {
        uri,
        error: messageOf(error),
      });
    }
  }

  #refused(error: unknown, uri: string, rules: FailureRules): McpAnswer {
    const id = nextCallId();
    if (error instanceof FailError)
      return failureAnswer(error.failure, { id, method: "resources/read", target: uri, cancelled: false }, rules);
    this.#deps.logger.error("A subscription failed because of an internal error.", {
      call: id,
      uri,
      error: messageOf(error),
    });
    return internalAnswer(id);
  }
}
