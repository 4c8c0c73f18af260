import { signal } from "@preact/signals";
import type { JsonValues } from "../../../src/features/console/api-types.ts";
import type { AgentAnswer, ChatCall, ChatCallResult, ChatMessage } from "../../../src/features/console/work-types.ts";
import { ApiError, errorOf, keyHeaders, readEvents, request } from "../api.ts";

/** One call of a tool, with its result once it has one. */
export interface CallEntry extends ChatCall {
  readonly result?: ChatCallResult;
}

/** A part of an answer, in the order in which the parts arrived. */
export type AnswerPart =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly call: CallEntry };

export interface ChatTurn {
  readonly question: string;
  readonly parts: readonly AnswerPart[];
  readonly isRunning: boolean;
  readonly stopReason?: string;
  readonly usage?: AgentAnswer["usage"];
  readonly error?: ApiError;
}

interface Conversation {
  readonly turns: readonly ChatTurn[];
  readonly history: readonly JsonValues[];
}

const EMPTY: Conversation = { turns: [], history: [] };

/** The conversation of this page. It is kept while the user looks at other views. */
export const conversation = signal<Conversation>(EMPTY);
let running: AbortController | undefined;

export function clearConversation(): void {
  running?.abort();
  conversation.value = EMPTY;
}

export function stopAnswer(): void {
  running?.abort();
}

/** Sends a message, and adds the parts of the answer as they arrive. Never rejects. */
export async function sendMessage(message: string): Promise<void> {
  const own = (running = new AbortController());
  const { history } = conversation.value;
  const turns = [...conversation.value.turns, { question: message, parts: [], isRunning: true }];
  conversation.value = { ...conversation.value, turns };
  try {
    const { history: next, ...reply } = await readReply({ message, history }, own.signal);
    if (running !== own) return;
    changeLast((turn) => ({
      ...turn,
      parts: turn.parts.length === 0 ? [{ type: "text", text: reply.text }] : turn.parts,
      isRunning: false,
      stopReason: reply.stopReason,
      usage: reply.usage,
      ...(reply.error && { error: new ApiError(0, { kind: "model", message: reply.error.message }) }),
    }));
    conversation.value = { ...conversation.value, history: next };
  } catch (failure) {
    if (running !== own || conversation.value.turns.length === 0) return;
    endEarly(message, own.signal.aborted ? undefined : failure);
  }
}

/** Ends a turn without a reply. What the model has said so far stays in the history. */
function endEarly(message: string, failure: unknown): void {
  const error = failure instanceof ApiError ? failure : undefined;
  changeLast((turn) => ({ ...turn, isRunning: false, stopReason: "cancelled", ...(error && { error }) }));
  if (error) return;
  const { turns, history } = conversation.value;
  const said = textOf(turns.at(-1)!);
  const added = [
    { role: "user", content: message },
    { role: "assistant", content: said === "" ? "(stopped)" : said },
  ];
  conversation.value = { turns, history: [...history, ...added] };
}

async function readReply(body: ChatMessage, signal: AbortSignal): Promise<AgentAnswer> {
  const response = await request("chat", {
    method: "POST",
    body: JSON.stringify(body),
    signal,
    headers: { ...keyHeaders(), "content-type": "application/json", accept: "text/event-stream, application/json" },
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream"))
    throw errorOf(response.status, await response.json().catch(() => undefined));
  for await (const { event, data } of readEvents(response)) {
    if (event === "reply") return data as AgentAnswer;
    if (event === "error") throw errorOf(response.status, data);
    changeLast((turn) => ({ ...turn, parts: withEvent(turn.parts, event, data) }));
  }
  throw errorOf(0, { error: { kind: "unavailable", message: "The hub ended the connection." } });
}

function withEvent(parts: readonly AnswerPart[], event: string, data: unknown): readonly AnswerPart[] {
  if (event === "text" || event === "reasoning") {
    const { text } = data as { readonly text: string };
    const last = parts.at(-1);
    if (last?.type !== event) return [...parts, { type: event, text }];
    return [...parts.slice(0, -1), { type: event, text: last.text + text }];
  }
  if (event === "call") return [...parts, { type: "call", call: data as ChatCall }];
  if (event !== "result") return parts;
  const result = data as ChatCallResult;
  return parts.map((part) =>
    part.type === "call" && part.call.id === result.id ? { ...part, call: { ...part.call, result } } : part,
  );
}

function changeLast(change: (turn: ChatTurn) => ChatTurn): void {
  const { turns } = conversation.value;
  const last = turns.at(-1);
  if (last) conversation.value = { ...conversation.value, turns: [...turns.slice(0, -1), change(last)] };
}

function textOf({ parts }: ChatTurn): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Returns the conversation as Markdown, with the calls of tools as code. */
export function asMarkdown(turns: readonly ChatTurn[]): string {
  return turns
    .map(({ question, parts }) => [`## ${question.replaceAll(/\s+/g, " ")}`, ...parts.map(partMarkdown)].join("\n\n"))
    .join("\n\n");
}

function partMarkdown(part: AnswerPart): string {
  if (part.type !== "call") return part.type === "text" ? part.text : part.text.replaceAll(/^/gm, "> ");
  const { tool, arguments: args, result } = part.call;
  return `\`${tool}\`\n\n${fenced({ arguments: args, ...(result && { result: result.value }) })}`;
}

/** Returns a value in a fence that is longer than each fence in the value. */
function fenced(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}
