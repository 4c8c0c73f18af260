// Keeps one JavaScript or TypeScript file loaded and runs its function repeatedly. Uses the protocol of `warm.py`.
// Plain JavaScript, since a child runs it unchanged.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const { current } = require("../calling/node/toolyard/script/channel.cjs");
const { CONTEXT_NAME, createContext } = require("../calling/node/toolyard/script/context.cjs");
const { setArguments } = require("../calling/node/toolyard/script/index.cjs");

const [path, name] = process.argv.splice(2, 2);
// Sets the arguments as if the script were the started program.
process.argv[1] = path;
const channel = current();
let loaded;

for (const [stream, key] of [
  [process.stdout, "out"],
  [process.stderr, "err"],
]) {
  stream.write = (chunk, encoding, done) => {
    const bytes =
      typeof chunk === "string"
        ? Buffer.from(chunk, typeof encoding === "string" ? encoding : "utf8")
        : Buffer.from(chunk);
    channel.send({ [key]: bytes.toString("base64") });
    const callback = typeof encoding === "function" ? encoding : done;
    if (callback) process.nextTick(callback);
    return true;
  };
}

async function load() {
  const module = await import(pathToFileURL(path).href);
  const found = module[name] ?? module.default?.[name] ?? module.default;
  const signature = name === "run" ? "run(arguments)" : "execute(params)";
  if (typeof found !== "function")
    throw new TypeError(`The tool's file exports no function \`${signature}\`, which a warm interpreter calls.`);
  return found;
}

// The source text of the function is searched, because a second parameter with a default value does not count in
// `length`.
function takesContext(found) {
  if (found.length > 1) return true;
  const head = Function.prototype.toString.call(found).slice(0, 1000);
  return new RegExp(`\\b${CONTEXT_NAME}\\b\\s*[=,)]`).test(head);
}

async function call(args) {
  loaded ??= await load();
  setArguments(args);
  return name === "execute" && takesContext(loaded)
    ? loaded(
        args,
        createContext(() => channel),
      )
    : loaded(args);
}

// A call without a trace context must not continue the trace of the call before.
function setContext(variables = {}) {
  for (const name of ["TRACEPARENT", "TRACESTATE"]) {
    if (variables[name] === undefined) delete process.env[name];
    else process.env[name] = variables[name];
  }
}

channel.serve(async ({ run: number, arguments: args, variables }) => {
  setContext(variables);
  channel.send({ begin: number });
  let message;
  try {
    const result = await call(args);
    message = { end: number, ...(result === undefined || result === null ? {} : { result }) };
  } catch (error) {
    process.stderr.write(`${error?.stack ?? error}\n`);
    message = {
      end: number,
      error: { type: error?.name ?? "Error", message: error instanceof Error ? error.message : String(error) },
    };
  }
  try {
    channel.send(message);
  } catch (error) {
    channel.send({
      end: number,
      error: { type: error.name, message: `The result cannot be written as JSON: ${error.message}` },
    });
  }
  // The process exits if the file failed to load, so that the next call loads it again.
  if (!loaded) process.exit(0);
});
