import type { Call } from "../../core/calls/call.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import { replyMember } from "../../wire/reply-member.ts";
import type { ScriptNotifications } from "./script-notifications.ts";
import type { ScriptHost } from "./script-host.ts";
import { textResult, valueResult } from "./script-result.ts";
import { accessFor } from "../calling/hub-access.ts";
import { HubRequests, type WriteLine } from "../calling/hub-requests.ts";

/** Receives the message lines of a child, and the function that writes lines to the child. */
export interface ChildChannel {
  onChannel(write: WriteLine): void;
  onMessageLine(line: string): void;
}

/**
 * The messages of a running child on descriptor 3: requests to the hub, progress, log lines, and its result. If there
 * are several results, the last one counts.
 */
export class ChildMessages {
  readonly #call: Call;
  readonly #host: ScriptHost;
  readonly #notifications: ScriptNotifications;
  #requests: HubRequests | undefined;
  #answer: JsonObject | undefined;

  constructor(call: Call, host: ScriptHost, notifications: ScriptNotifications) {
    this.#call = call;
    this.#host = host;
    this.#notifications = notifications;
  }

  /** The last message with `result` or `error`. */
  get answer(): JsonObject | undefined {
    return this.#answer;
  }

  /** Handles messages while the child runs; its requests end with it. */
  async during<T>(run: (channel: ChildChannel) => Promise<T>): Promise<T> {
    try {
      return await run({ onChannel: (write) => this.#open(write), onMessageLine: (line) => this.take(line) });
    } finally {
      this.#requests?.close();
    }
  }

  take(line: string): void {
    const message = this.#notifications.readMessage(line);
    if (!message || this.#requests?.take(message)) return;
    if (isAnswer(message)) this.#answer = message;
    else if (typeof message["log"] === "string") this.#notifications.log(message["log"], levelOf(message["level"]));
    else if (!this.#notifications.progress(message))
      this.#notifications.log(
        'An object on descriptor 3 was neither a request nor progress such as {"progress": 1, "total": 3}.',
        "warning",
      );
  }

  /** Returns the outcome that the child sent, if any. The printed output of the child then becomes log lines. */
  outcome(clean: (text: string) => string, stdout: Buffer): Outcome | undefined {
    const answer = this.#answer;
    if (!answer) return undefined;
    for (const line of stdout.toString("utf8").split("\n")) if (line !== "") this.#notifications.log(line);
    if (replyMember(answer) === "result") return valueResult(answer["result"]);
    const { error } = answer;
    const message = clean(String(isJsonObject(error) ? error["message"] : error));
    return fail("tool_error", message, { result: { ...textResult(message), isError: true } });
  }

  #open(write: WriteLine): void {
    this.#requests = new HubRequests(accessFor(this.#call, this.#host.ports), write);
  }
}

/** Returns whether the message is a result. A log line also has a member `error`, but its value is text. */
function isAnswer(message: JsonObject): boolean {
  if (Object.hasOwn(message, "result")) return true;
  return isJsonObject(message["error"]) && replyMember(message) === "error";
}

const LEVELS = new Set(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);

function levelOf(value: unknown): string {
  return typeof value === "string" && LEVELS.has(value) ? value : "info";
}
