/** Operators of RFC 6570: the first character, the separator, and whether names are written. */
const FORMS: Readonly<Record<string, readonly [first: string, between: string, hasNames: boolean]>> = {
  "": ["", ",", false],
  "+": ["", ",", false],
  "#": ["#", ",", false],
  ".": [".", ".", false],
  "/": ["/", "/", false],
  ";": [";", ";", true],
  "?": ["?", "&", true],
  "&": ["&", "&", true],
};
const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;

/** Returns the names of the variables of a URI template, in their order. */
export function variablesOf(template: string): readonly string[] {
  const names = Array.from(template.matchAll(EXPRESSION), ([, , list = ""]) => list.split(",").map(bareName));
  return [...new Set(names.flat())];
}

/** Expands a URI template with texts. Variables without a value are omitted. */
export function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(EXPRESSION, (_whole, operator: string, list: string) => {
    const [first, between, hasNames] = FORMS[operator]!;
    const encode = operator === "+" || operator === "#" ? encodeURI : encodeURIComponent;
    const parts = list
      .split(",")
      .map(bareName)
      .flatMap((name) => {
        const value = values[name] ?? "";
        return value === "" ? [] : [hasNames ? `${name}=${encode(value)}` : encode(value)];
      });
    return parts.length === 0 ? "" : first + parts.join(between);
  });
}

function bareName(part: string): string {
  return part.trim().replace(/(?:\*|:\d+)$/, "");
}
