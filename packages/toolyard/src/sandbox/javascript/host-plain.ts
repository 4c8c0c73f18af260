import { randomBytes, randomUUID } from "node:crypto";
import { decodeBytes } from "../../core/text/decode-bytes.ts";
import { toGuestJson } from "./guest-mark.ts";
import type { HostOperation } from "./guest/host.ts";
import type { JobFiles } from "./job-files.ts";
import { HostRefusal } from "./refusal.ts";
import { firstChars } from "../../core/text/truncate.ts";

const MAX_RANDOM_BYTES = 65_536;
const MAX_URL_CHARS = 65_536;
const ENCODINGS: ReadonlySet<string> = new Set([
  "utf-8",
  "utf8",
  "unicode-1-1-utf-8",
  "utf-16le",
  "utf-16",
  "latin1",
  "iso-8859-1",
  "windows-1252",
  "ascii",
  "us-ascii",
]);
const URL_PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

/** Answers a request that needs no state of the run. Throws a `HostRefusal`. */
export function answerPlain(
  operation: HostOperation,
  [first, second]: readonly [first: string, second: string | Uint8Array],
  files: JobFiles,
): string | Uint8Array | undefined {
  switch (operation) {
    case "random":
      return randomBytes(Math.min(MAX_RANDOM_BYTES, Math.max(0, Math.trunc(Number(first)) || 0)));
    case "uuid":
      return randomUUID();
    case "encode":
      return Buffer.from(first);
    case "decode":
      return decode(first, toBytes(second));
    case "url":
      return readUrl(first);
    default:
      return answerFile(operation, [first, second], files);
  }
}

function answerFile(
  operation: HostOperation,
  [path, data]: readonly [path: string, data: string | Uint8Array],
  files: JobFiles,
): string | Uint8Array | undefined {
  switch (operation) {
    case "file.text":
      return Buffer.from(files.read(path)).toString("utf8");
    case "file.json":
      return toGuestJson(Buffer.from(files.read(path)).toString("utf8"));
    case "file.bytes":
      return files.read(path);
    case "file.put":
      return void files.write(path, toBytes(data));
    case "file.list":
      return JSON.stringify(files.list());
    case "file.remove":
      return void files.remove(path);
    default:
      throw new HostRefusal("The host has no such operation.");
  }
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? Buffer.from(data) : data;
}

function decode(settings: string, bytes: Uint8Array): string {
  const [encoding = "", fatal] = settings.split("\n");
  if (!ENCODINGS.has(encoding)) throw new HostRefusal(`The encoding "${firstChars(encoding, 40)}" is not known here.`);
  try {
    return decodeBytes(encoding, bytes, { fatal: fatal === "1" });
  } catch {
    throw new HostRefusal("The bytes are not text of this encoding.");
  }
}

/** Parses `[url]`, `[url, base]` or `[url, "", part, value]`; returns "" if the URL is invalid. */
function readUrl(request: string): string {
  if (request.length > MAX_URL_CHARS) throw new HostRefusal(`An address may have ${MAX_URL_CHARS} characters.`);
  const [url = "", base, part, value = ""] = JSON.parse(request) as readonly string[];
  try {
    const parsed = base === undefined || base === "" ? new URL(url) : new URL(url, base);
    const known = URL_PARTS.find((name) => name === part);
    if (known !== undefined && known !== "origin") parsed[known] = value;
    return JSON.stringify(Object.fromEntries(URL_PARTS.map((name) => [name, parsed[name]])));
  } catch {
    return "";
  }
}
