import type { ModelMessage } from "./messages.ts";

/** The conversation so far, in complete turns: a question, the calls with their results, and an answer. */
export class History {
  readonly #maxMessages: number;
  #messages: readonly ModelMessage[] = [];

  constructor(maxMessages: number) {
    this.#maxMessages = maxMessages;
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Adds one turn. Above the limit, the oldest turns are removed; the newest turn is always kept whole. */
  add(turn: readonly ModelMessage[]): void {
    this.#messages = trimmed([...this.#messages, ...turn], this.#maxMessages, turn.length);
  }

  replace(messages: readonly ModelMessage[]): void {
    this.#messages = trimmed(messages, this.#maxMessages, 0);
  }
}

// All vendors refuse a result without its call, so the history must start with a question of the user.
function trimmed(messages: readonly ModelMessage[], maxMessages: number, newest: number): readonly ModelMessage[] {
  if (messages.length <= maxMessages) return messages;
  const latest = messages.length - newest;
  const from = messages.findIndex(
    ({ role }, index) => messages.length - index <= maxMessages && role === "user" && isTurnStart(messages, index),
  );
  return messages.slice(from === -1 ? latest : Math.min(from, latest));
}

function isTurnStart(messages: readonly ModelMessage[], index: number): boolean {
  const before = messages[index - 1];
  return (
    before === undefined ||
    (before.role === "assistant" &&
      (typeof before.content === "string" || before.content.every(({ type }) => type !== "tool-call")))
  );
}
