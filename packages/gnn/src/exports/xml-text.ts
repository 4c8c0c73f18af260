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

/** A text between tags or in an attribute. What XML cannot hold becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text.replaceAll(FORBIDDEN, "\uFFFD").replaceAll(/[&<>"\t\n\r]/g, (character) => ESCAPES[character]!);
}

/** An element with its attributes, those without a value left out. */
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
