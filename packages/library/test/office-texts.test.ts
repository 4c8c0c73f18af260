import { describe, expect, test } from "vitest";
import type { ReadDocument } from "../src/documents/block.ts";
import { formatOf } from "../src/documents/formats.ts";
import { zip } from "./archives.ts";

async function read(name: string, content: string | Uint8Array): Promise<ReadDocument> {
  const bytes = Buffer.from(content as string, "latin1");
  const reader = await formatOf(name, bytes).load();
  return reader(bytes, { signal: new AbortController().signal, maxPages: 100 });
}

const textsOf = ({ blocks }: ReadDocument): string[] => blocks.map(({ kind, text }) => `${kind}: ${text}`);
const metadataOf = ({ metadata }: ReadDocument) => metadata[0]![1];

function odt(body: string, more: readonly { name: string; content: string }[] = []): Buffer {
  const styles =
    '<office:automatic-styles><style:style style:name="T9"><style:text-properties text:display="none"/></style:style>' +
    "</office:automatic-styles>";
  return zip([
    { name: "mimetype", content: "application/vnd.oasis.opendocument.text" },
    {
      name: "content.xml",
      content: `<office:document-content>${styles}<office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    },
    ...more,
  ]);
}

describe("ODT", () => {
  test("reads headings with their levels, paragraphs, tables, and notes at the end", async () => {
    const document = await read(
      "a.odt",
      odt(
        '<text:h text:outline-level="1">On Signs</text:h><text:p>A sign<text:note>' +
          "<text:note-citation>1</text:note-citation><text:note-body>" +
          "<text:p>A note below.</text:p></text:note-body></text:note>" +
          " stands <text:span>for</text:span>" +
          '<text:s text:c="2"/>something<text:line-break/>else.</text:p><text:h text:outline-level="2">Icons</text:h>' +
          "<table:table><table:table-row><table:table-cell><text:p>sign</text:p></table:table-cell>" +
          "<table:table-cell><text:p>object</text:p><text:p>thing</text:p></table:table-cell></table:table-row></table:table>",
      ),
    );
    expect(textsOf(document)).toEqual([
      "heading: On Signs",
      "paragraph: A sign stands for something else.",
      "heading: Icons",
      "table: | sign | object thing |",
      "paragraph: A note below.",
    ]);
    expect(document.blocks.map(({ level }) => level)).toEqual([1, undefined, 2, undefined, undefined]);
  });

  test.each([
    ["a tracked deletion", "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>kept</text:p>"],
    ["a comment", "<text:p>ke<office:annotation><text:p>gone</text:p></office:annotation>pt</text:p>"],
    ["hidden text", '<text:p>ke<text:span text:style-name="T9">gone</text:span>pt</text:p>'],
    ["a hidden paragraph", '<text:p text:style-name="T9">gone</text:p><text:p>kept</text:p>'],
    [
      "a table of contents",
      "<text:table-of-content><text:p>gone</text:p></text:table-of-content><text:p>kept</text:p>",
    ],
  ])("skips %s", async (_, body) => {
    expect(textsOf(await read("a.odt", odt(body)))).toEqual(["paragraph: kept"]);
  });

  test("reads title, author and language", async () => {
    const content =
      "<office:meta><dc:title>Le signe</dc:title><meta:initial-creator>Ada Byron</meta:initial-creator>" +
      "<dc:creator>An Editor</dc:creator><dc:language>fr</dc:language></office:meta>";
    const document = await read("a.odt", odt("<text:p>x</text:p>", [{ name: "meta.xml", content }]));
    expect(metadataOf(document)).toEqual({ title: "Le signe", author: "Ada Byron", language: "fr" });
  });

  test.each([
    ["no archive", "text", "It is not an ODT file"],
    ["an archive without a text", zip([{ name: "other.xml", content: "x" }]), "`content.xml` is missing"],
    [
      "a protected text",
      odt("<text:p>x</text:p>", [{ name: "META-INF/manifest.xml", content: "<manifest:encryption-data/>" }]),
      "It is protected by a password.",
    ],
  ])("refuses %s", async (_, content, message) => {
    await expect(read("a.odt", content)).rejects.toThrow(message);
  });
});

describe("RTF", () => {
  const rtf = (body: string, head = "\\ansi\\ansicpg1252\\deff0"): string => `{\\rtf1${head} ${body}}`;

  test("reads headings by style and outline level, paragraphs, tables and footnotes", async () => {
    const document = await read(
      "a.rtf",
      rtf(
        "{\\fonttbl{\\f0\\froman Times;}}{\\colortbl;\\red0\\green0\\blue0;}" +
          "{\\stylesheet{\\s0 Normal;}{\\s1 heading 1;}}\n" +
          "{\\info{\\title On Signs}{\\author Ada Byron}{\\company None}}{\\header A running head\\par}" +
          "\\pard\\s1 On Signs\\par\\pard\\s0 A sign{\\footnote\\pard A note below.}" +
          " stands {\\b for}\n something.\\par" +
          "\\pard\\outlinelevel1 Icons\\par\\pard\\intbl sign\\cell object\\cell\\row\\pard The end.",
      ),
    );
    expect(textsOf(document)).toEqual([
      "heading: On Signs",
      "paragraph: A sign stands for something.",
      "heading: Icons",
      "table: | sign | object |",
      "paragraph: The end.",
      "paragraph: A note below.",
    ]);
    expect(document.blocks.map(({ level }) => level)).toEqual([1, undefined, 2, undefined, undefined, undefined]);
    expect(metadataOf(document)).toEqual({ title: "On Signs", author: "Ada Byron" });
  });

  test.each([
    ["escaped bytes of Windows-1252", rtf("l\\'92\\'9cuvre \\'e9crite"), "l’œuvre écrite"],
    ["Unicode with a substitute", rtf("na\\u239?ve, \\u8211\\'96 \\uc0\\u233 t\\u233 "), "naïve, – été"],
    ["a negative Unicode number", rtf("\\u-28617?"), "\u9037"],
    ["Cyrillic by the font", rtf("{\\fonttbl{\\f1\\fcharset204 Arial;}}\\f1 \\'e4\\'e0, {\\f0 yes}"), "да, yes"],
    ["Japanese in two bytes", rtf("{\\fonttbl{\\f1\\fcharset128 Gothic;}}\\f1\\'8e\\'e6"), "取"],
    ["a code page of the document", rtf("\\'e1\\'e2", "\\ansi\\ansicpg1253"), "αβ"],
    ["Mac Roman", rtf("caf\\'8e", "\\mac"), "café"],
    ["signs by name", rtf("\\ldblquote a\\rdblquote\\emdash b\\~c\\tab d"), "“a”—b c d"],
    ["escaped braces", rtf("\\{a\\}\\\\b"), "{a}\\b"],
    ["a field", rtf("{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt link}}"), "link"],
    ["hidden and deleted text", rtf("a{\\v hidden}b{\\deleted gone}c"), "abc"],
    ["a picture and binary data", rtf("a{\\pict\\bin4 }{\\x b}c"), "ac"],
    ["an unknown destination", rtf("a{\\*\\unknown gone{\\b too}}b"), "ab"],
  ])("reads %s", async (_, text, expected) => {
    expect(textsOf(await read("a.rtf", text))).toEqual([`paragraph: ${expected}`]);
  });

  test("refuses a file that does not begin like RTF, and too many nested groups", async () => {
    await expect(read("a.rtf", "plain text")).rejects.toThrow("It is not an RTF file");
    await expect(read("a.rtf", `{\\rtf1 ${"{".repeat(2_000)}`)).rejects.toThrow("more than 1000 nested groups");
  });

  test("reads a truncated file up to its end", async () => {
    expect(textsOf(await read("a.rtf", "{\\rtf1 {\\b half a sent"))).toEqual(["paragraph: half a sent"]);
  });
});
