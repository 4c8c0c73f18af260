/**
 * Quotes a word of a command line that a user is to run, if a shell would split or change it: for POSIX shells, or for
 * `cmd.exe` on Windows. PowerShell reads the same words, unless they contain a quote or `$`.
 */
export function shellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (platform !== "win32") return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  if (/^[\w@+:./\\-]+$/.test(word)) return word;
  // The backslashes before a quote are doubled, because programs read a backslash before a quote as an escape.
  return `"${word.replace(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}

/** Formats a reference to a variable inside double quotes, for POSIX shells or `cmd.exe`. */
export function shellVariable(name: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? `%${name}%` : `$${name}`;
}

/** Formats the command that sets a variable for later commands of the same shell. */
export function shellAssignment(name: string, value: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? `set ${name}=${value}` : `export ${name}=${value}`;
}
