// Spellings of file URIs from a seed, and the files that different parsers would open for them.
import { posix } from "node:path";
import type { Random } from "../support/random.ts";

export const ALLOWED = ["file:///a/public/*"];
export const DENIED = ["file:///a/vault/*"];
export const isPublic = (path: string): boolean => path.startsWith("/a/public/");
export const isSecret = (path: string): boolean => path.startsWith("/a/vault/");

/** Spellings that a caller with these rights must not read. */
export const HOSTILE = [
  ...["\t", "\n", "\r"].map((blank) => `file:///a/public/.${blank}./vault/gold.txt`),
  "file:///a/public/.%2\te/vault/gold.txt",
  "file:///a/public/../vault/gold.txt?/../../public/x",
  "file:///a/public/../vault/gold.txt#/../../public/x",
  "file:///a/va\tult/gold.txt",
  "file:///a/v%61ult/gold.txt?/../../public/x",
  "file:a/vault/gold.txt",
  "file:/a/vault/gold.txt",
  "file://127.0.0.1/a/vault/gold.txt",
  "FILE:///a/vault/gold.txt",
  "file:///a/public/．．/vault/gold.txt",
  "file:///a/public/%252e%252e/vault/gold.txt",
  "file:///a/public/..%5cvault%5cgold.txt",
  "file:///a/public/..;/vault/gold.txt",
  "file:///a/public/%2e.;a=b/vault/gold.txt",
  "file:///a/public/sub/.;x/..;y/..%3bz/vault/gold.txt",
  "files+file:///a/public/%2e%2e/vault/gold.txt",
  "files+file:///a/vault/gold.txt",
];

const PLACES = [
  "/a/vault/gold.txt",
  "/a/public/news.txt",
  "/a/public/../vault/gold.txt",
  "/a/public/sub/../../vault/gold.txt",
  "/a/vault/../public/news.txt",
  "/a/public/sub/deep.txt",
  "/a/public",
  "/a/vault",
  "/a/other/x",
];

type Change = (uri: string, random: Random) => string;

