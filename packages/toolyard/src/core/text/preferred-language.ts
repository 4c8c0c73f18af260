/** Maximum number of languages that are read from `Accept-Language`. */
const MAX_LANGUAGES = 10;

/** Returns the language that a browser prefers among `languages`, or `undefined` if it accepts none. */
export function preferredLanguage<const L extends string>(
  acceptLanguage: string | undefined,
  languages: readonly L[],
): L | undefined {
  const wanted = (acceptLanguage ?? "")
    .split(",", MAX_LANGUAGES)
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const quality = parameters.map((one) => /^\s*q=([0-9.]+)$/.exec(one)?.[1]).find((one) => one !== undefined);
      return { language: tag.split("-")[0], quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality);
  for (const { language } of wanted) {
    const found = languages.find((one) => one === language);
    if (found !== undefined) return found;
  }
  return undefined;
}
