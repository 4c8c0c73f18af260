import { posix } from "node:path";
import { Parser } from "htmlparser2";
import type { Block, FoundMetadata, Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { textsOf } from "./read-docx.ts";
import { decodeMarkup, defined, parseHtml } from "./read-html.ts";
import { firstHeading } from "./read-markdown.ts";
import { ZipArchive } from "./zip.ts";

/** Reads an EPUB book: its chapters in reading order. */
export const readEpub: Reader = async (bytes, { signal, onPage }) => {
  const archive = new ZipArchive(bytes);
  refuseLocked(archive);
  const place = packageOf(archive);
  const xml = textOf(archive, place);
  // Each file is one chapter (EPUB 3.3, 5.7.2), even if the reading order names it or places in it repeatedly.
  const named = spineOf(xml).map((href) => posix.join(posix.dirname(place), decoded(href)));
  const chapters = Array.from(new Set(named));
  const blocks: (readonly Block[])[] = [];
  const missing: string[] = [];
  for (const [at, name] of chapters.entries()) {
    signal.throwIfAborted();
    const chapter = archive.read(name);
    if (chapter) blocks.push(parseHtml(decodeMarkup(chapter).text, true).blocks);
    else missing.push(name);
    onPage?.(at + 1, chapters.length);
  }
  const all = blocks.flat();
  return {
    blocks: all,
    pages: 0,
    metadata: [["EPUB", metadataOf(xml)], firstHeading(all)],
    warnings:
      missing.length === 0
        ? []
        : [`Chapters that the book lists but does not contain: ${missing.slice(0, 20).join(", ")}.`],
  };
};

const XML = { xmlMode: true, decodeEntities: true } as const;

/** Throws if the book is encrypted. A book with only obfuscated fonts is readable. */
function refuseLocked(archive: ZipArchive): void {
  const xml = archive.read("META-INF/encryption.xml")?.toString("utf8") ?? "";
  const masked = /adobe\.com\/pdf\/enc#RC|idpf\.org\/2008\/embedding/;
  const ways = Array.from(xml.matchAll(/Algorithm\s*=\s*["']([^"']*)["']/g), ([, way = ""]) => way);
  if (ways.every((way) => masked.test(way))) return;
  throw new DocumentError(
    "VALIDATION_ERROR",
    "It is encrypted by its seller (DRM), and cannot be read.",
    "password_required",
  );
}

function packageOf(archive: ZipArchive): string {
  const container = textOf(archive, "META-INF/container.xml");
  let place: string | undefined;
  new Parser(
    { onopentag: (name, attributes) => void (name === "rootfile" && (place ??= attributes["full-path"])) },
    XML,
  ).end(container);
  if (place !== undefined) return place;
  throw new DocumentError("VALIDATION_ERROR", "It is not an EPUB file: its container file names no book.", "damaged");
}

function textOf(archive: ZipArchive, name: string): string {
  const content = archive.read(name);
  if (content) return content.toString("utf8");
  throw new DocumentError("VALIDATION_ERROR", `It is not an EPUB file: ${JSON.stringify(name)} is missing.`, "damaged");
}

/** Returns the files of the chapters in reading order, without those marked as non-linear. */
function spineOf(xml: string): string[] {
  const files = new Map<string, string>();
  const order: string[] = [];
  new Parser(
    {
      onopentag(name, attributes) {
        const plain = name.replace(/^.*:/, "");
        if (plain === "item") files.set(attributes["id"] ?? "", attributes["href"] ?? "");
        if (plain === "itemref" && attributes["linear"] !== "no") order.push(attributes["idref"] ?? "");
      },
    },
    XML,
  ).end(xml);
  return order.flatMap((id) => files.get(id) ?? []);
}

function decoded(href: string): string {
  const [plain = ""] = href.split("#");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function metadataOf(xml: string): FoundMetadata {
  const texts = textsOf(xml, ["dc:title", "dc:creator", "dc:language", "dc:date"]);
  const year = /\b(\d{4})\b/.exec(texts.get("dc:date")?.[0] ?? "")?.[1];
  return defined({
    title: texts.get("dc:title")?.[0],
    author: texts.get("dc:creator")?.join(", "),
    language: texts.get("dc:language")?.[0],
    year: year === undefined ? undefined : Number(year),
  });
}
