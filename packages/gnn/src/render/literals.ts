/** Maximum width of a line of numbers. */
const WIDTH = 100;

/**
 * Returns a string literal of Python or Julia. Printable ASCII is unchanged, all other characters are escaped, so that
 * the text cannot end the literal, start an interpolation or change the text direction.
 */
export function stringLiteral(text: string): string {
  return `"${[...text].map(escaped).join("")}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  // A lone surrogate is not a character.
  if (code >= 0xd800 && code <= 0xdfff) return String.raw`\ufffd`;
  if (code >= 32 && code < 127 && !'"\\$'.includes(character)) return character;
  return code > 0xffff ? String.raw`\U${hex(code, 8)}` : String.raw`\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

/** Formats numbers with commas between them, on as many lines as needed. The numbers must be finite. */
export function numberLines(numbers: Iterable<number>, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const number of numbers) {
    const word = `${number}, `;
    if (line.length + word.length > WIDTH) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
  }
  lines.push(line.trimEnd().replace(/,$/, ""));
  return lines.length === 1 ? lines[0]! : `\n${lines.map((one) => indent + one).join("\n")}\n${indent.slice(0, -4)}`;
}
