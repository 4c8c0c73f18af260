import { stringifyExact } from "../../core/json/exact-json.ts";
import type { AgentEvent, AgentOutcome } from "../../agent/outcome.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { colorsOf } from "./colors.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import type { Io } from "./io.ts";
import type { ChatCommandResult } from "../input/chat-commands.ts";
import { ChatLive } from "../live/chat-live.ts";
import { plainLine } from "./table.ts";
import { safeJson, safeToShow } from "../../core/text/hidden-text.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Prints events while the model answers. */
export interface ChatView {
  show(event: AgentEvent): void;
  /** Prints a notification of a running tool. */
  notification?(tool: string, notification: CallNotification): void;
  /** Prints the result of a command such as `/help`. */
  command(result: ChatCommandResult): void;
}

/** Prints each event as one line of JSON. */
export function jsonView({ stdout }: Pick<Io, "stdout">): ChatView {
  const line = (value: unknown): void => void stdout.write(`${safeJson(stringifyExact(value))}\n`);
  return {
    show: line,
    command: ({ command, text }) => {
      if (text !== "") line({ type: "command", command, text });
    },
  };
}

const MAX_SHOWN_CHARS = 160;

/** Prints the model's text on standard output as it arrives, and tool calls and failures on standard error. */
export function textView(io: Io): ChatView {
  const live = new ChatLive(io);
  const lines = new ChatLines(io);
  return {
    notification: (tool, notification) => live.notification(tool, notification),
    command: ({ text }) => {
      if (text !== "") io.stderr.write(`${text}\n`);
    },
    show: (event) => {
      live.show(event);
      lines.show(event);
    },
  };
}

type Result = Extract<AgentEvent, { type: "result" }>;

/** Prints the lines of an answer that stay on the terminal. */
class ChatLines {
  readonly #io: Io;
  readonly #words: ChatText;
  #begunAt = performance.now();

  constructor(io: Io) {
    this.#io = io;
    this.#words = new ChatText(io);
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case "step":
        if (event.step === 1) this.#begunAt = performance.now();
        return this.#words.beginStep();
      case "text":
        return this.#words.add(event.text);
      case "call":
        return this.#note(`→ ${plainLine(event.tool)} ${inShort(event.arguments)}`);
      case "result":
        return this.#showResult(event);
      case "outcome":
        return this.#showOutcome(event.outcome);
      case "reasoning":
      // The model's reasoning is not printed.
    }
  }

  #showResult({ tool, ok, kind = "tool_error", value, durationMs }: Result): void {
    const [name, took] = [plainLine(tool), formatDuration(durationMs)];
    if (ok) this.#note(`← ${name} in ${took}: ${inShort(value)}`);
    else this.#note(`← ${name} failed after ${took} (${kind}): ${inShort(value)}`, "red");
  }

  #showOutcome(outcome: AgentOutcome): void {
    if (isAnswer(outcome)) this.#words.finish(outcome.text);
    else this.#note(`${outcome.stopReason}: ${plainLine(outcome.error?.message ?? outcome.text)}`, "red");
    if (outcome.usage.totalTokens > 0) this.#note(usageText(outcome, performance.now() - this.#begunAt));
  }

  #note(line: string, paint: "dim" | "red" = "dim"): void {
    this.#words.endLine();
    this.#io.stderr.write(`${colorsOf(this.#io)[paint](line)}\n`);
  }
}

function usageText({ usage: { inputTokens, outputTokens } }: AgentOutcome, tookMs: number): string {
  const counted = (count: number): string => count.toLocaleString("en");
  return `${counted(inputTokens)} tokens read, ${counted(outputTokens)} written, ${formatDuration(Math.round(tookMs))}`;
}

export function isAnswer({ stopReason }: AgentOutcome): boolean {
  return stopReason === "final" || stopReason === "clarify";
}

/** Prints the model's text on standard output, with unrelated pieces on separate lines. */
class ChatText {
  readonly #io: Pick<Io, "stdout">;
  #said = "";
  #isLineOpen = false;

  constructor(io: Pick<Io, "stdout">) {
    this.#io = io;
  }

  beginStep(): void {
    this.endLine();
    this.#said = "";
  }

  add(text: string): void {
    const visible = safeToShow(text);
    if (visible === "") return;
    this.#said += visible;
    this.#isLineOpen = !visible.endsWith("\n");
    this.#io.stdout.write(visible);
  }

  /** Prints the answer, unless it was streamed, and ends the line. */
  finish(text: string): void {
    if (this.#said.trim() === "") this.add(text);
    this.endLine();
    this.#said = "";
  }

  endLine(): void {
    if (this.#isLineOpen) this.#io.stdout.write("\n");
    this.#isLineOpen = false;
  }
}

function inShort(value: unknown): string {
  const text = plainLine(typeof value === "string" ? value : (stringifyExact(value) ?? ""));
  return text.length > MAX_SHOWN_CHARS ? `${firstChars(text, MAX_SHOWN_CHARS - 1)}…` : text;
}
