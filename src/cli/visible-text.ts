/**
 * Text that leaves a terminal alone: without control characters, line breaks and tabs excepted, and without the marks
 * that turn the direction of writing. What tools and servers say may hold them, and would repaint the screen or forge
 * what stands there.
 */
export function visibleText(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]|(?![\n\t])\p{Cc}/gu, "");
}
