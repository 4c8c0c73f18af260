/** Messages for code that exceeds a limit. They name the limit and the option that sets it. */
export function tooManyCalls(bound: number): string {
  return (
    `The code made more than ${bound} tool calls, which is the limit for one run ` +
    "(`sandbox.tool_calls`). Ask for several records with one call, or do the rest in another run."
  );
}

export function tooLargeResult(bound: number, bytes: number): string {
  return (
    `The result has ${bytes} bytes as JSON; at most ${bound} are returned (\`sandbox.result\`). ` +
    "Return less of it, or write it to a file."
  );
}

export function tooMuchMemory(bound: number): string {
  return `The code used more than ${bound} bytes of memory, which is the limit (\`sandbox.memory\`).`;
}

export function tooLongArguments(bound: number, bytes: number): string {
  return `The arguments of a tool call may have ${bound} bytes (\`sandbox.tool_bytes\`); these have ${bytes}.`;
}

export function tooLargeAnswer(bound: number, bytes: number): string {
  return (
    `The answer has ${bytes} bytes; at most ${bound} reach the code (\`sandbox.tool_bytes\`). ` +
    "Ask for less at a time."
  );
}

export function tooManyFiles(bound: number, files: number): string {
  return `There are ${files} files; at most ${bound} are taken (\`sandbox.files\`).`;
}

export function tooLargeFiles(bound: number, bytes: number): string {
  return `All files together may have ${bound} bytes (\`sandbox.file_bytes\`); these have ${bytes}.`;
}
