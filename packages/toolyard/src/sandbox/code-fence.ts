/** Removes the Markdown fence around a whole program, which models often add. Any other text is unchanged. */
export function withoutFence(code: string): string {
  const match = /^\s*```[^\n`]*\n([^]*?)\n?```\s*$/u.exec(code);
  return match?.[1] === undefined || match[1].includes("```") ? code : match[1];
}
