import type { AgentEvent, AgentOutcome } from "../agent/outcome.ts";
import { formatDuration } from "../core/duration.ts";
import { colorsOf } from "./colors.ts";
import type { Notice } from "../core/call.ts";
import type { Io } from "./io.ts";
import { ChatLive } from "./live/chat-live.ts";
import { plainLine } from "./table.ts";
import { safeJson, safeToShow } from "../core/hidden-text.ts";

/** Prints what happens while an answer is made. */
export interface ChatView {
  show(event: AgentEvent): void;
  /** What a running tool says on its way. */
  notice?(tool: string, notice: Notice): void;
}

/** Each event is one line of JSON. */
export function jsonView({ stdout }: Pick<Io, "stdout">): ChatView {
  return { show: (event) => void stdout.write(`${safeJson(JSON.stringify(event))}\n`) };
}

const MAX_SHOWN_CHARS = 160;

/** Words of the model on standard output as they come; tool calls, and why there is no answer, on standard error. */
export function textView(io: Io): ChatView {
  const { dim, red } = colorsOf(io);
  const words = new Words(io);
  const live = new ChatLive(io);
  const begunAt = { answer: performance.now() };
  const note = (line: string): void => {
    words.endLine();
    io.stderr.write(`${line}\n`);
  };
  return {
    notice: (tool, notice) => live.notice(tool, notice),
    // oxlint-disable-next-line complexity -- One line an event.
    show: (event) => {
      live.show(event);
      if (event.type === "step" && event.step === 1) begunAt.answer = performance.now();
      if (event.type === "step") words.beginStep();
      else if (event.type === "text") words.add(event.text);
      else if (event.type === "call") note(dim(`→ ${plainLine(event.tool)} ${inShort(event.arguments)}`));
      else if (event.type === "result") {
        const took = formatDuration(event.durationMs);
        if (event.ok) note(dim(`← ${plainLine(event.tool)} in ${took}: ${inShort(event.value)}`));
        else
          note(
            red(
              `← ${plainLine(event.tool)} failed after ${took} (${event.kind ?? "tool_error"}): ` +
                `${inShort(event.value)}`,
            ),
          );
      } else if (event.type === "outcome") {
        const { outcome } = event;
        if (isAnswer(outcome)) words.finish(outcome.text);
        else note(red(`${outcome.stopReason}: ${plainLine(outcome.error?.message ?? outcome.text)}`));
        if (outcome.usage.totalTokens > 0) note(dim(usageText(outcome, performance.now() - begunAt.answer)));
      }
    },
  };
}

function usageText({ usage: { inputTokens, outputTokens } }: AgentOutcome, tookMs: number): string {
  const counted = (count: number): string => count.toLocaleString("en");
  return `${counted(inputTokens)} tokens read, ${counted(outputTokens)} written, ${formatDuration(Math.round(tookMs))}`;
}

export function isAnswer({ stopReason }: AgentOutcome): boolean {
  return stopReason === "final" || stopReason === "clarify";
}

/** What the model says, on standard output: never two pieces on one line that do not belong together. */
class Words {
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

  /** An answer that did not come in pieces is printed whole. */
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
  const text = plainLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS - 1)}…` : text;
}
