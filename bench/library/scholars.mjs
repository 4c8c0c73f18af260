// A library of scholars, built from public texts in the folder in LIBRARY_EVAL: an English anthology of philosophy,
// French essays and, as unrelated mass, English novels.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Sources that the folder in LIBRARY_EVAL must contain, each in a subfolder with its name. */
export const SCHOLAR_SOURCES = [
  {
    folder: "anthology",
    repository: "brianchase/anthology",
    commit: "d2aba1d90ea1584ffb21e1aca2605ea87383d094",
  },
  { folder: "hurlus-tei", repository: "hurlus/hurlus-tei", commit: "e718b41127a0aa7b4e1ed838c3b9e2ad9346e9e8" },
  { folder: "ELTeC-eng", repository: "COST-ELTeC/ELTeC-eng", commit: "3db3b6738a836f0e1b276b6c9703e42f4297f978" },
];

/** The French works; the whole collection would be four times as large. */
const FRENCH = [
  "bloch1940",
  "bloch1941",
  "comte1842",
  "debord1967",
  "descartes1637",
  "durkheim1895",
  "fanon1961",
  "guyau1885",
  "kropotkin1889",
  "laboetie1562",
  "lafargue1883",
  "larochefoucauld1665",
  "lebon1905",
  "levi-strauss1952",
  "marx1848",
  "montesquieu1734",
  "renan1882",
  "rousseau1762",
  "sieyes1789",
  "sorel1908",
  "stirner1844",
  "tocqueville1835",
  "weil-simone1940",
  "weil-simone1949",
];
/** With this number of novels the library has about 20,000 passages. */
const NOVELS = 8;

/** Writes the works as Markdown files into a folder. Returns undefined if a source is missing. */
export function writeScholars(folder, own = process.env.LIBRARY_EVAL) {
  if (own === undefined || SCHOLAR_SOURCES.some(({ folder: name }) => !existsSync(join(own, name)))) return undefined;
  mkdirSync(folder, { recursive: true });
  const texts = join(own, "anthology/texts");
  for (const file of readdirSync(texts).filter((name) => name.endsWith(".tex")))
    write(folder, basename(file, ".tex"), fromTex(readFileSync(join(texts, file), "utf8")));
  const french = join(own, "hurlus-tei");
  for (const file of readdirSync(french).filter((name) => FRENCH.some((work) => name.startsWith(`${work}_`))))
    if (file.endsWith(".xml"))
      write(folder, basename(file, ".xml"), fromTei(readFileSync(join(french, file), "utf8"), "fr"));
  const novels = join(own, "ELTeC-eng/level1");
  const whole = readdirSync(novels)
    .map((name) => [name, readFileSync(join(novels, name), "utf8")])
    .filter(([, text]) => text.includes("</TEI>"));
  for (const [file, text] of whole.slice(0, NOVELS)) write(folder, basename(file, ".xml"), fromTei(text, "en"));
  return readdirSync(folder).map((name) => join(folder, name));
}

function write(folder, name, { title, author, language, text }) {
  const head = [
    "---",
    `title: ${JSON.stringify(title)}`,
    `author: ${JSON.stringify(author)}`,
    `lang: ${language}`,
    "---",
  ];
  writeFileSync(join(folder, `${name}.md`), `${head.join("\n")}\n\n${text}\n`);
}

const ACCENTS = { "'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302" };

function fromTex(source) {
  const plain = plainTex(source);
  const value = (name) => new RegExp(String.raw`\\${name}(?:\[[^\]]*\])?\{([^{}]*)`).exec(plain)?.[1] ?? "";
  const line = (text) => text.replaceAll(/\s+/g, " ").trim();
  const body = plain
    .replaceAll(/^\\(author|authdate|textdate|source|chapter)\b.*$/gm, "")
    .replaceAll(/\\page\{[^}]*\}/g, "")
    .replaceAll(/\\(?:sub)?section\*?\{([^}]*)\}/g, "\n\n## $1\n\n")
    .replaceAll(/\\[a-zA-Z]+\*?(\[[^\]]*\])?/g, "")
    .replaceAll(/[{}]/g, "");
  return { title: line(value("chapter")), author: line(value("author")), language: "en", text: body };
}

function plainTex(source) {
  return source
    .replaceAll(/\\(['`"^])\{?([a-zA-Z])\}?/g, (_, mark, letter) => (letter + ACCENTS[mark]).normalize("NFC"))
    .replaceAll(/---/g, "—")
    .replaceAll(/--/g, "–")
    .replaceAll("``", "“")
    .replaceAll("''", "”")
    .replaceAll(/(?<!\\)%.*$/gm, "");
}

function fromTei(source, language) {
  const [, head = "", body = ""] = /<teiHeader[\s\S]*?>([\s\S]*?)<\/teiHeader>([\s\S]*)/.exec(source) ?? [];
  const title = plainXml(/<title[^>]*>([\s\S]*?)<\/title>/.exec(head)?.[1] ?? "").replace(/ : ELTeC edition$/, "");
  const [, key, name = ""] = /<author(?:[^>]*key="([^"]*)")?[^>]*?(?:\/>|>([\s\S]*?)<\/author>)/.exec(head) ?? [];
  const author = plainXml(key ?? name).replace(/\s*\([^)]*\)\s*$/, "");
  const text = body
    .replaceAll(/<note[\s\S]*?<\/note>/g, "")
    .replaceAll(/<head[^>]*>([\s\S]*?)<\/head>/g, (_, own) => `\n\n## ${plainXml(own)}\n\n`)
    .replaceAll(/<\/(p|l|quote|item|label)>/g, "\n\n");
  return { title, author, language, text: decode(text.replaceAll(/<[^>]*>/g, "")).replaceAll(/^[^\S\n]+/gm, "") };
}

function plainXml(text) {
  return decode(text.replaceAll(/<[^>]*>/g, ""))
    .replaceAll(/\s+/g, " ")
    .trim();
}

function decode(text) {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&apos;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll("&amp;", "&");
}
