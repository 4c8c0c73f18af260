const NPM_PREFIX = /^npm (?:ERR!|error)(?: (?:code|\d{3}))?(?: |$)\s*/;

/** Returns a program's log line without its prefix: `npm error 404 Not Found` gives `Not Found`. */
export function bareLine(line: string): string {
  return line.replace(NPM_PREFIX, "").trim();
}
