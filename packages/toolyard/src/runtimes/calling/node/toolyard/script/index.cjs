// The module `toolyard/script`: the script's arguments, its result, and the hub's other tools. Plain CommonJS, so that
// every kind of script can load it, on every Node, without a build.
"use strict";
const { readFileSync } = require("node:fs");
const { current, ToolError } = require("./channel.cjs");
const { parse } = require("./exact-json.cjs");
const { createHub } = require("./hub.cjs");
const { mediaResult } = require("./media.cjs");

const hub = createHub(() => current());
let given;

/** Returns all arguments, checked and with defaults. Reads standard input, once. */
function getArguments() {
  if (given === undefined) {
    const text = readFileSync(0, "utf8");
    given = text.trim() === "" ? {} : parse(text);
  }
  return given;
}

/** Returns one argument. */
function get(name, otherwise) {
  const value = getArguments()[name];
  return value === undefined ? otherwise : value;
}

/** Sets the arguments of the next call, for a persistent interpreter. */
function setArguments(args) {
  given = args;
}

module.exports = {
  ...hub,
  setArguments,
  ToolError,
  get,
  getArguments,
  /**
   * Sets a text as the tool's result. Printed output then becomes log messages. If several results are set, the last
   * one is used.
   */
  returnString: (text) => current().send({ result: String(text) }),
  /** Sets a JSON value as the tool's result; an object is structured content. */
  returnObject: (value) => current().send({ result: value ?? null }),
  /** Sets an image, a sound or a file as the tool's result: bytes, or the path of a file. */
  returnImage: (image, options) => current().send({ result: mediaResult("image", image, options) }),
  returnAudio: (sound, options) => current().send({ result: mediaResult("audio", sound, options) }),
  returnFile: (file, options) => current().send({ result: mediaResult("file", file, options) }),
  /** Fails the call with this message. */
  returnError: (message) => current().send({ error: { message: String(message) } }),
  executeTool: hub.callTool,
  toolSearch: (query = "", limit = 5) => hub.searchTools(query, { limit }),
  executeCode: (code, options = {}) => hub.callTool("execute_code", { language: "javascript", ...options, code }),
};
