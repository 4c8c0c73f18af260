import { stringifyExact } from "../json/exact-json.ts";
import { OptionError } from "../errors.ts";
import { Type } from "../options/option-schema.ts";
import { amountOption, type AmountBounds, type AmountNotes, type AmountOption } from "../options/option-values.ts";

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};
const PATTERN = "^\\s*\\d+(\\.\\d+)?(\\s*([kKmMgG][iI]?[bB]|[bB]))?\\s*$";
const SIZE = /^\s*(\d{1,15}(?:\.\d{1,6})?)(?:\s*([kmg]i?b|b))?\s*$/i;

/**
 * Converts `4194304`, `"4MiB"`, `"10 MB"` or `"512 kB"` to bytes; `kB` is 1,000, `KiB` is 1,024. Throws an
 * `OptionError`.
 */
export function parseBytes(value: number | string, name = "size"): number {
  const match = typeof value === "string" ? SIZE.exec(value) : undefined;
  const bytes = match ? Number(match[1]) * UNIT_BYTES[(match[2] ?? "b").toLowerCase()]! : value;
  if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) return Math.floor(bytes);
  throw new OptionError(
    `\`${name}\` must be a number of bytes or a size such as "4MiB" or "10MB", got ${stringifyExact(value)}.`,
  );
}

/** Returns the schema of an option that `parseBytes` reads, with further limits. */
export function bytesOption<const N extends AmountNotes = {}>(notes?: N, bounds?: AmountBounds): AmountOption<N> {
  const written = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: PATTERN })], {
    examples: ["4MiB", "10MB"],
    ...notes,
  });
  return amountOption<N>(written, parseBytes, bounds);
}

/** Formats bytes for users: `512 B`, `4.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  if (bytes < 1e6) return `${round(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${round(bytes / 1e6)} MB` : `${round(bytes / 1e9)} GB`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
