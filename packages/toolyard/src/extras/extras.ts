import { OptionError } from "../core/errors.ts";
import { nearest } from "../core/text/suggest.ts";
import { PARTS, type ExtraName, type ExtraPart } from "./parts.ts";
import { PINS, type ExtraPin } from "./pins.ts";

export type { ExtraName } from "./parts.ts";

export interface Extra extends ExtraPart, ExtraPin {
  readonly name: ExtraName;
  /** Version of the first package, and digest of the lock file. It is the folder name of an installed extra. */
  readonly version: string;
}

/** All extras, in listing order. */
export const EXTRAS: readonly Extra[] = (Object.keys(PARTS) as ExtraName[]).map((name) => {
  const [part, pin]: [ExtraPart, ExtraPin] = [PARTS[name], PINS[name]!];
  return Object.freeze({ name, ...part, ...pin, version: `${pin.versions[part.packages[0]!]}-${pin.lock}` });
});

export function getExtra(name: ExtraName): Extra {
  return EXTRAS.find((extra) => extra.name === name)!;
}

/** Returns the extra with this name. Throws an `OptionError` for an unknown name. */
export function parseExtra(name: string): Extra {
  const found = EXTRAS.find((extra) => extra.name === name);
  if (found) return found;
  const names = EXTRAS.map((extra) => extra.name);
  const [near] = nearest(name, names);
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  throw new OptionError(`Unknown extra ${JSON.stringify(name)}.${hint} The extras are: ${names.join(", ")}.`);
}
