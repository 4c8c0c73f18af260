import { colorsOf } from "./colors.ts";

/** Colours of states in tables. Text may follow the state, as in `down: it ended`. */
const STATES: Readonly<Record<"green" | "yellow" | "red" | "dim", RegExp>> = {
  green: /^(?:ready|yes|installed|running|connected|valid|next to the program)\b/i,
  yellow: /^(?:starting|connecting|installing|degraded|stopping|idle|expired|needs|no|other version)\b|^needs_/i,
  red: /^(?:down|failed|error|invalid|unusable|closed)\b/i,
  dim: /^(?:disabled|stopped|not installed)\b/i,
};

/** Colours a state: green if it works, yellow if it waits for something, red if it failed, dim if it is off. */
export function paintState(text: string, { color }: { readonly color: boolean }): string {
  if (!color || text === "") return text;
  const [paint] =
    (Object.entries(STATES) as [keyof typeof STATES, RegExp][]).find(([, state]) => state.test(text)) ?? [];
  return paint === undefined ? text : colorsOf({ color })[paint](text);
}
