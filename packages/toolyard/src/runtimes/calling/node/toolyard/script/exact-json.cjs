// JSON with exact integers for programs that a hub starts: an integer literal beyond 2^53 becomes a `bigint`. Copy of
// the hub's `core/json/exact-json.ts` that runs without a build on every Node that may run a script. One test suite
// covers both.
"use strict";
const { randomBytes } = require("node:crypto");

const MAX_DIGITS = 4300;
/** Prefix of strings that represent integers in `JSON.parse` and `JSON.stringify`. */
const MARK = `integer:${randomBytes(16).toString("hex")}:`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let root;
  try {
    root = JSON.parse(marked(text), toInteger);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return JSON.parse(text);
  }
  return root;
}

function toInteger(_key, value) {
  return typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value;
}

/** Marks long integers outside of strings. A number as a key is unchanged, so that it stays a syntax error. */
function marked(text) {
  let result = "";
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (!/[-\d]/.test(text[at])) continue;
    NUMBER.lastIndex = at;
    const [token] = NUMBER.exec(text);
    const end = at + token.length;
    if (isLong(token) && !isKey(text, end)) {
      result += `${text.slice(copied, at)}"${MARK}${token}"`;
      copied = end;
    }
    at = end - 1;
  }
  return result + text.slice(copied);
}

function isKey(text, end) {
  COLON.lastIndex = end;
  return COLON.test(text);
}

const COLON = /\s*:/y;
const NUMBER = /[-\d][-+.\deE]*/y;

function isLong(token) {
  if (!/^-?[1-9]\d{15,}$/.test(token) || Number.isSafeInteger(Number(token))) return false;
  if (token.length - (token[0] === "-" ? 1 : 0) <= MAX_DIGITS) return true;
  throw new RangeError(`An integer has more than ${MAX_DIGITS} digits; send it as a string`);
}

function endOfString(text, start) {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

function stringify(value) {
  if (!("toJSON" in BigInt.prototype)) {
    try {
      return JSON.stringify(value);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  const mark = function (key, given) {
    return typeof this[key] === "bigint" ? `${MARK}${this[key]}` : given;
  };
  const json = JSON.stringify(value, mark);
  return json === undefined ? json : json.replace(MARKED, "$1");
}

module.exports = { parse, stringify };
