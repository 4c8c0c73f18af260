import { Emitter } from "../../../core/events.ts";
import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { SharedQueues } from "../../../state/ports/shared-queues.ts";
import { inTime } from "./in-time.ts";

/** Message between hubs about one task. */
export interface TaskMessage {
  readonly id: string;
  readonly from: string;
  /** Receiver. Absent: the task has changed, and all hubs receive the message. */
  readonly to?: string;
  /** Members of an action: `{type, …}`. */
  readonly action?: JsonObject;
}

/** Connection of ioredis that receives messages. */
interface Subscriber {
  on(event: string, listener: (...values: never[]) => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  disconnect(): void;
}

/** Messages between hubs about tasks. */
export class SharedTaskChannel {
  readonly received = new Emitter<TaskMessage>();
  readonly #queues: SharedQueues;
  readonly #channel: string;
  #subscriber: Subscriber | undefined;

  constructor(queues: SharedQueues) {
    this.#queues = queues;
    this.#channel = `${queues.prefix}tasks`;
  }

  /** Receives messages from now on. Rejects with a `FailError` if the store does not answer in time. */
  async open(): Promise<void> {
    // A connection of an earlier attempt would still wait for the store.
    this.close();
    const subscriber = this.#queues.connect() as Subscriber;
    this.#subscriber = subscriber;
    // Errors are ignored, because the connection for commands reports a lost store.
    subscriber.on("error", () => {});
    subscriber.on("message", (_channel: string, text: string) => {
      const message = readMessage(text);
      if (message && message.from !== this.#queues.hub) this.received.emit(message);
    });
    await inTime(subscriber.subscribe(this.#channel));
  }

  /** Sends a message. Rejects if the store cannot be reached. */
  async send(id: string, more: Pick<TaskMessage, "to" | "action"> = {}): Promise<void> {
    const text = stringifyExact({ id, from: this.#queues.hub, ...more });
    await this.#queues.command("PUBLISH", this.#channel, text);
  }

  close(): void {
    this.#subscriber?.disconnect();
  }
}

/** Returns the message, or `undefined` if another program or a newer hub sent something else. */
function readMessage(text: string): TaskMessage | undefined {
  try {
    const value: unknown = parseExact(text);
    const isMessage =
      isJsonObject(value) && typeof value["id"] === "string" && stringMember(value, "from") !== undefined;
    return isMessage ? (value as unknown as TaskMessage) : undefined;
  } catch {
    return undefined;
  }
}
