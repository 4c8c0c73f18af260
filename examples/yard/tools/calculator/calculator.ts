import { readFileSync } from "node:fs";

// A script tool reads its arguments as JSON on standard input and writes its result to standard output.
const { operation, a, b } = JSON.parse(readFileSync(0, "utf8")) as { operation: string; a: number; b: number };

const OPERATIONS: Record<string, (a: number, b: number) => number> = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
};

if (operation === "divide" && b === 0) {
  // A failure is a non-zero exit code; the message is the text on standard error.
  console.error("Cannot divide by zero.");
  process.exit(1);
}
console.log(JSON.stringify({ result: OPERATIONS[operation]!(a, b) }));
