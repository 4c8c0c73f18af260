import { parseExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Call } from "../../core/calls/call.ts";
import type { Logger } from "../../core/ports/ports.ts";

/** Maximum number of log lines of one call that are sent to its caller. Further lines are only counted. */
const MAX_LOG_LINES = 200;
/**
 * Number of progress notifications that are sent immediately. Further ones are limited to one per `PROGRESS_EVERY_MS`;
 * the latest one is kept.
 */
const FREE_PROGRESS = 100;
const PROGRESS_EVERY_MS = 50;

/** Number of unreadable lines after which descriptor 3 is ignored. */
const MAX_UNREADABLE = 100;

type Speaker = Pick<Call, "id" | "notify" | "deadline">;

export interface ScriptNotificationOptions {
  /** Name of the tool, included in log messages. */
  readonly tool: string;
  /** The hub's log, which also receives the tool's lines. */
  readonly logger: Logger;
  /** Removes everything from a line that a caller must not see. */
  readonly clean: (text: string) => string;
}

/** Converts a running script's messages to notifications of its call, within limits. */
export class ScriptNotifications {
  readonly #call: Speaker;
  readonly #options: ScriptNotificationOptions;
  #lines = 0;
  #unreadable = 0;
  #progress = 0;
  #sentAt = 0;
  #pending: JsonObject | undefined;

  constructor(call: Speaker, options: ScriptNotificationOptions) {
    this.#call = call;
    this.#options = options;
  }

  log(data: string, level = "info"): void {
    this.#lines += 1;
    if (this.#lines > MAX_LOG_LINES) return;
    const { tool, logger, clean } = this.#options;
    logger.debug(data, { tool, call: this.#call.id });
    this.#notify("notifications/message", { level, logger: tool, data: clean(data) });
  }

  /**
   * Parses a line of descriptor 3 as an object. Stops parsing after many unreadable lines, because parsing them would
   * cost more than the tool itself.
   */
  readMessage(line: string): JsonObject | undefined {
    if (this.#unreadable >= MAX_UNREADABLE) return undefined;
    const message = line.startsWith("{") ? parseObject(line) : undefined;
    if (message) return message;
    this.#unreadable += 1;
    if (this.#unreadable === 1) this.log("A line on descriptor 3 was no JSON object and was left out.", "warning");
    return undefined;
  }

  /** Handles a message such as `{progress: 1, total: 3, message: "…"}`. Returns false for other messages. */
  progress(message: unknown): boolean {
    if (!isJsonObject(message) || typeof message["progress"] !== "number" || !Number.isFinite(message["progress"]))
      return false;
    // Progress counts as activity even if it is not sent to the caller.
    this.#call.deadline?.touch();
    const params: JsonObject = {
      progress: message["progress"],
      ...(typeof message["total"] === "number" ? { total: message["total"] } : {}),
      ...(typeof message["message"] === "string" ? { message: message["message"] } : {}),
    };
    this.#progress += 1;
    const now = performance.now();
    if (this.#progress <= FREE_PROGRESS || now - this.#sentAt >= PROGRESS_EVERY_MS) this.#sendProgress(params, now);
    else this.#pending = params;
    return true;
  }

  /** Sends the latest progress that was not sent yet. Must be called before the outcome is sent. */
  finish(): void {
    if (this.#pending) this.#sendProgress(this.#pending, performance.now());
    const unsaid = this.#lines - MAX_LOG_LINES;
    if (unsaid > 0)
      this.#notify("notifications/message", {
        level: "warning",
        logger: this.#options.tool,
        data: `${unsaid} more log lines were left out.`,
      });
    this.#lines = 0;
  }

  #sendProgress(params: JsonObject, now: number): void {
    this.#pending = undefined;
    this.#sentAt = now;
    this.#notify("notifications/progress", params);
  }

  #notify(method: string, params: JsonObject): void {
    this.#call.notify({ method, params });
  }
}

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = parseExact(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
