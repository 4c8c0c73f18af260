import type { Random } from "../support/random.ts";

/** Bytes that a server writes for one request, and the body that the caller may receive. */
export interface Answer {
  readonly name: string;
  /** Pieces in which the server writes the answer. */
  readonly pieces: readonly string[];
  /** True if the server closes the connection afterwards. */
  readonly ends: boolean;
  /** Body of the answer; absent if the request must fail. */
  readonly body?: string;
}

const INTERIM = "HTTP/1.1 102 Processing\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\n";

const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const ENCODINGS = ["gzip, chunked", "chunked, identity", "identity", "chunked;q=1", "\x0bchunked", "chun ked"];
const VERSIONS = ["HTTP/1.10", "HTTP/01.1", "http/1.1", "HTTP/3", "HTTP/1,1", "HTTP /1.1", "ICY", "\xefHTTP/1.1"];
const LINE_ENDS = ["\n", "\r", "\n\r", "\r\r\n", "\0\r\n", "\r\n\x0b", "\r\n "];

/** Returns a valid answer in one of its possible encodings. */
export function goodAnswer(random: Random, body: string): Answer {
  const [name, make] = random.pick(Object.entries(WAYS));
  const { text, ends = false } = make(random, body);
  return { name, pieces: cut(random, text), ends, body };
}

/** Returns an answer that breaks a rule or is truncated. The caller may receive only data from before the fault. */
export function brokenAnswer(random: Random, body: string): Answer {
  const [name, make] = random.pick(Object.entries(FAULTS));
  const { text, ends = false } = make(random, body);
  return { name, pieces: cut(random, text), ends };
}

/** Returns a valid answer followed by bytes that look like the answer to the next request. */
export function splitAnswer(random: Random, body: string): Answer {
  const { text } = WAYS["a length"]!(random, body);
  const behind = WAYS["a length"]!(random, POISON).text;
  return { name: "two answers in one write", pieces: [text + behind], ends: false, body };
}

/** Text that belongs to no request. */
export const POISON = "poison";

interface AttackText {
  readonly text: string;
  readonly ends?: boolean;
}

type Way = (random: Random, body: string) => AttackText;

const WAYS: Readonly<Record<string, Way>> = {
  "a length": (_, body) => ({ text: `${OK}Content-Length: ${body.length}\r\n\r\n${body}` }),
  chunks: (random, body) => ({ text: `${OK}Transfer-Encoding: chunked\r\n\r\n${chunks(random, body)}0\r\n\r\n` }),
  "chunks with extensions and trailers": (random, body) => ({
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n${chunks(random, body, ";a=b")}0;z\r\nX-Sum: 1\r\n\r\n`,
  }),
  "chunks of a byte": (random, body) => ({
    text: `${CHUNKED}${Array.from(body, (one) => `${random.pick(["1", "01", "1;"])}\r\n${one}\r\n`).join("")}0\r\n\r\n`,
  }),
  "the end of the connection": (_, body) => ({ text: `${OK}\r\n${body}`, ends: true }),
  "a length, then the end": (_, body) => ({
    text: `${OK}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ends: true,
  }),
  "interim answers": (random, body) => ({
    text: `${INTERIM.repeat(random.below(4))}${OK}Content-Length: ${body.length}\r\n\r\n${body}`,
  }),
  "many fields": (random, body) => ({
    text: `${OK}${"X-Filler: y\r\n".repeat(random.below(400))}Content-Length: ${body.length}\r\n\r\n${body}`,
  }),
};

const FAULTS: Readonly<Record<string, Way>> = {
  "two lengths": (_, body) => ({ text: `${OK}Content-Length: ${body.length}\r\nContent-Length: 1\r\n\r\n${body}` }),
  "a length and chunks": (random, body) => ({
    text: `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(random, body)}0\r\n\r\n`,
  }),
  "chunks that are longer than their sizes": (_, body) => ({
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n${(body.length - 1).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  }),
  "a folded line": (_, body) => ({ text: `${OK}A: b\r\n c\r\nContent-Length: ${body.length}\r\n\r\n${body}` }),
  "bare line feeds": (_, body) => ({ text: `HTTP/1.1 200 OK\nContent-Length: ${body.length}\n\n${body}` }),
  "a body that breaks off": (_, body) => ({
    text: `${OK}Content-Length: ${body.length + 1}\r\n\r\n${body}`,
    ends: true,
  }),
  "chunks that break off": (random, body) => ({
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n${chunks(random, body)}`,
    ends: true,
  }),
  "a head that breaks off": () => ({ text: `${OK}Content-Le`, ends: true }),
  "nothing at all": () => ({ text: "", ends: true }),
  "no HTTP": (_, body) => ({ text: `220 mail.test ESMTP ${body}\r\n\r\n` }),
  "a head without an end": () => ({ text: `${OK}${"A: b\r\n".repeat(12_000)}` }),
  "one line without an end": () => ({ text: `${OK}A: ${"b".repeat(70_000)}` }),
  "a flood of interim answers": () => ({ text: "HTTP/1.1 100 Continue\r\n\r\n".repeat(500) }),
  "a size without an end": () => ({ text: `${OK}Transfer-Encoding: chunked\r\n\r\n${"0".repeat(5000)}` }),
  "extensions without an end": () => ({
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n${`1;${"x".repeat(900)}\r\n!\r\n`.repeat(30)}`,
  }),
  "trailers without an end": () => ({
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${"A: b\r\n".repeat(3000)}`,
  }),
  "an interim answer with a body": (random, body) => {
    const claim = random.pick([`Content-Length: ${body.length}`, "Transfer-Encoding: chunked"]);
    return { text: `HTTP/1.1 103 Early\r\n${claim}\r\n\r\n${WAYS["a length"]!(random, body).text}` };
  },
  "a chunk size that overflows": (_, body) => ({
    text: `${CHUNKED}1${body.length.toString(16).padStart(16, "0")}\r\n${body}\r\n0\r\n\r\n`,
  }),
  "another encoding": (random, body) => ({
    text: `${OK}Transfer-Encoding: ${random.pick(ENCODINGS)}\r\n\r\n${chunks(random, body)}0\r\n\r\n`,
  }),
  "another length": (random, body) => {
    const length = random.pick(["-", "+", "", "0x", "0b", "1_"]) + body.length + random.pick([",", ".0", "e0", "\xb2"]);
    return { text: `${OK}Content-Length: ${length}\r\n\r\n${body}` };
  },
  "another version": (random, body) => ({
    text: `${random.pick(VERSIONS)} 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  }),
  "another end of a line": (random, body) => ({
    text: `${OK}A: b${random.pick(LINE_ENDS)}Content-Length: ${body.length}\r\n\r\n${body}`,
  }),
  "another protocol": () => ({ text: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n" }),
  noise: (random) => ({
    text: Array.from({ length: 1 + random.below(2000) }, () => String.fromCharCode(random.below(256))).join("") + "\n",
  }),
};

function chunks(random: Random, body: string, extension = ""): string {
  let text = "";
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(body.length - at);
    text += `${size.toString(16)}${extension}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return text;
}

/** Splits a text: in one piece, in several, or byte by byte if it is short. */
function cut(random: Random, text: string): string[] {
  const way = random.below(3);
  if (way === 0 || text === "") return [text];
  if (way === 1 && text.length < 300) return text.split("");
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const size = 1 + random.below(text.length - at);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}
