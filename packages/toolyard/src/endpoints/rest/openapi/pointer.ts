/** Returns a JSON pointer as a URI fragment, `#/a/b`, with each step escaped. */
export function stepTo(pointer: string, ...steps: readonly (string | number)[]): string {
  return [
    pointer,
    ...steps.map((step) =>
      encodeURIComponent(String(step).replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("%24", "$"),
    ),
  ].join("/");
}

/** Returns the canonical spelling of a fragment, for any escaping. */
export function plainPointer(fragment: string): string {
  const steps = fragment
    .split("/")
    .slice(1)
    .map((step) => unescapeStep(step));
  return stepTo("#", ...steps);
}

/** Returns the steps of a pointer as names. */
export function stepsOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => unescapeStep(step));
}

function unescapeStep(step: string): string {
  return decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
