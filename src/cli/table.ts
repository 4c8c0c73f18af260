/** A plain table: columns padded to their widest cell, the last one cut to the width of the terminal. */
export function table(headers: readonly string[], rows: readonly (readonly string[])[], width = 100): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = headers.map((header, column) => Math.max(displayWidth(header), ...cells.map((row) => displayWidth(row[column] ?? ""))));
  const last = headers.length - 1;
  const taken = widths.slice(0, last).reduce((sum, one) => sum + one + GAP.length, 0);
  const room = Math.max(MIN_LAST_COLUMN, width - taken);
  const line = (row: readonly string[]) =>
    headers.map((_, column) => (column === last ? cut(row[column] ?? "", room) : pad(row[column] ?? "", widths[column]!))).join(GAP).trimEnd();
  const rule = widths.map((one, column) => "─".repeat(column === last ? Math.min(one, room) : one));
  return [line(headers), line(rule), ...cells.map(line)].join("\n");
}

const GAP = "  ";
const MIN_LAST_COLUMN = 20;

function oneLine(text: string): string {
  // Descriptions of upstream servers are not trusted to leave the terminal alone.
  return text.replaceAll(/\p{Cc}+/gu, " ").trim();
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join("")}…`;
}

function displayWidth(text: string): number {
  return [...text].length;
}
