/** A whole program in Markdown's fence, as models hand it over: without the fence. Anything else stays as it is. */
export function withoutFence(code: string): string {
  const match = /^\s*```[^\n`]*\n([^]*?)\n?```\s*$/u.exec(code);
  return match?.[1] === undefined || match[1].includes("```") ? code : match[1];
}
