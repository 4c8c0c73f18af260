import { array, assert, asyncProperty, constantFrom } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHtml, plainText } from "./html.ts";

/** Returns the tags and texts of a page, one per line. */
async function partsOf(html: string): Promise<string[]> {
  const parts: string[] = [];
  await parseHtml(html, {
    open: (name, attributes) =>
      void parts.push(`<${[name, ...Array.from(attributes, ([key, value]) => `${key}=${value}`)].join(" ")}>`),
    text: (text) => void parts.push(text),
    close: (name) => void parts.push(`</${name}>`),
  });
  return parts;
}

/** Returns the text with single spaces, as in hits. */
async function lineOf(html: string): Promise<string> {
  return (await plainText(html)).replaceAll(/\s+/g, " ").trim();
}

describe("the text of a fragment", () => {
  test.each([
    ["no markup", "no markup"],
    [`a <b title="1 > 0">b</b> c`, "a b c"],
    ["a <!-- <i>c</i> -->b", "a b"],
    [`a<script>"</b>"</script>b`, "ab"],
    ["a<SCRIPT>if (1 < 2) x()</SCRIPT >b", "ab"],
    ["a<style>p > a { color: red }</style>b", "ab"],
    ["a<textarea>draft</textarea>b", "ab"],
    ["a<template><p>row</p></template>b", "ab"],
    ["a<!DOCTYPE html>b", "ab"],
    ["a<![CDATA[b]]>c", "ac"],
    ["a<?php echo 1 ?>b", "ab"],
    ["3 < 4 and 5 > 2", "3 < 4 and 5 > 2"],
    ["<p>one</p><p>two</p>", "one two"],
    ["one<br>two<br/>three", "one two three"],
    ["<ul><li>one<li>two</ul>", "one two"],
    ["<td>one</td><td>two</td>", "one two"],
    ["in<b>sid</b>e", "inside"],
    ["<a href='x'y>link</a>", "link"],
    ["&lt;d&gt; &amp;amp;", "<d> &amp;"],
    ["&#39;&#x1F600;", "'😀"],
    ["&eacute;&auml;&szlig;", "éäß"],
    ["&hearts;&rarr;&Eopf;", "♥→𝔼"],
    ["AT&T &copy 2024", "AT&T © 2024"],
    ["&unknown; & &;", "&unknown; & &;"],
    ["&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"],
    ["&#150;&#x92;", "–’"],
    ["a<!-- never closed", "a"],
    ["a<script>never closed", "a"],
    ["a<b", "a"],
    ["<b>a</i></b>", "a"],
    ["<a><a>x</a>y", "xy"],
  ])("the text of %j is %j", async (html, text) => {
    expect(await lineOf(html)).toBe(text);
  });
});

test.each(["<", "<a", '<a href="', "<!--", "<script>", "</", "<a b='", "<<<<", "&", "&#", "</b></b></b>"])(
  "reads a page that ends with %j completely",
  async (html) => {
    expect((await partsOf(html)).length).toBeLessThanOrEqual(8);
  },
);

test("reads attributes with either kind of quotes, or none, and names case-insensitively", async () => {
  expect(await partsOf(`<A HREF='x?a=1&amp;b' class="one two" data-x=3 hidden __proto__=1>`)).toEqual([
    expect.stringMatching(/^<a href=x\?a=1&b class=one two data-x=3 hidden=/),
    "</a>",
  ]);
});

test("reads a page with 100,000 nested elements up to the limit", async () => {
  const parts = await partsOf(`first${"<div>".repeat(100_000)}last`);
  expect(parts[0]).toBe("first");
  expect(parts.length).toBeLessThan(2500);
  expect(parts).not.toContain("last");
});

test("limits nested elements only, and not adjacent elements", async () => {
  expect(await lineOf("<i>x</i>".repeat(20_000))).toBe("x".repeat(20_000));
});

test("every input results in balanced tags", async () => {
  const piece = constantFrom("<a>", "</a>", "<p", ">", "<!--", "-->", "<script>", "</script>", "&lt", ";", "x", '"');
  await assert(
    asyncProperty(array(piece, { maxLength: 30 }), async (pieces) => {
      const open: string[] = [];
      await parseHtml(pieces.join(""), {
        open: (name) => void open.push(name),
        text: () => {},
        close: (name) => expect(open.pop()).toBe(name),
      });
      expect(open).toEqual([]);
    }),
    { seed: 31, numRuns: 500 },
  );
});
