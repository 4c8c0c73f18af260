// Runs `execute(params[, lollms_client_instance])` of one JavaScript or TypeScript tool file, once. Uses the protocol
// of `shim.py`: parameters as JSON on stdin, JSON lines to the hub; stdout and stderr belong to the tool. Plain
// JavaScript, since a child runs it unchanged.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const { current } = require("../calling/node/toolyard/script/channel.cjs");
const { CONTEXT_NAME, createContext } = require("../calling/node/toolyard/script/context.cjs");
const { parse } = require("../calling/node/toolyard/script/exact-json.cjs");
const channel = current();

async function run(path) {
  const params = parse(readFileSync(0, "utf8"));
  const module = await import(pathToFileURL(path).href);
  const execute = module.execute ?? module.default?.execute ?? module.default;
  if (typeof execute !== "function") throw new TypeError("The tool's file exports no function `execute(params)`.");
  return takesContext(execute)
    ? execute(
        params,
        createContext(() => channel),
      )
    : execute(params);
}

// The source text of the function is searched, because a second parameter with a default value does not count in
// `length`.
function takesContext(execute) {
  if (execute.length > 1) return true;
  const head = Function.prototype.toString.call(execute).slice(0, 1000);
  return new RegExp(`\\b${CONTEXT_NAME}\\b\\s*[=,)]`).test(head);
}

let message;
try {
  message = { result: (await run(process.argv[2])) ?? null };
} catch (error) {
  process.stderr.write(`${error?.stack ?? error}\n`);
  message = {
    error: { type: error?.name ?? "Error", message: error instanceof Error ? error.message : String(error) },
  };
}
try {
  channel.send(message);
} catch (error) {
  channel.send({ error: { type: error.name, message: `The result cannot be written as JSON: ${error.message}` } });
}
// The process exits now, because work that the tool left running must not delay the answer. Earlier output is flushed
// first.
const end = () => process.exit(0);
process.stdout.write("", () => process.stderr.write("", end));
