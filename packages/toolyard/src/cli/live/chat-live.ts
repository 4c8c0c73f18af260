import type { AgentEvent } from "../../agent/outcome.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import type { Io } from "../output/io.ts";
import { notificationText } from "../output/notification-text.ts";
import { progressOf } from "./call-view.ts";
import type { LiveLine } from "./line-text.ts";
import { isLive, showLive, type Live } from "./live.ts";

const THINKING = "model";

/** Shows what an answer is waiting for: the model, or tools with their progress. */
export class ChatLive {
  readonly #io: Io;
  readonly #running = new Map<string, LiveLine>();
  #live: Live | undefined;

  constructor(io: Io) {
    this.#io = io;
  }

  show(event: AgentEvent): void {
    if (event.type === "step") this.#begin(THINKING, { name: THINKING, state: "thinking" });
    else if (event.type === "outcome") this.#stop();
    else {
      this.#finish(THINKING);
      if (event.type === "call") this.#begin(event.id, { name: event.tool, state: "running" });
      else if (event.type === "result") this.#finish(event.id);
    }
  }

  /**
   * Applies a progress notification, which names only the tool. If several calls of the tool are running, it is shown
   * for the oldest.
   */
  notification(tool: string, notification: CallNotification): void {
    if (notification.method !== "notifications/progress") return;
    const found = [...this.#running].find(([, { name }]) => name === tool);
    if (!found) return;
    this.#running.set(found[0], { ...found[1], ...progressOf(notification) });
    if (isLive(this.#io)) this.#live?.refresh();
    else this.#io.stderr.write(`${notificationText(notification)}\n`);
  }

  #begin(id: string, line: LiveLine): void {
    this.#running.set(id, line);
    this.#live ??= showLive(this.#io, { read: () => [...this.#running.values()], plain: false });
  }

  #finish(id: string): void {
    this.#running.delete(id);
    if (this.#running.size === 0) this.#stop();
  }

  #stop(): void {
    this.#running.clear();
    this.#live?.end();
    this.#live = undefined;
  }
}
