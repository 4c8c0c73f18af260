import type { SandboxError } from "../engine.ts";

const MAX_TYPE_CHARS = 200;
const MAX_MESSAGE_CHARS = 8000;
const MAX_LINES = 20;
const PLACE = /\b(code\.[jt]s):(\d+)(?::(\d+))?\)?$/u;

/** The error that the inside described as JSON, with the lines of the code in its traceback and no others. */
export function readGuestError(json: string, shift: { readonly chars: number } = { chars: 0 }): SandboxError {
  const { type, message, stack } = parse(json);
  const shortType = type.slice(0, MAX_TYPE_CHARS);
  const words = withAdvice(shortType, message.slice(0, MAX_MESSAGE_CHARS));
  const lines = stack.split("\n").flatMap((line) => toLine(line, shift.chars));
  return { type: shortType, message: words, traceback: [`${shortType}: ${words}`, ...lines.slice(0, MAX_LINES)].join("\n") };
}

function parse(json: string): { readonly type: string; readonly message: string; readonly stack: string } {
  try {
    const { type, message, stack } = JSON.parse(json) as Record<string, unknown>;
    return { type: String(type), message: String(message), stack: String(stack) };
  } catch {
    return { type: "Error", message: "What was thrown cannot be shown.", stack: "" };
  }
}

function toLine(line: string, shiftChars: number): string[] {
  const match = PLACE.exec(line.trimEnd());
  if (!match) return [];
  const [, file, row, column] = match;
  // The wrapper stands in the first line only.
  const place = column === undefined ? `${file}:${row}` : `${file}:${row}:${row === "1" ? Math.max(1, Number(column) - shiftChars) : column}`;
  const name = /^\s*at (.+?) \(/u.exec(line)?.[1];
  return [name === undefined || name === "<eval>" ? `    at ${place}` : `    at ${name.slice(0, MAX_TYPE_CHARS)} (${place})`];
}

function withAdvice(type: string, message: string): string {
  if (type === "SyntaxError" && /import|export/iu.test(message)) return `${message}. Modules cannot be loaded here: write the code without \`import\` and \`export\`.`;
  return message;
}
