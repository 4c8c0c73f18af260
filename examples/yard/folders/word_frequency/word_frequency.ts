/** A tool folder: `<name>.mcp.json` describes the tool, `execute` of the script next to it does the work. */
export function execute({ text, top }: { text: string; top: number }) {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = [...counts].map(([word, count]) => ({ word, count }));
  return { words: words.toSorted((a, b) => b.count - a.count || a.word.localeCompare(b.word)).slice(0, top) };
}
