import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { HubAccess } from "../calling/hub-access.ts";
import { HubRequests, type WriteLine } from "../calling/hub-requests.ts";

/** Maximum number of log lines of one call that are sent to its caller. */
const MAX_LOG_LINES = 200;

/** The caller, in the form that the bridge receives. */
export interface BridgeCaller {
  readonly signal: AbortSignal;
  readonly access: HubAccess;
  log(level: string, text: string): void;
  progress(progress: number, total: number | undefined, message: string | undefined): void;
}

/** An error of a registered function. `stack` is Python's traceback; `code` and `data` are those of the exception. */
class PythonError extends Error {
  override readonly name: string;
  readonly code?: number;
  readonly data?: unknown;

  constructor({ type, message, traceback, code, data }: JsonObject) {
    super(String(message));
    this.name = String(type);
    if (typeof traceback === "string") this.stack = traceback;
    if (typeof code === "number") this.code = code;
    if (data !== undefined) this.data = data;
  }
}

/** One running call of a module's function. */
export class BridgeCall {
  readonly answered: Promise<unknown>;
  /** True if the call was cancelled and its function has not ended yet. */
  isLost = false;
  readonly #caller: BridgeCaller;
  readonly #requests: HubRequests;
  #resolve: (value: unknown) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #lines = 0;

  constructor(caller: BridgeCaller, write: WriteLine) {
    this.#caller = caller;
    this.#requests = new HubRequests(caller.access, write);
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.answered.catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  request(message: JsonObject): void {
    this.#requests.take(message);
  }

  /** Handles a log line or a progress report. */
  hear({ log, level, progress, total, message }: JsonObject): void {
    if (typeof log === "string") this.#log(typeof level === "string" ? level : "info", log);
    else if (typeof progress === "number")
      this.#caller.progress(
        progress,
        typeof total === "number" ? total : undefined,
        typeof message === "string" ? message : undefined,
      );
  }

  answer({ result, error }: JsonObject): void {
    if (isJsonObject(error)) return this.#reject(new PythonError(error));
    const { bytes, value = null } = isJsonObject(result) ? result : {};
    this.#resolve(typeof bytes === "string" ? new Uint8Array(Buffer.from(bytes, "base64")) : value);
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  close(): void {
    this.#requests.close();
  }

  #log(level: string, text: string): void {
    this.#lines += 1;
    if (this.#lines <= MAX_LOG_LINES) this.#caller.log(level, text);
    else if (this.#lines === MAX_LOG_LINES + 1) this.#caller.log("warning", "Further log lines were left out.");
  }
}
