import type { CallNotification } from "../../core/calls/call.ts";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import type { Io } from "../output/io.ts";
import { notificationText } from "../output/notification-text.ts";
import type { LiveLine } from "./line-text.ts";
import { sourceLine } from "./sources.ts";
import { isLive, showLive, type Live } from "./live.ts";

/**
 * Shows a running call. On a terminal: one line with its time and progress, and one line for each source that it waits
 * for. Without a terminal: one line per notification. With `--json`: nothing unless `--verbose` is set.
 */
export class CallView {
  readonly #io: Io;
  readonly #name: string;
  readonly #live: Live;
  readonly #isQuiet: boolean;
  readonly #isTerminal: boolean;
  #progress: Pick<LiveLine, "done" | "total" | "note"> = {};
  #hub: { sources(): readonly SourceReport[] } | undefined;

  constructor(io: Io, name: string, { json = false, verbose = false }: SharedOptions) {
    this.#io = io;
    this.#name = name;
    this.#isQuiet = json && !verbose;
    this.#isTerminal = isLive(io);
    this.#live = showLive(io, { read: () => this.#lines(), json, plain: false });
  }

  /** Sets the hub whose sources the call waits for. */
  watch(hub: { sources(): readonly SourceReport[] } | undefined): void {
    this.#hub = hub;
  }

  notification(notification: CallNotification): void {
    if (notification.method === "notifications/progress" && this.#isTerminal) {
      this.#progress = progressOf(notification);
      return this.#live.refresh();
    }
    if (!this.#isQuiet) this.#io.stderr.write(`${notificationText(notification)}\n`);
  }

  end(): void {
    this.#hub = undefined;
    this.#live.end();
  }

  #lines(): readonly LiveLine[] {
    const starting = (this.#hub?.sources() ?? []).filter(({ status }) => status.state === "starting");
    return [...starting.flatMap(sourceLine), { name: this.#name, state: "running", ...this.#progress }];
  }
}

export function progressOf({ params }: CallNotification): Pick<LiveLine, "done" | "total" | "note"> {
  const { progress, total, message } = params;
  return {
    ...(typeof progress === "number" && { done: progress }),
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { note: message }),
  };
}
