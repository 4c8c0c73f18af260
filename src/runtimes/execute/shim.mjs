// Runs `execute(params[, lollms_client_instance])` of one JavaScript or TypeScript tool file, once. Speaks as `shim.py` does: parameters
// as JSON on stdin, JSON lines on descriptor 3; stdout and stderr belong to the tool. Plain JavaScript, since a child runs it as it is.
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const CONTEXT_NAME = "lollms_client_instance";

function send(message) {
  let data = Buffer.from(`${JSON.stringify(message)}\n`);
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(3, data));
    } catch (error) {
      // The pipe does not block; the hub empties it in a moment.
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function createLogger() {
  const at = (level) => (...words) => send({ log: words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" "), level });
  return { debug: at("debug"), info: at("info"), warn: at("warning"), warning: at("warning"), error: at("error") };
}

/** What a tool gets as `lollms_client_instance`. Services that this hub does not offer fail when they are used, not before. */
function createContext() {
  const offered = { logger: createLogger(), progress: (progress, total, message) => send({ progress, total, message }) };
  return new Proxy(offered, {
    get(target, name) {
      // `then` is asked for by `await`, symbols by whoever prints the object.
      if (typeof name === "symbol" || name in target || name === "then" || name === "toJSON") return target[name];
      throw new TypeError(`${CONTEXT_NAME}.${name} is not available here. It offers \`logger\` and \`progress(progress, total, message)\`.`);
    },
  });
}

async function run(path) {
  const params = JSON.parse(readFileSync(0, "utf8"));
  const module = await import(pathToFileURL(path).href);
  const execute = module.execute ?? module.default?.execute ?? module.default;
  if (typeof execute !== "function") throw new TypeError("The tool's file exports no function `execute(params)`.");
  return takesContext(execute) ? execute(params, createContext()) : execute(params);
}

// A second parameter with a default value does not count in `length`.
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
  message = { error: { type: error?.name ?? "Error", message: error instanceof Error ? error.message : String(error) } };
}
try {
  send(message);
} catch (error) {
  send({ error: { type: error.name, message: `The result cannot be written as JSON: ${error.message}` } });
}
// What the tool left running must not keep an answered call waiting; what it printed must still arrive.
const end = () => process.exit(0);
process.stdout.write("", () => process.stderr.write("", end));
