import { parseExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Call } from "../../core/calls/call.ts";
import type { Logger } from "../../core/ports/ports.ts";

/** Log lines of one call that reach its caller; the rest are counted. */
const MAX_LOG_LINES = 200;
/**
 * Progress notices that pass at once; a script that sends more is slowed to one per `PROGRESS_EVERY_MS`, the last one
 * kept.
 */
const FREE_PROGRESS = 100;
const PROGRESS_EVERY_MS = 50;

/** Lines of descriptor 3 that may be unreadable before it is no longer listened to. */
const MAX_UNREADABLE = 100;

type Speaker = Pick<Call, "id" | "notify" | "deadline">;

export interface ScriptNotificationOptions {
  /** The tool's name; log messages carry it. */
  readonly tool: string;
  /** The hub's log, which hears the tool's lines too. */
  readonly logger: Logger;
  /** Takes out of a line what a caller must not see. */
  readonly clean: (text: string) => string;
}

/** What a running script says on the side, made into notices of its call, within bounds. */
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
   * The object that a line of descriptor 3 holds. A stream of lines that are none is no longer looked at: reading them
   * would cost more than the tool does.
   */
  readMessage(line: string): JsonObject | undefined {
    if (this.#unreadable >= MAX_UNREADABLE) return undefined;
    const message = line.startsWith("{") ? parseObject(line) : undefined;
    if (message) return message;
    this.#unreadable += 1;
    if (this.#unreadable === 1) this.log("A line on descriptor 3 was no JSON object and was left out.", "warning");
    return undefined;
  }

  /** Takes a message such as `{progress: 1, total: 3, message: "…"}`. False when it is none. */
  progress(message: unknown): boolean {
    if (!isJsonObject(message) || typeof message["progress"] !== "number" || !Number.isFinite(message["progress"]))
      return false;
    // Work goes on, however few of these are passed on.
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

  /** Sends what was held back. Call it before the outcome goes out. */
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
