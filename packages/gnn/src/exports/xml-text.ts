/** Characters that XML 1.0 forbids: control characters and lone surrogates. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Escapes text for use between tags or in an attribute. Characters that XML forbids become U+FFFD. */
export function escapeXml(text: string): string {
  return text.replaceAll(FORBIDDEN, "\uFFFD").replaceAll(/[&<>"\t\n\r]/g, (character) => ESCAPES[character]!);
}

/** Returns an element with its attributes. Attributes without a value are omitted. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | boolean | undefined>> = {},
  content = "",
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join("");
  return content === "" ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}
