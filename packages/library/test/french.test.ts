import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommandIo } from "../src/command/command-io.ts";
import { add, show } from "../src/command/library-commands.ts";
import { backup, doctor, exportTo, importFrom, move, stats } from "../src/command/move-commands.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import { epub } from "./archives.ts";
import { writePdf } from "./books.ts";
import { madeDocuments } from "./stores/corpus.ts";

let folder: string;
let told: { printed: string; said: string };
const path = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-french-"));
  told = { printed: "", said: "" };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The terminal of a user with the given locale. */
function io(locale = "fr_FR.UTF-8"): CommandIo {
  return {
    cwd: folder,
    env: { LC_ALL: locale, TOOLYARD_HOME: folder, LIBRARY_FILE: path("library.db") },
    signal: new AbortController().signal,
    print: async (text) => void (told.printed += `${text}\n`),
    say: async (text) => void (told.said += `${text}\n`),
    paint: async (text) => void (told.printed += text),
    safe: (text) => text,
    mark: (word) => word,
    live: () => ({ end: () => {} }),
  };
}

async function fillLibrary(): Promise<void> {
  await using store = await openSqliteStore(path("library.db"));
  for (const { document, text, chunks, summaries } of await madeDocuments(2, 3)) {
    const plain = [chunks, summaries].map((all) => all.map(({ vector: _none, ...passage }) => passage));
    await store.replaceDocument(document, text, { chunks: plain[0]!, summaries: plain[1]! });
  }
}

describe("C47: in a French locale, commands of the library print French", () => {
  test("the commands report an empty library in French", async () => {
    await stats({}, io());
    expect(told.said).toContain("La bibliothèque est vide.");
  });

  test("the commands print their results in French", async () => {
    await fillLibrary();
    await stats({}, io());
    await exportTo("all.jsonl", {}, io());
    await importFrom("all.jsonl", {}, io());
    await backup("saved.db", {}, io());
    await move({ to: `sqlite://${path("other.db")}` }, io());
    expect(told.printed).toMatch(
      /^2 documents, 6 passages, 2 pages; langues : .*\n\npages par auteur\n.*pages par année/su,
    );
    expect(told.printed).toContain("exporté    2 documents, 6 passages vers ");
    expect(told.printed).toContain("importé    2 documents, 6 passages\n");
    expect(told.printed).toMatch(/^enregistré .*saved\.db$/mu);
    expect(told.printed).toMatch(/^déplacé {4}2 documents, vers SQLite.*\ncomparé {4}50 sur 50 questions trouvent/mu);
    expect(told.said).toContain("La bibliothèque d’ici reste telle quelle.");
  });

  test("doctor prints findings, or that there are none", async () => {
    await doctor({}, io());
    expect(told.printed).toContain("0 document, 0 passage, sans vecteurs\nRien d’anormal.\n");
    await fillLibrary();
    expect(await doctor({}, io())).toBe(1);
    expect(told.said).toMatch(/^anomalie {3}Des fichiers ne sont plus là.*\(Files are missing/mu);
  });

  test("prints a document's warnings in French when it is added and when it is shown", async () => {
    writeFileSync(path("latin.txt"), Buffer.from("Un texte qui a été écrit il y a longtemps.", "latin1"));
    writeFileSync(path("front.md"), "---\ntitle: [\n---\nUn texte sans en-tête qui se laisse lire.");
    writeFileSync(path("essais.epub"), epub());
    const bad = "L a l o i d e l a n a t u r e e s t g e n e r a l e e t v a u t p o u r t o u t c e q u i e s t.";
    await writePdf(path("bad.pdf"), [
      { paragraphs: ["Une page que tout le monde peut lire sans peine."] },
      { paragraphs: [bad] },
    ]);
    expect(await add(["latin.txt", "front.md", "essais.epub", "bad.pdf"].map(path), {}, io())).toBe(0);
    expect(told.printed).toContain("Ce n’est pas de l’UTF-8 ; lu comme du Windows-1252.");
    expect(told.printed).toContain("Son en-tête n’est pas du YAML et a été laissé de côté : ");
    expect(told.printed).toContain("Chapitres que le livre annonce et qui y manquent : OEBPS/text/none.xhtml.");
    expect(told.printed).toContain("Pages dont le texte semble venir d’un mauvais OCR : 2. Ajoutez le fichier");
    expect(told.printed).not.toMatch(/It is no UTF-8|front matter|the book lists|bad OCR/u);
    told.printed = "";
    await show("essais", {}, io());
    expect(told.printed).toContain("Chapitres que le livre annonce");
    told.printed = "";
    await show("essais", { json: true }, io());
    expect(told.printed).toContain("Chapters that the book lists but does not contain");
  });

  test.each([
    ["Pages without text, which need OCR, were left out: 2, 3.", /^Pages sans texte, .* : 2, 3\.$/mu],
    [
      "Mistral OCR has no key. Set the variable MISTRAL_API_KEY, or `ocr` to local.",
      /^L’OCR de Mistral n’a pas de clé\. Définissez la variable MISTRAL_API_KEY/mu,
    ],
    [
      "Pages with images in a format that local OCR does not support, such as JBIG2 or JPEG 2000, were left out: 4.",
      /^Pages dont les images .* : 4\.$/mu,
    ],
    ["A sentence of a later version.", /^A sentence of a later version\.$/mu],
  ])("prints a document's page warning in French: %s", async (warning, expected) => {
    const [made] = await madeDocuments(1, 1);
    await using store = await openSqliteStore(path("library.db"));
    await store.replaceDocument({ ...made!.document, warnings: [warning] }, "text", { chunks: [], summaries: [] });
    await show("work_0", {}, io());
    expect(told.printed).toMatch(expected);
  });

  test("prints errors in French, followed by the English message", async () => {
    await backup("saved.db", {}, io());
    await expect(backup("saved.db", {}, io())).rejects.toThrow(/^Ce fichier existe déjà\..*already exists/u);
    await expect(show("none", {}, io())).rejects.toThrow(/^Il n’existe pas\..*There is no document/u);
  });
});

test("C47: in another locale the commands print English; JSON output is the same in every locale", async () => {
  await fillLibrary();
  await stats({}, io("de_DE.UTF-8"));
  expect(told.printed).toContain("pages by author");
  await expect(show("none", {}, io("de_DE.UTF-8"))).rejects.toThrow(/^There is no document/u);
  told.printed = "";
  await doctor({ json: true }, io());
  expect(JSON.parse(told.printed)).toMatchObject({
    documents: 2,
    findings: [{ what: expect.stringContaining("Files are missing") as string, about: "files" }, { about: "versions" }],
  });
});
