import type { SandboxError } from "../engine.ts";
import { firstChars } from "../../core/text/truncate.ts";

const MAX_TYPE_CHARS = 200;
const MAX_MESSAGE_CHARS = 8000;
const MAX_LINES = 20;
const PLACE = /\b(code\.[jt]s):(\d+)(?::(\d+))?\)?$/u;

/** Data that distinguish lines of the code from lines of the wrapper. */
export interface ErrorOrigin {
  readonly code: string;
  /** Number of wrapper characters before the code in the first line; 0 if the code runs without a wrapper. */
  readonly wrapperChars: number;
}

/** Parses an error that the sandbox described as JSON. Its traceback keeps only the lines of the code. */
export function readGuestError(json: string, origin: ErrorOrigin): SandboxError {
  const { type, message, stack } = parse(json);
  const shortType = firstChars(type, MAX_TYPE_CHARS);
  const words = withAdvice(shortType, firstChars(message, MAX_MESSAGE_CHARS), origin.code);
  const count = origin.code.split("\n").length;
  const lines = stack.split("\n").flatMap((line) => toLine(line, origin.wrapperChars, count));
  return {
    type: shortType,
    message: words,
    traceback: [`${shortType}: ${words}`, ...lines.slice(0, MAX_LINES)].join("\n"),
  };
}

function parse(json: string): { readonly type: string; readonly message: string; readonly stack: string } {
  try {
    const { type, message, stack } = JSON.parse(json) as Record<string, unknown>;
    return { type: String(type), message: String(message), stack: String(stack) };
  } catch {
    return { type: "Error", message: "The thrown value cannot be shown.", stack: "" };
  }
}

function toLine(line: string, wrapperChars: number, count: number): string[] {
  const match = PLACE.exec(line.trimEnd());
  // Lines after the end of the code belong to the wrapper, so they are removed.
  if (!match || Number(match[2]) > count) return [];
  const [, file, row, column] = match;
  // In the first line, the column includes the characters of the wrapper. They are subtracted.
  const place =
    column === undefined
      ? `${file}:${row}`
      : `${file}:${row}:${row === "1" ? Math.max(1, Number(column) - wrapperChars) : column}`;
  const name = /^\s*at (.+?) \(/u.exec(line)?.[1];
  const isTop = name === undefined || name === "<eval>" || (name === "<anonymous>" && wrapperChars > 0);
  return [isTop ? `    at ${place}` : `    at ${firstChars(name, MAX_TYPE_CHARS)} (${place})`];
}

function withAdvice(type: string, message: string, code: string): string {
  if (type === "ReferenceError") {
    const name = /^'?([A-Za-z_$][\w$]*)'? is not defined/u.exec(message)?.[1];
    return name !== undefined && Object.hasOwn(ADVICE, name) ? `${message}. ${ADVICE[name]}` : message;
  }
  if (type !== "SyntaxError" || !MODULE_SYNTAX.test(code)) return message;
  return `${message}. Modules cannot be loaded here: write the code without \`import\` and \`export\`.`;
}

const NO_NETWORK = "There is no network here. Call a tool instead: tools.<source>.<name>({…}).";
const NO_NODE =
  "This is no Node.js: there is the language itself, files, inputs, URL, TextEncoder, crypto.randomUUID and timers.";
const NO_BROWSER = "This is no browser: there is no page.";
/** Advice for code that uses names of another environment. */
const ADVICE: Readonly<Record<string, string>> = {
  fetch: NO_NETWORK,
  XMLHttpRequest: NO_NETWORK,
  WebSocket: NO_NETWORK,
  axios: NO_NETWORK,
  process: NO_NODE,
  Buffer: `${NO_NODE} Bytes are Uint8Array; atob and btoa know base64.`,
  module: NO_NODE,
  __dirname: NO_NODE,
  __filename: NO_NODE,
  Deno: NO_NODE,
  Bun: NO_NODE,
  Intl: "There is no Intl here: write numbers with toFixed and dates with toISOString or getUTCDay.",
  document: NO_BROWSER,
  window: NO_BROWSER,
  localStorage: NO_BROWSER,
};

const MODULE_SYNTAX = /^[^\S\n\r\u2028\u2029]*(?:import\s*[\w{*"']|export\s)/mu;
