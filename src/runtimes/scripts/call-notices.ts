import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Call } from "../../core/call.ts";

/** Log lines of one call that reach its caller; the rest are counted. */
const MAX_LOG_LINES = 200;
/** Progress notices that pass at once; a script that sends more is slowed to one per `PROGRESS_EVERY_MS`, the last one kept. */
const FREE_PROGRESS = 100;
const PROGRESS_EVERY_MS = 50;

type Speaker = Pick<Call, "notify" | "deadline">;

/** What a running script says on the side, made into notices of its call, within bounds. */
export class CallNotices {
  readonly #call: Speaker;
  readonly #logger: string;
  #lines = 0;
  #progress = 0;
  #sentAt = 0;
  #pending: JsonObject | undefined;

  /** `logger` is the name that log messages carry: the tool's. */
  constructor(call: Speaker, logger: string) {
    this.#call = call;
    this.#logger = logger;
  }

  log(data: string, level = "info"): void {
    this.#lines += 1;
    if (this.#lines <= MAX_LOG_LINES) this.#notify("notifications/message", { level, logger: this.#logger, data });
  }

  /** Takes a message such as `{progress: 1, total: 3, message: "…"}`. False when it is none. */
  progress(message: unknown): boolean {
    if (!isJsonObject(message) || typeof message["progress"] !== "number" || !Number.isFinite(message["progress"])) return false;
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
    if (unsaid > 0) this.#notify("notifications/message", { level: "warning", logger: this.#logger, data: `${unsaid} more log lines were left out.` });
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
