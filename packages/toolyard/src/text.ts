export { decodeBytes } from "./core/text/decode-bytes.ts";
export { firstChars } from "./core/text/truncate.ts";
