/** What code is told that hit a bound: the bound, and the option that sets it. */
export function tooManyCalls(bound: number): string {
  return (
    `The code made more than ${bound} tool calls, which is the most for one run (\`sandbox.tool_calls\`). ` +
    "Ask for several records with one call, or do the rest in another run."
  );
}

export function tooLongArguments(bound: number, bytes: number): string {
  return `The arguments of a tool call may have ${bound} bytes (\`sandbox.tool_bytes\`); these have ${bytes}.`;
}
