const NPM_PREFIX = /^npm (?:ERR!|error)(?: (?:code|\d{3}))?(?: |$)\s*/;

/** A line of a program's log without what it writes in front of each: `npm error 404 Not Found` is `Not Found`. */
export function bareLine(line: string): string {
  return line.replace(NPM_PREFIX, "").trim();
}
