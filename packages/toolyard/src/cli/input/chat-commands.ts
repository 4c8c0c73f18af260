import { safeToShow } from "../../core/text/hidden-text.ts";
import { nearest } from "../../core/text/suggest.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { table } from "../output/table.ts";
import type { Io } from "../output/io.ts";

/** Objects that a chat command uses. */
export interface ChatCommandContext {
  readonly toolyard: Pick<Toolyard, "list" | "search">;
  readonly io: Pick<Io, "width" | "color">;
  /** Clears the conversation's history. */
  clear(): void;
}

/** Text to show, and whether the chat ends. */
export interface ChatCommandResult {
  readonly command: string;
  readonly text: string;
  readonly ends: boolean;
}

interface ChatCommand {
  readonly usage: string;
  readonly summary: string;
  readonly ends?: boolean;
  run(context: ChatCommandContext, words: string): Promise<string> | string;
}

const MAX_HITS = 20;
/** Maximum number of description lines on a terminal. */
const DESCRIPTION_LINES = 2;

const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  "/help": { usage: "/help", summary: "shows the commands", run: () => helpText() },
  "/tools": {
    usage: "/tools [words]",
    summary: "lists the tools of the hub, or those that match the words",
    run: toolsText,
  },
  "/clear": {
    usage: "/clear",
    summary: "forgets the conversation",
    run: ({ clear }) => {
      clear();
      return "";
    },
  },
  "/exit": { usage: "/exit", summary: "ends the chat, like Ctrl+D", ends: true, run: () => "" },
};
const ALIASES: Readonly<Record<string, string>> = {
  "/?": "/help",
  "/quit": "/exit",
  "/bye": "/exit",
  "/new": "/clear",
};

/**
 * Runs a line that begins with a slash, and returns the text to show. A line with an unknown command is not sent as a
 * question. Returns `undefined` for a question to the model: any other line, or one that begins with a path.
 */
export async function runChatCommand(
  line: string,
  context: ChatCommandContext,
): Promise<ChatCommandResult | undefined> {
  const [word = "", ...rest] = line.trimEnd().split(/\s/);
  if (!/^\/[^/.]*$/.test(word)) return undefined;
  const words = rest.join(" ").trim();
  const name = ALIASES[word.toLowerCase()] ?? word.toLowerCase();
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) return { command: word, text: unknownText(safeToShow(word)), ends: false };
  return { command: name, text: await command.run(context, words), ends: command.ends === true };
}

function helpText(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
  return [
    ...Object.values(COMMANDS).map(({ usage, summary }) => `${usage.padEnd(width)}  ${summary}`),
    "Any other line is a question to the model. A line that begins with a blank is one, too.",
  ].join("\n");
}

function unknownText(word: string): string {
  const [near] = nearest(word, Object.keys(COMMANDS), 1);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return `Unknown command ${word}.${hint} /help shows the commands. It was not sent to the model.`;
}

async function toolsText({ toolyard, io }: ChatCommandContext, words: string): Promise<string> {
  const found = words === "" ? await toolyard.list() : (await toolyard.search(words, MAX_HITS)).hits;
  const rows = found.map(({ name, description }) => [String(name), String(description ?? "")]);
  if (rows.length > 0) return table(["tool", "description"], rows, { ...io, maxLines: DESCRIPTION_LINES });
  return words === ""
    ? "The hub has no tools. `toolyard check` shows why."
    : `No tool matches ${JSON.stringify(words)}.`;
}
