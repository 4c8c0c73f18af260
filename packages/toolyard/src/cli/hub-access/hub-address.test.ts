import { expect, test } from "vitest";
import { processIo } from "../output/io.ts";
import { hubAddress } from "./hub-address.ts";

const io = processIo(new AbortController().signal);

test.each([
  ["http://h:1", "http://h:1"],
  ["http://h:1/", "http://h:1"],
  ["http://h:1/mcp", "http://h:1"],
  ["http://h:1/sse/?tool_mode=all", "http://h:1"],
  ["https://h/base", "https://h/base"],
  ["https://h/base/mcp/", "https://h/base"],
  ["https://h/base/mcp/checks", "https://h/base/mcp/checks"],
])("accepts the address %s, and reads it as %s", async (url, base) => {
  expect(await hubAddress({ url }, io)).toMatchObject({ base, rest: `${base}/api` });
});

test.each(["h:1", "ftp://h/mcp", ""])("refuses the address %j", async (url) => {
  await expect(hubAddress({ url }, io)).rejects.toThrow("--url must be an http or https address");
});
