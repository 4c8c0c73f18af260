import { expect, test } from "vitest";
import { decodeEntities, htmlPieces, plainText } from "./html.ts";

test("text is text, without tags, comments and scripts", () => {
  expect(plainText(`a <b title="1 > 0">b</b> <!-- <i>c</i> --><script>"</b>"</script>&lt;d&gt; 3 < 4`)).toBe(
    "a b <d> 3 < 4",
  );
});

test("character references are replaced, and what is none stays", () => {
  expect(decodeEntities("&amp;amp; &#39;&#x1F600; &unknown; &#0; &#xD800; &")).toBe(
    "&amp; '😀 &unknown; &#0; &#xD800; &",
  );
});

test.each(["<", "<a", '<a href="', "<!--", "<script>", "</", "<a b='", "<<<<"])(
  "a page that breaks off at %j ends",
  (html) => {
    expect(Array.from(htmlPieces(html)).length).toBeLessThanOrEqual(8);
  },
);

test("attributes read with either quote, or none", () => {
  const [tag] = htmlPieces(`<A HREF='x?a=1&amp;b' class="one two" data-x=3 hidden>`);
  expect(
    tag?.type === "open" && [
      tag.name,
      tag.attribute("href"),
      tag.hasClass("two"),
      tag.hasClass("tw"),
      tag.attribute("data-x"),
      tag.attribute("hidden"),
    ],
  ).toEqual(["a", "x?a=1&b", true, false, "3", ""]);
});
