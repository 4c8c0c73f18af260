// Installs one extra in its own process: `main.js NAME`. Writes a line per step to standard error.
import { messageOf } from "../../core/errors.ts";
import { childEnvironment } from "../../process/environment.ts";
import { parseExtra } from "../extras.ts";
import { installExtra } from "./install-extra.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

try {
  const [name = ""] = process.argv.slice(2);
  // The parent process passed only variables that npm may receive, so all of them are used.
  const own = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]));
  await installExtra(parseExtra(name), { variables: process.env, env: childEnvironment({ own }), say });
} catch (error) {
  say(`error ${messageOf(error)}`);
  process.exitCode = 1;
}
