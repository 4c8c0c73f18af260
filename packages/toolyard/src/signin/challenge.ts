import { firstChars } from "../core/text/truncate.ts";
/** The sign-in data of a 401 or 403 (RFC 9728, 5.1; RFC 6750, 3). */
export interface Challenge {
  readonly status: number;
  /** Address of the protected-resource metadata. */
  readonly metadata?: string;
  /** Scopes, separated by spaces. */
  readonly scope?: string;
  readonly error?: string;
}

const MAX_HEADER_CHARS = 8192;
/** Characters of a scope by RFC 6749, with single spaces between several. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * Reads the first challenge of a scheme that OAuth uses. The header may also hold challenges of other schemes, such as
 * `Basic`.
 */
export function readChallenge(status: number, header: string | undefined): Challenge {
  const all = parseChallenges(firstChars(header ?? "", MAX_HEADER_CHARS));
  const { parameters } = all.find(({ scheme }) => scheme === "bearer" || scheme === "dpop") ?? NONE;
  const metadata = parameters.get("resource_metadata");
  const scope = parameters.get("scope");
  const error = parameters.get("error");
  return {
    status,
    ...(metadata !== undefined && URL.canParse(metadata) && { metadata }),
    ...(scope !== undefined && SCOPE.test(scope) && { scope }),
    ...(error !== undefined && /^\w{1,64}$/.test(error) && { error }),
  };
}

interface OneChallenge {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

const NONE: OneChallenge = { scheme: "", parameters: new Map() };

/** A parameter, quoted or not; or a word that starts a challenge (RFC 9110, 11.6.1). */
// oxlint-disable-next-line toolyard/slow-pattern -- At most MAX_HEADER_CHARS.
const PIECE = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))|([\w!#$%&'*+.^`|~-]+)/g;

function parseChallenges(header: string): OneChallenge[] {
  const found: OneChallenge[] = [];
  for (const [, name, quoted, plain, scheme] of header.matchAll(PIECE)) {
    if (scheme !== undefined) found.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else {
      const parameters = found.at(-1)?.parameters;
      // The first parameter of a name is used: an intermediary could have appended a later one with the same name.
      const key = name!.toLowerCase();
      if (parameters && !parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "");
    }
  }
  return found;
}
