import { fail, type Fail } from "../../../core/calls/outcome.ts";
import { shellWord } from "../../../core/text/shell-word.ts";
import { bareLine } from "../../../core/text/program-line.ts";
import type { InstallResult } from "./install-files.ts";
import type { CommandWords } from "./runner.ts";
import { firstChars } from "../../../core/text/truncate.ts";

const MAX_LINES = 4;
const MAX_CHARS = 600;

/** Patterns in messages of programs, with advice for each. */
const ADVICE: readonly (readonly [says: RegExp, advice: string])[] = [
  [
    /E404|not found in the (?:package )?registry|No matching distribution|manifest unknown|repository does not exist|pull access denied/i,
    "There is no such package, or it is private: correct its name in the configuration.",
  ],
  [
    /EINTEGRITY/i,
    "The registry sent another file than the one that is pinned, and nothing of it was kept: check which registry is " +
      "set (`npm config get registry`) and try again.",
  ],
  [/ENOSPC|No space left/i, "The disk of its cache is full: make room there."],
  [/EACCES|EPERM|Permission denied/i, "This user may not write its cache: correct the rights of that folder."],
  [/E401|E403|ENEEDAUTH|authentication required/i, "The registry requires a login: log in with the program itself."],
  [
    /self[- ]signed|unable to (?:get|verify)[\w ]*(?:issuer|certificate)|UNABLE_TO_(?:GET|VERIFY)|CERT_[A-Z]|\w_CERT\b|certificate (?:verify failed|has expired|is not trusted|required)|invalid peer certificate|UnknownIssuer|ALTNAME_INVALID/i,
    "The certificate of the registry, or of a proxy in between, is not trusted. Name the PEM file of its CA: " +
      "`NODE_EXTRA_CA_CERTS` for npm, `SSL_CERT_FILE` for uv and pip. Set it where the hub runs.",
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|timed? ?out|dns error|error sending request|connection refused|Temporary failure|network|lookup/i,
    "The registry cannot be reached: check the network and the proxy (`HTTPS_PROXY`).",
  ],
];

export interface InstallDownload {
  /** Name of the package. */
  readonly what: string;
  readonly maxMs: number;
}

/** Returns the failure of a download. */
export function installFailure(result: InstallResult, words: CommandWords, { what, maxMs }: InstallDownload): Fail {
  const lines = telling(result.lines);
  const said =
    lines.length === 0 ? "" : ` Its output: ${firstChars(lines.join(" "), MAX_CHARS).replace(/(?<!\.)\.+$/, "")}.`;
  return fail(
    "unavailable",
    `\`${what}\` could not be downloaded${how(result, maxMs)}.${said} ${adviceFor(result, words)}`,
    {
      retryable: false,
      details: { install: true },
    },
  );
}

function how({ reason = "" }: InstallResult, maxMs: number): string {
  if (reason === "timeout") return ` within ${maxMs / 1000} s (\`install_timeout\`) and was ended`;
  if (reason === "ended") return ": it was ended";
  return reason.startsWith("exit ") ? ` (${reason.replace("exit ", "exit code ")})` : "";
}

function adviceFor({ reason, lines }: InstallResult, { command, args }: CommandWords): string {
  if (reason === "ended") return "It is tried again with the next start.";
  const text = lines.join("\n");
  const [, advice] = ADVICE.find(([says]) => says.test(text)) ?? [];
  return advice ?? `Run it by hand to see more: ${[command, ...args].map((word) => shellWord(word)).join(" ")}`;
}

/** Matches lines that npm adds to a 404 and that do not help the user. */
const ASIDE = /^(?:Note that you can also install from|tarball, folder, http url)/;

/** Returns the lines that contain the error, or the last lines if none does. */
function telling(lines: readonly string[]): readonly string[] {
  const errors = lines.filter((line) => /error|ERR!|cause:|denied|not found/i.test(line) && !/complete log/.test(line));
  const told = (errors.length > 0 ? errors : lines).map(bareLine).filter((line) => line !== "" && !ASIDE.test(line));
  return errors.length > 0 ? told.slice(0, MAX_LINES) : told.slice(-MAX_LINES);
}
