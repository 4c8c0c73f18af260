import { ServiceFailure } from "../shared/failure.ts";
import { firstChars } from "toolyard/text";

const MAX_NAME_CHARS = 64;
const MAX_SHOWN = 5;

/**
 * Returns the IANA name for a zone name in any case, or for a city that only one zone is named after. Throws a
 * `ServiceFailure` if none matches.
 */
export function findTimeZone(asked: string): string {
  const name = asked.trim();
  if (name.length > MAX_NAME_CHARS)
    throw new ServiceFailure(
      `A time zone name has at most ${MAX_NAME_CHARS} characters, got ${name.length}.`,
      "invalid_params",
    );
  const wanted = fold(name);
  const zones = Intl.supportedValuesOf("timeZone");
  // `Intl` may resolve to an older name of the zone, so the caller's own name is kept if it is listed.
  const listed = zones.find((zone) => fold(zone) === wanted) ?? resolved(name);
  if (listed !== undefined) return listed;
  const cities = zones.filter((zone) => fold(zone.slice(zone.lastIndexOf("/") + 1)) === wanted);
  if (cities.length === 1) return cities[0]!;
  throw new ServiceFailure(
    `Unknown time zone ${JSON.stringify(name)}. ${hint(cities.length > 0 ? cities : near(wanted, zones))}`,
    "invalid_params",
  );
}

/** Returns the same text for `New York`, `new_york` and `New-York`. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]+/g, "_");
}

// Newer runtimes accept offsets as zones. They are refused here: a caller who gives an offset means a place, whose
// offset may change during the year.
function resolved(timeZone: string): string | undefined {
  if (!/^[a-z]/i.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Returns zones with a city that starts with the same letters, or else the zones of the same region. */
function near(wanted: string, zones: readonly string[]): readonly string[] {
  const [region, city = region] = [wanted.split("/")[0]!, wanted.split("/").at(-1)];
  const begins = firstChars(city, ALIKE_CHARS);
  if (begins.length < ALIKE_CHARS) return [];
  const alike = zones.filter((zone) => fold(zone.slice(zone.lastIndexOf("/") + 1)).startsWith(begins));
  return alike.length > 0 ? alike : zones.filter((zone) => wanted.includes("/") && fold(zone).startsWith(`${region}/`));
}

const ALIKE_CHARS = 4;

function hint(zones: readonly string[]): string {
  if (zones.length === 0) return "Give an IANA name such as Europe/Paris or America/New_York, or UTC.";
  return `Did you mean ${zones.slice(0, MAX_SHOWN).join(", ")}?`;
}