const CHANGES: readonly Change[] = [
  (uri, random) => insert(uri, random, random.pick(["\t", "\n", "\r", " ", "\u0000", "\u200b"])),
  (uri, random) => replaceOne(uri, random, /[a-z./]/g, escaped),
  (uri, random) => replaceOne(uri, random, /[a-z./]/g, (text) => escaped(escaped(text))),
  (uri, random) => replaceOne(uri, random, /%/g, () => "%25"),
  (uri, random) => replaceOne(uri, random, /\//g, () => random.pick(["\\", "%2f", "%5c", "//", "/./", "/x/../"])),
  (uri, random) => replaceOne(uri, random, /\./g, () => random.pick(["%2e", "%2E", "．", "\t.", "%252e"])),
  (uri, random) => replaceOne(uri, random, /[a-z]/g, (text) => String.fromCodePoint(text.codePointAt(0)! + 0xfee0)),
  (uri, random) => replaceOne(uri, random, /[a-z]/g, (text) => text.toUpperCase()),
  (uri, random) => `${uri}${random.pick(["?", "#", "%3f", "%23", "%253f"])}/../../public/news.txt`,
  (uri, random) =>
    uri.replace("file:///", random.pick(["file:/", "file:", "FILE:///", "file://localhost/", "file:////"])),
  (uri, random) =>
    uri.replace("file:///", random.pick(["file://127.0.0.1/", "file://[::1]/", "file:\\\\\\", "files+file:///"])),
  (uri) => uri.replace("/public", "/public/%2e%2e/public"),
  (uri, random) =>
    replaceOne(uri, random, /\.\.(?=\/)/g, (dots) => `${dots}${random.pick([";", ";a=b", "%3b", "%253bx"])}`),
];

/** Returns one spelling of a random location. */
export function spell(random: Random): string {
  let uri = `file://${random.pick(PLACES)}`;
  for (let count = random.below(4); count > 0; count -= 1) uri = random.pick(CHANGES)(uri, random);
  return uri;
}

/**
 * Returns a URI that some parser treats as one that the pattern matches, although its text differs: with an encoded
 * question mark, or encoded dots below a host.
 */
export function spellHidden(random: Random): { readonly uri: string; readonly pattern: string } {
  const layers = 1 + random.below(3);
  const hidden = (text: string, times: number): string => (times === 0 ? text : hidden(encoded(text), times - 1));
  const host = random.pick(["home", "desk.example", "a-b"]);
  if (random.below(2) === 0) {
    const mark = hidden(random.pick(["?", "#"]), layers);
    return {
      uri: `notes://${host}/a/gold.key${mark}${random.pick(["x", ".txt", "y=1"])}`,
      pattern: "notes://*/a/*.key",
    };
  }
  // URL parsers decode one layer: such dots are refused for their spelling.
  const dots = hidden("..", layers + 1);
  return { uri: `notes://${host}/${dots}/vault/gold`, pattern: `notes://${host}/vault/*` };
}

/** Hosts, each with spellings that a resolver or URL parser treats as the same host. */
const HOSTS: readonly (readonly [host: string, ...same: string[]])[] = [
  ["admin.internal", "ADMIN.internal", "admin。internal", "ａdmin.internal", "adm\u00adin.internal"],
  ["xn--bcher-kva.example", "bücher.example", "BÜCHER.example", "xn--BCHER-kva.example"],
  ["10.0.0.1", "0x0a.1", "167772161", "012.0.0.1", "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "10.1"],
  ["[2001:db8::1]", "[2001:db8:0:0:0:0:0:1]", "[2001:DB8::0:1]"],
  ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "127.1", "ip6-localhost", "localhost.localdomain", "[::]", "0"],
];

/** Returns a URI of one of the hosts in some spelling, and a pattern that denies the host in another one. */
export function spellHost(random: Random): { readonly uri: string; readonly pattern: string; readonly host: string } {
  const [host, ...others] = random.pick(HOSTS);
  const scheme = random.pick(["https", "https", "notes"]);
  const written = random.pick([host, ...others]);
  const canDot = !written.startsWith("[");
  const dots = canDot ? random.pick(["", ".", "."]) : "";
  const user = random.pick(["", "", "me@", "docs.example:x@"]);
  const port = random.pick(["", "", ":8443", scheme === "https" ? ":443" : ":1"]);
  const named = random.pick([host, ...others]);
  // In a scheme without hosts only the canonical spelling of an address is recognised.
  const denied = scheme === "notes" ? host : named;
  const text = `${scheme}://${user}${written}${dots}${port}/x`;
  return {
    uri: URL.canParse(text) ? new URL(text).href : text,
    pattern: `${scheme}://${denied}${denied.startsWith("[") ? "" : random.pick(["", "."])}/*`,
    host,
  };
}

/** Percent-encodes a text, including percent signs of an earlier encoding. */
function encoded(text: string): string {
  return text.includes("%") ? text.replaceAll("%", "%25") : escaped(text);
}

/**
 * Returns the paths that servers open for a URI: by the standard, after one or two more decodings, and without a
 * parser.
 */
export function opened(uri: string): readonly string[] {
  const once = decode(uri);
  const twice = decode(once);
  const all = [standard(uri), standard(once), standard(twice), naive(uri), naive(once), folded(uri)];
  return [...all, standard(withoutParameters(uri)), standard(withoutParameters(twice))].filter(
    (path) => path !== undefined,
  );
}

function standard(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, pathname } = new URL(uri);
  return protocol === "file:" ? posix.normalize(decode(pathname).replaceAll("\\", "/")) : undefined;
}

/** Parses like many scripts: the text after the host up to a question mark, decoded, with dots resolved. */
function naive(uri: string): string | undefined {
  const path = /^file:(?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(uri)?.[1];
  return path === undefined ? undefined : posix.normalize(decode(path));
}

/** Parses like servers that treat a semicolon as the start of path parameters. */
function withoutParameters(uri: string): string {
  return uri.replaceAll(/;[^/?#]*/g, "");
}

/** Parses like a file system with one Unicode form only. */
function folded(uri: string): string | undefined {
  return standard(decode(uri).normalize("NFKC"));
}

function decode(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

function escaped(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

function insert(uri: string, random: Random, text: string): string {
  const at = random.below(uri.length + 1);
  return uri.slice(0, at) + text + uri.slice(at);
}

function replaceOne(uri: string, random: Random, pattern: RegExp, change: (text: string) => string): string {
  const found = Array.from(uri.slice("file://".length).matchAll(pattern));
  if (found.length === 0) return uri;
  const match = random.pick(found);
  const at = match.index + "file://".length;
  return uri.slice(0, at) + change(match[0]) + uri.slice(at + match[0].length);
}
