import { OptionError } from "toolyard";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads an http or https URL. Throws an `OptionError` that names the variable. */
export function urlOf(environment: Environment, name: string, fallback: string): URL {
  const text = environment[name] || fallback;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "")
    return url;
  throw new OptionError(
    `${name} must be an http or https address without a user, such as ${fallback}, got ` +
      `${url ? `one with ${url.username ? "a user" : `the scheme ${url.protocol}`}` : JSON.stringify(text)}.`,
  );
}

/**
 * Reads a time and returns milliseconds: `1500`, `"500ms"`, `"10s"`, `"5m"`. Throws an `OptionError` that names the
 * variable.
 */
export function timeOf(environment: Environment, name: string, fallbackMs: number): number {
  const text = environment[name];
  if (!text) return fallbackMs;
  const [, number, unit = "ms"] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const ms = Number(number) * (UNITS_MS[unit] ?? 1);
  if (ms <= MAX_TIME_MS) return ms;
  throw new OptionError(`${name} must be a time up to 24h, such as 500ms, 10s or 5m, got ${JSON.stringify(text)}.`);
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MAX_TIME_MS = 24 * 3_600_000;

/** Reads a word that must be one of `choices`. Throws an `OptionError` that names the variable. */
export function choiceOf<const C extends readonly string[]>(
  environment: Environment,
  name: string,
  { choices, fallback }: { readonly choices: C; readonly fallback: C[number] },
): C[number] {
  const text = environment[name] || fallback;
  if (choices.includes(text)) return text;
  throw new OptionError(`${name} must be one of ${choices.join(", ")}, got ${JSON.stringify(text)}.`);
}
