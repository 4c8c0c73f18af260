/** Returns the steps of a JSON Pointer. */
function pointerSteps(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Converts a JSON Pointer into `value` to the notation that users write: `to[0].email`. */
export function localPath(pointer: string, value: unknown): string {
  let path = "";
  let at = value;
  for (const step of pointerSteps(pointer)) {
    if (Array.isArray(at)) path += `[${step}]`;
    else path += path === "" ? step : `.${step}`;
    at = memberOf(at, step);
  }
  return path;
}

/** Returns the part of `value` to which a JSON Pointer leads. */
export function placeIn(pointer: string, value: unknown): unknown {
  return pointerSteps(pointer).reduce(memberOf, value);
}

/** Returns whether `value` has a part to which a JSON Pointer leads. */
export function hasPlace(pointer: string, value: unknown): boolean {
  let at = value;
  for (const step of pointerSteps(pointer)) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return false;
    at = memberOf(at, step);
  }
  return true;
}

/** Removes the member to which a JSON Pointer leads, if it exists. */
export function removePlace(pointer: string, value: unknown): void {
  const steps = pointerSteps(pointer);
  const last = steps.pop();
  let at = value;
  for (const step of steps) at = memberOf(at, step);
  if (last !== undefined && typeof at === "object" && at !== null && !Array.isArray(at))
    delete (at as Record<string, unknown>)[last];
}

function memberOf(value: unknown, step: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string, unknown>)[step];
}
