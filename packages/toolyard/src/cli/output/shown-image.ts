import type { Io } from "./io.ts";
import type { Medium } from "./saved-media.ts";

const ESCAPE = "\u001b";
const BELL = "\u0007";
/** Size of one chunk of base64 in kitty's protocol. */
const KITTY_CHUNK = 4096;
/** Maximum size of an image in bytes. A larger image would block the terminal for seconds. */
const MAX_BYTES = 8 * 1024 ** 2;

type ImageProtocol = "kitty" | "iterm2";

const BY_TERM: Readonly<Partial<Record<string, ImageProtocol>>> = { "xterm-kitty": "kitty", "xterm-ghostty": "kitty" };
const BY_PROGRAM: Readonly<Partial<Record<string, ImageProtocol>>> = {
  ghostty: "kitty",
  "iTerm.app": "iterm2",
  WezTerm: "iterm2",
};

/** Returns the image protocol of this terminal, or `undefined` if it has none or a program reads its output. */
export function imageProtocol({ env, stdout }: Pick<Io, "env" | "stdout">): ImageProtocol | undefined {
  if (stdout.isTTY !== true || env["TERM"] === "dumb") return undefined;
  // A multiplexer does not pass images to the terminal.
  if (env["TMUX"] || /^(?:screen|tmux)/.test(env["TERM"] ?? "")) return undefined;
  if (env["KITTY_WINDOW_ID"]) return "kitty";
  return BY_TERM[env["TERM"] ?? ""] ?? BY_PROGRAM[env["TERM_PROGRAM"] ?? ""];
}

/** Returns the escape sequence that draws an image, or `undefined` if the terminal cannot draw it. */
export function imageText({ bytes, mimeType }: Medium, protocol: ImageProtocol): string | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength > MAX_BYTES) return undefined;
  const data = Buffer.from(bytes).toString("base64");
  if (protocol === "iterm2") {
    if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) return undefined;
    return `${ESCAPE}]1337;File=inline=1;size=${bytes.byteLength}:${data}${BELL}\n`;
  }
  return mimeType === "image/png" ? kittyText(data) : undefined;
}

function kittyText(data: string): string {
  const pieces = data.match(new RegExp(`.{1,${KITTY_CHUNK}}`, "g")) ?? [];
  const isLast = (at: number): boolean => at === pieces.length - 1;
  return `${pieces
    .map((piece, at) => `${ESCAPE}_G${at === 0 ? "a=T,f=100," : ""}m=${isLast(at) ? 0 : 1};${piece}${ESCAPE}\\`)
    .join("")}\n`;
}
