import { describe, expect, test } from "vitest";
import { parseHtml } from "./read-html.ts";

function textOf(body: string): string {
  return parseHtml(body)
    .blocks.map(({ text }) => text)
    .join(" | ");
}

describe("numbers of notes in HTML", () => {
  test.each([
    ["a superscript link", `A sign<sup><a href="#fn1">1</a></sup> stands.`],
    ["a link with a superscript", `A sign<a href="#n1"><sup>1</sup></a> stands.`],
    ["a link of a wiki", `A sign<sup class="reference" id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup> stands.`],
    ["brackets around the link", `A sign<sup>[<a href="#x">12</a>]</sup> stands.`],
    ["two links", `A sign<sup><a href="#a">1</a>, <a href="#b">2</a></sup> stands.`],
    ["a link of a word processor", `A sign<a href="#_ftn1" name="_ftnref1">[1]</a> stands.`],
    ["the role of a reference", `A sign<a href="notes.html#n7" role="doc-noteref">seven</a> stands.`],
    ["the type of a reference", `A sign<a epub:type="noteref" href="n.xhtml#a">*</a> stands.`],
    ["a class for references", `A sign<sup class="footnote-ref">3</sup> stands.`],
    ["a sign", `A sign<a href="#footnote-1">†</a> stands.`],
    ["a roman number", `A sign<sup><a href="#e4">iv</a></sup> stands.`],
    ["a plain number after a long word", `A sign<sup>4</sup> stands.`],
  ])("are left out: %s", (_, html) => {
    expect(textOf(`<p>${html}</p>`)).toBe("A sign stands.");
  });

  test("are left out after the end of a sentence", () => {
    expect(textOf(`<p>It is so.”<sup>12</sup> It was.</p>`)).toBe("It is so.” It was.");
  });

  test.each([
    ["an exponent", `E = mc<sup>2</sup> holds.`, "E = mc2 holds."],
    ["a unit", `Ten km<sup>2</sup> of land.`, "Ten km2 of land."],
    ["an exponent after a bracket", `(a + b)<sup>2</sup> is.`, "(a + b)2 is."],
    ["an ordinal", `The 19<sup>th</sup> century.`, "The 19th century."],
    ["a century in French", `Le XIX<sup>e</sup> siècle.`, "Le XIXe siècle."],
    ["a link to a page", `See page <a href="#page_12">12</a>.`, "See page 12."],
    ["a link to a section", `See <a href="#sec-2">2</a> below.`, "See 2 below."],
    ["a link with a text", `See <a href="#fn1">the note</a>.`, "See the note."],
    ["a link to another site", `In <a href="https://example.com/notes">1905</a>.`, "In 1905."],
  ])("do not include %s", (_, html, expected) => {
    expect(textOf(`<p>${html}</p>`)).toBe(expected);
  });

  test("are left out at the start of each note, with the links back to the text", () => {
    const notes = `<section role="doc-endnotes"><ol><li id="fn1"><p>See Peirce. <a href="#fnref1">↩</a></p></li></ol>`;
    expect(textOf(`<p>A sign<a href="#fn1"><sup>1</sup></a> stands.</p>${notes}</section>`)).toBe(
      "A sign stands. | See Peirce.",
    );
  });
});

describe("notes in the text", () => {
  test.each([
    ["an aside of an EPUB", `<aside epub:type="footnote" id="n1"><p>See Peirce.</p></aside>`],
    ["a box with a role", `<div role="doc-footnote">See Peirce.</div>`],
    ["an aside without a paragraph", `<aside epub:type="footnote">See Peirce.</aside>`],
    ["a span with a type", `<span epub:type="rearnote">See Peirce.</span>`],
    ["a nested aside", `<div epub:type="footnotes"><aside epub:type="footnote"><p>See Peirce.</p></aside></div>`],
  ])("follow the other text: %s", (_, note) => {
    expect(textOf(`<p>One.</p>${note}<p>Two.</p>`)).toBe("One. | Two. | See Peirce.");
  });

  test.each([
    ["an aside that is not a note", "<aside><p>An advertisement.</p></aside>"],
    ["a hidden note", `<aside epub:type="footnote" hidden><p>Hidden.</p></aside>`],
    ["a note in the navigation", `<nav><aside epub:type="footnote">Menu.</aside></nav>`],
  ])("do not include %s", (_, other) => {
    expect(textOf(`<p>One.</p>${other}<p>Two.</p>`)).toBe("One. | Two.");
  });
});
